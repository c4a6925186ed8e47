//! Splits a line of zsh or fish into words with their places. Parentheses behind a word belong to it.

use std::ops::Range;

/// A word as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RawSpan {
    pub range: Range<usize>,
    /// The word is the first of a command, or of the redirection that begins one.
    pub begins_command: bool,
    /// A redirection leads to it or comes from it.
    pub is_target: bool,
}

/// The words of `line`; `None` if quotes or parentheses are not closed, or nest.
pub(super) fn spans(line: &str) -> Option<Vec<RawSpan>> {
    let bytes = line.as_bytes();
    let mut found = Vec::new();
    let (mut at, mut begins_command, mut is_target) = (0, true, false);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b' ' | b'\t' => at += 1,
            b'<' | b'>' => {
                is_target = true;
                at += 1;
            }
            // `&>`, and `>&`.
            b'&' if is_target || bytes.get(at + 1) == Some(&b'>') => at += 1,
            b'\n' | b';' | b'|' | b'&' => {
                (begins_command, is_target) = (true, false);
                at += 1;
            }
            _ => {
                let end = word_end(bytes, at)?;
                found.push(RawSpan { range: at..end, begins_command, is_target });
                (begins_command, is_target) = (false, false);
                at = end;
            }
        }
    }
    Some(found)
}

/// The end of the word that begins at `start`: at least one byte further.
fn word_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b' ' | b'\t' | b'\n' | b';' | b'|' | b'&' | b'<' | b'>' => return Some(at),
            b'\\' => at += 1,
            b'\'' => at = at + 1 + bytes[at + 1..].iter().position(|byte| *byte == b'\'')?,
            b'"' => at = end_of_double(bytes, at)?,
            b'(' if at > start && bytes[at - 1] != b'=' => at = at + 1 + end_of_group(&bytes[at + 1..])?,
            b'(' | b')' | b'`' | b'$' => return None,
            _ => {}
        }
        at += 1;
    }
    Some(at.min(bytes.len()))
}

fn end_of_double(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// The end of a group in which nothing is quoted or nested.
fn end_of_group(bytes: &[u8]) -> Option<usize> {
    let end = bytes.iter().position(|byte| *byte == b')')?;
    let is_plain = bytes[..end].iter().all(|byte| byte.is_ascii_alphanumeric() || b"_.,-+/@=%*^[]:|".contains(byte));
    is_plain.then_some(end)
}
