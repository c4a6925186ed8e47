//! Reduces loops, conditions, groups, variables and substitutions to the plain commands that a line runs, each command once for
//! every word that a loop names. The rest of the policy judges these. A value that the line computes only when it runs is represented
//! by a sample and a mark.
//!
//! Such a line runs unasked only in a separate shell that can write nothing. A line that is read otherwise than the shell reads it can
//! therefore show something it should not, and do no more.

mod assignments;
mod expansions;
mod fish;
mod out;
mod reader;
mod statements;
mod values;
mod words;

use std::ops::Range;

use cohab_shell_state::shell::Shell;
pub(super) use fish::in_bash;
pub(super) use out::Piece;
use reader::{Changing, Reader};

/// A longer line of this kind is not followed. It bounds how deep the parsers of the line may have to go.
const MAX_BYTES: usize = 4096;
/// Such a line comes to at most so many bytes of plain commands.
const MAX_TEXT_BYTES: usize = 8 * 1024;

/// A line as plain commands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Structure {
    /// The plain commands, one behind the other.
    pub text: String,
    /// Where `text` has a sample.
    pub computed: Vec<Computed>,
    /// Variables of the environment that it uses.
    pub environment: Vec<String>,
    /// The start of the rest of the line, behind the command at its front that changes the folder, in bytes.
    pub behind_cd: usize,
}

/// A part of a word that is known only when the line runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Computed {
    /// The sample's bytes in the text.
    pub place: Range<usize>,
    pub kind: Kind,
}

/// What a computed value can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A number in digits, or nothing.
    Number,
    /// What its text says, but for blanks in names of files that match.
    Known,
    /// Anything.
    Any,
}

/// The plain commands of `line`, which has more than these, as `shell` reads it.
///
/// # Errors
/// What in it is not known to be read for sure, where there is more to say than that it is no plain line.
pub(super) fn read(shell: Shell, line: &str) -> Result<Structure, Option<&'static str>> {
    if line.len() > MAX_BYTES {
        return Err(Some("too long to be checked in full"));
    }
    // What is joined by a line break would be taken apart.
    if shell == Shell::Other || line.contains("\\\n") || line.ends_with('\\') {
        return Err(None);
    }
    // The first pass finds the variables that are given a value more than once.
    let changing = Reader::new(shell, line, Changing::new()).read()?.changing();
    Reader::new(shell, line, changing).read()?.finish()
}

#[cfg(test)]
mod tests;
