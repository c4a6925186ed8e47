//! The text of plain commands, as it is put together.

use std::ops::Range;

use super::{MAX_TEXT_BYTES, reader::Read, values::Mark};

/// What a piece of the text stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::policy) struct Piece {
    pub in_text: Range<usize>,
    pub in_line: Range<usize>,
    /// The same bytes; otherwise one stands for the other as a whole.
    pub is_copy: bool,
}

/// Commands, one behind the other.
#[derive(Clone, Debug, Default)]
pub(super) struct Out {
    pub text: String,
    pub pieces: Vec<Piece>,
    pub marks: Vec<(Range<usize>, Mark)>,
    /// The words of each command, and whether a pipe leads to it.
    pub commands: Vec<(bool, Vec<String>)>,
}

impl Out {
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

    /// Text that stands for nothing in the line.
    pub(super) fn made(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Text in the place of `in_line`; what it says is known only when the line runs if there is a `mark`.
    pub(super) fn put(&mut self, text: &str, in_line: Range<usize>, mark: Option<Mark>) {
        let start = self.text.len();
        self.text.push_str(text);
        let in_text = start..self.text.len();
        self.marks.extend(mark.map(|mark| (in_text.clone(), mark)));
        self.pieces.push(Piece { in_text, in_line, is_copy: false });
    }

    /// A part of the line as it is.
    pub(super) fn copy(&mut self, line: &str, range: Range<usize>) {
        let start = self.text.len();
        self.text.push_str(&line[range.clone()]);
        self.pieces.push(Piece { in_text: start..self.text.len(), in_line: range, is_copy: true });
    }

    /// Puts the commands of `other` behind these, and tells where.
    pub(super) fn append(&mut self, other: &Self) -> Read<Range<usize>> {
        self.begin(false)?;
        let start = self.text.len();
        let moved = |range: &Range<usize>| range.start + start..range.end + start;
        self.text.push_str(&other.text);
        self.pieces.extend(other.pieces.iter().map(|piece| Piece { in_text: moved(&piece.in_text), ..piece.clone() }));
        self.marks.extend(other.marks.iter().map(|(range, mark)| (moved(range), mark.clone().moved(start))));
        Ok(start..self.text.len())
    }
}
