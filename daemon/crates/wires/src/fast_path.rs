//! Reads the usual event of a stream, the one with a piece of text, straight into its fields. A tree of the whole event, most of
//! which nobody looks at, takes several times as long. Whatever is not usual is left to those who read such trees.

use serde::{Deserialize, Deserializer, de::Error as _};

/// A field that a usual event does not have, or has as `null`: always as `Option<Unusual>`.
pub(crate) enum Unusual {}

impl<'de> Deserialize<'de> for Unusual {
    fn deserialize<D: Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        Err(D::Error::custom("unusual"))
    }
}

/// `data` as a usual event; `None` if it is none, valid or not.
pub(crate) fn read<'a, T: Deserialize<'a>>(data: &'a str) -> Option<T> {
    serde_json::from_str(data).ok()
}
