//! Reads the most frequent event of a stream, the one with a piece of text, directly into its fields. Parsing the whole event into a tree
//! takes several times as long, and most of that tree is not needed. All other events are left to the readers of such trees.

use serde::{Deserialize, Deserializer, de::Error as _};

/// A field that such an event does not have, or has as `null`: always as `Option<Unusual>`.
pub(crate) enum Unusual {}

impl<'de> Deserialize<'de> for Unusual {
    fn deserialize<D: Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        Err(D::Error::custom("unusual"))
    }
}

/// Reads `data` as such an event; `None` for any other, valid or not.
pub(crate) fn read<'a, T: Deserialize<'a>>(data: &'a str) -> Option<T> {
    serde_json::from_str(data).ok()
}
