//! Reads a file line by line in bounded memory.

use std::io::{self, BufRead};

use crate::past::record::MAX_LINE_BYTES;

/// Most bytes of a line, and of a record of several lines, that are held. Each format writes at most two bytes for one byte of a command;
/// the rest is for what stands before the command.
pub(super) const MAX_RAW_BYTES: usize = 2 * MAX_LINE_BYTES + 64;

/// A line of a file, without its newline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileLine<'a> {
    /// Its first [`MAX_RAW_BYTES`].
    pub bytes: &'a [u8],
    /// Whether it is longer than that.
    pub is_long: bool,
    /// Whether the file ends within it, without a newline.
    pub is_cut: bool,
    /// Its last byte, of a long line, too.
    pub last: Option<u8>,
}

/// Reads lines.
pub(super) struct LineReader<R> {
    input: R,
    held: Vec<u8>,
}

impl<R: BufRead> LineReader<R> {
    /// Reads the lines of `input`.
    pub fn new(input: R) -> Self {
        Self { input, held: Vec::new() }
    }

    /// The next line; `None` at the end of the file.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn next_line(&mut self) -> io::Result<Option<FileLine<'_>>> {
        self.held.clear();
        let (mut is_long, mut last, mut is_begun) = (false, None, false);
        loop {
            let chunk = match self.input.fill_buf() {
                Ok(chunk) => chunk,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if chunk.is_empty() {
                let line = FileLine { bytes: &self.held, is_long, is_cut: true, last };
                return Ok(is_begun.then_some(line));
            }
            is_begun = true;
            let end = chunk.iter().position(|byte| *byte == b'\n');
            let part = &chunk[..end.unwrap_or(chunk.len())];
            let room = MAX_RAW_BYTES - self.held.len();
            is_long |= part.len() > room;
            self.held.extend_from_slice(&part[..part.len().min(room)]);
            last = part.last().copied().or(last);
            let used = part.len() + usize::from(end.is_some());
            self.input.consume(used);
            if end.is_some() {
                return Ok(Some(FileLine { bytes: &self.held, is_long, is_cut: false, last }));
            }
        }
    }
}

/// Joins the lines of one record, up to [`MAX_RAW_BYTES`].
#[derive(Debug, Default)]
pub(super) struct JoinedLines {
    /// The lines, with a newline between two of them; empty if they are too long.
    pub bytes: Vec<u8>,
    /// Number of lines.
    pub count: u64,
    /// Whether they are too long.
    pub is_long: bool,
    /// Whether the file ends within the last one.
    pub is_cut: bool,
}

impl JoinedLines {
    /// Adds a line, of which `bytes` belong to the record.
    pub fn add(&mut self, line: &FileLine<'_>, bytes: &[u8]) {
        let newline = usize::from(self.count > 0);
        self.count += 1;
        self.is_cut |= line.is_cut;
        self.is_long |= line.is_long || self.bytes.len() + newline + bytes.len() > MAX_RAW_BYTES;
        if self.is_long {
            self.bytes.clear();
            return;
        }
        if newline > 0 {
            self.bytes.push(b'\n');
        }
        self.bytes.extend_from_slice(bytes);
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Read};

    use super::*;

    #[test]
    fn lines_are_read_over_the_ends_of_chunks() {
        let mut lines = LineReader::new(BufReader::with_capacity(3, &b"abcde\n\nf\\\ngh"[..]));
        let mut seen = Vec::new();
        while let Some(line) = lines.next_line().expect("it can be read") {
            seen.push((line.bytes.to_vec(), line.last, line.is_cut));
            assert!(!line.is_long);
        }
        let expected = [
            (b"abcde".to_vec(), Some(b'e'), false),
            (Vec::new(), None, false),
            (b"f\\".to_vec(), Some(b'\\'), false),
            (b"gh".to_vec(), Some(b'h'), true),
        ];
        assert_eq!(seen, expected);
        assert_eq!(lines.next_line().expect("the end stays"), None);
    }

    #[test]
    fn a_line_without_an_end_takes_no_memory() {
        let endless = io::repeat(b'x').take(32 << 20).chain(&b"\\\nls\n"[..]);
        let mut lines = LineReader::new(BufReader::new(endless));
        let line = lines.next_line().expect("it can be read").expect("a line");
        assert!(line.is_long && !line.is_cut && line.bytes.len() == MAX_RAW_BYTES);
        assert_eq!(line.last, Some(b'\\'));
        let line = lines.next_line().expect("it can be read").expect("a line");
        assert_eq!((line.bytes, line.is_long), (&b"ls"[..], false));
        assert!(lines.held.capacity() <= 2 * MAX_RAW_BYTES);
    }

    #[test]
    fn joined_lines_are_bounded() {
        let part = vec![b'x'; 1_000];
        let line = FileLine { bytes: &part, is_long: false, is_cut: false, last: Some(b'x') };
        let mut joined = JoinedLines::default();
        for _ in 0..1_000 {
            joined.add(&line, line.bytes);
            assert!(joined.bytes.len() <= MAX_RAW_BYTES);
        }
        assert!(joined.is_long && joined.bytes.is_empty() && joined.count == 1_000);
    }
}
