//! The plain commands to which a line is reduced.

use std::ops::Range;

/// A part of a line as plain commands. An error names a part that is not known to be read for sure, if that says more than that the line
/// is not plain.
pub(super) type Read<T> = Result<T, Option<&'static str>>;

/// A line as plain commands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Structure {
    /// The plain commands, one behind the other.
    pub text: String,
    /// The places of samples in `text`.
    pub computed: Vec<Computed>,
    /// Variables of the environment that the line uses.
    pub environment: Vec<String>,
    /// The start of the rest of the line, behind the command at its front that changes the folder, in bytes.
    pub behind_cd: usize,
}

/// A part of a word that is known only when the line runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Computed {
    /// The sample's bytes in the text.
    pub place: Range<usize>,
    /// The kind of its value.
    pub kind: ComputedKind,
}

/// The kind of a computed value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComputedKind {
    /// A number in digits, or nothing.
    Number,
    /// The value is known from its text, except for blanks in names of matching files.
    Known,
    /// Anything.
    Any,
}
