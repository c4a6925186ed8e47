//! Builds the text of plain commands.

use std::ops::Range;

use super::{commands::Read, values::Source};

/// Longest plain text of such a line, in bytes.
pub(super) const MAX_TEXT_BYTES: usize = 8 * 1024;

/// The source of a piece of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub in_text: Range<usize>,
    pub in_line: Range<usize>,
    /// The bytes are the same; otherwise one text stands for the other as a whole.
    pub is_copy: bool,
}

/// Commands, one behind the other.
#[derive(Clone, Debug, Default)]
pub(super) struct Out {
    pub text: String,
    pub marks: Vec<(Range<usize>, Source)>,
    /// The words of each command, and whether a pipe leads to it.
    pub commands: Vec<(bool, Vec<String>)>,
}

impl Out {
    /// A command that shows a file whose name is known only when the line runs.
    pub(super) fn reading(name: &str) -> Self {
        let mut out = Self { commands: vec![(false, vec!["cat".to_owned(), name.to_owned()])], ..Self::default() };
        out.made("cat ");
        out.put(name, Some(Source::Any));
        out
    }

    /// Begins a command behind all others.
    pub(super) fn begin(&mut self, is_piped: bool) -> Read<()> {
        self.commands.push((is_piped, Vec::new()));
        if self.text.len() > MAX_TEXT_BYTES {
            return Err(Some("runs too many commands to be checked"));
        }
        if !self.text.is_empty() {
            self.text.push_str(if is_piped { " | " } else { "; " });
        }
        Ok(())
    }

    /// A word of the command that was begun last.
    pub(super) fn word(&mut self, text: &str) {
        if let Some((_, words)) = self.commands.last_mut() {
            words.push(text.to_owned());
        }
    }

    /// Text that is no word.
    pub(super) fn made(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Appends a text; with a `mark` its value is known only when the line runs.
    pub(super) fn put(&mut self, text: &str, mark: Option<Source>) {
        let start = self.text.len();
        self.text.push_str(text);
        self.marks.extend(mark.map(|mark| (start..self.text.len(), mark)));
    }

    /// Puts the commands of `other` behind these.
    pub(super) fn append(&mut self, other: &Self) -> Read<()> {
        self.begin(false)?;
        let start = self.text.len();
        let moved = |range: &Range<usize>| range.start + start..range.end + start;
        self.text.push_str(&other.text);
        self.marks.extend(other.marks.iter().map(|(range, mark)| (moved(range), *mark)));
        Ok(())
    }
}
