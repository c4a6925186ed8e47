//! Loops, conditions, groups, variables and substitutions, as the plain commands that they come to: what a line runs, each command once for
//! every word that a loop names. The rest of the policy judges these. What the line computes only when it runs has a sample in its
//! place, and a mark.

mod expansions;
mod fish;
mod out;
mod reader;
mod statements;
mod values;
mod words;

use std::{collections::BTreeSet, ops::Range};

use crate::shell::Shell;
pub(super) use fish::in_bash;
use out::Out;
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
    /// What stands in `text` for what in the line.
    pub pieces: Vec<Piece>,
    /// Where `text` has a sample.
    pub computed: Vec<Computed>,
    /// Variables that it gives values.
    pub assigned: Vec<String>,
    /// The line without what only zsh has in its words, where there is such.
    pub in_bash: Option<String>,
    /// All words of the line, as they are written.
    pub words: Vec<String>,
    /// What the parsers must find in the line.
    pub units: Vec<Unit>,
}

/// A part of a word that is known only when the line runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Computed {
    /// The sample's bytes in the text.
    pub place: Range<usize>,
    pub kind: Kind,
    /// The shell may make several words of it, or none.
    pub is_split: bool,
    /// The word is nothing else.
    pub is_whole: bool,
}

/// What a computed value can be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A number in digits.
    Number,
    /// The same, or nothing.
    Count,
    /// What its text says, but for blanks in names of files that match.
    Known,
    /// A line, or all, of what these commands of the text print.
    Printed(Range<usize>),
    /// Anything.
    Any,
}

/// A text that the shell reads as a list of commands: the line, or what stands in a substitution.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Unit {
    pub range: Range<usize>,
    /// Where the names of its commands begin, substitutions left out. Counted in bytes of the line.
    pub names: BTreeSet<usize>,
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
    // The first time tells which variables are given a value more than once.
    let survey = Reader { is_survey: true, ..Reader::new(shell, line, Changing::new()) };
    let changing = survey.read()?.changing();
    let mut reader = Reader::new(shell, line, changing).read()?;
    if shell != Shell::Fish && has_history(line) {
        return Err(Some("uses `!` outside single quotes"));
    }
    let units = reader.units();
    let in_bash = reader.in_bash();
    let words = reader.words.iter().map(|word| (*word).to_owned()).collect();
    let (out, computed, assigned) = reader.finish()?;
    let Out { text, pieces, .. } = out;
    Ok(Structure { text, pieces, computed, assigned, in_bash, words, units })
}

/// Whether a shell may put an earlier line in the place of a `!`.
fn has_history(line: &str) -> bool {
    let mut quote = None;
    line.char_indices().any(|(at, c)| {
        match (quote, c) {
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            _ => {}
        }
        let (before, behind) = (line[..at].chars().next_back(), &line[at + c.len_utf8()..]);
        let behind = behind.strip_prefix('=').unwrap_or(behind).chars().next();
        let is_lone = quote.is_none() && [before, behind].iter().all(|c| c.is_none_or(char::is_whitespace));
        c == '!' && quote != Some('\'') && !is_lone
    })
}

#[cfg(test)]
mod tests;
