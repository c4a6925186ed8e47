//! Reduces loops, conditions, groups, variables and substitutions to the plain commands that a line runs, each command once for
//! every word that a loop names. A value that the line computes only when it runs is represented
//! by a sample and a mark.
//!
//! Such a line runs unasked only in a separate shell that can write nothing. A line that is read otherwise than the shell reads it can
//! therefore show something it should not, and do no more.

mod assignments;
mod braces;
mod commands;
mod expansions;
mod fish;
mod out;
mod reader;
mod settings;
mod statements;
mod values;
mod words;

use cohab_shell_state::shell::Shell;
pub use commands::{Computed, ComputedKind, Structure};
pub(super) use fish::in_bash;
pub(super) use out::Piece;
use reader::{Changing, Reader};

use super::vocabulary::Vocabulary;

/// Longest line of this kind that is followed, in bytes. It bounds the depth to which the parsers of the line may have to go.
const MAX_BYTES: usize = 4096;

/// Reduces `line`, which has more than plain commands, to plain commands, as `shell` reads it.
///
/// # Errors
/// The part of the line that is not known to be read for sure, if that says more than that the line is not plain.
pub(super) fn read(shell: Shell, line: &str, vocabulary: &dyn Vocabulary) -> Result<Structure, Option<&'static str>> {
    if line.len() > MAX_BYTES {
        return Err(Some("too long to be checked in full"));
    }
    // Text that is joined by a line break would be split.
    if shell == Shell::Other || line.contains("\\\n") || line.ends_with('\\') {
        return Err(None);
    }
    // The first pass finds the variables that are given a value more than once.
    let changing = Reader::new(shell, line, vocabulary, Changing::new()).read()?.changing();
    Reader::new(shell, line, vocabulary, changing).read()?.finish()
}

#[cfg(test)]
mod tests;
