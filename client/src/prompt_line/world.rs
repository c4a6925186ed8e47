//! The user's world as far as the classifier's thread needs it.

use std::{ffi::OsString, path::PathBuf};

/// What the thread needs to know of the user's world.
#[derive(Clone, Debug)]
pub struct World {
    /// The `PATH` in which words are looked for that the shell did not speak of.
    pub path: OsString,
    /// The user's home.
    pub home: PathBuf,
    /// Where corrections are kept.
    pub corrections: PathBuf,
    /// Where the shell says what it has named.
    pub names: Option<PathBuf>,
    /// The subcommands of `cohab`.
    pub subcommands: &'static [&'static str],
}
