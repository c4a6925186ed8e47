//! Separates the output of background jobs from the line editor's painting while the assistant has the terminal. Pure.
//!
//! The bytes do not say who wrote them, but a line editor that repaints its prompt moves the cursor first, and a job that
//! writes a line does not. So whole lines of text are shown; from a cursor movement on nothing is shown until the painting must be over.

use std::time::{Duration, Instant};

use super::sequences::{Piece, SequenceScanner};

/// Longest time from a cursor movement of the line editor to its painted prompt.
const PAINTING: Duration = Duration::from_millis(50);
/// The rest of a longer line is left out.
const LINE_MAX_BYTES: usize = 4096;

#[derive(Debug, Default)]
pub(super) struct Background {
    scanner: SequenceScanner,
    lines: Lines,
}

#[derive(Debug, Default)]
struct Lines {
    /// The line up to now; text and colours.
    line: Vec<u8>,
    /// A carriage return has come: behind it the line ends, or is painted over.
    returned: bool,
    painted_at: Option<Instant>,
}

impl Background {
    /// Appends the whole lines that jobs have written to `out`, each with its line end, colours and nothing else in them.
    pub fn push(&mut self, bytes: &[u8], now: Instant, out: &mut Vec<u8>) {
        let lines = &mut self.lines;
        let mut rest = bytes;
        while let Some(piece) = self.scanner.next(&mut rest) {
            match piece {
                Piece::Text(text) => text.iter().for_each(|&byte| lines.take_byte(byte, now, out)),
                Piece::Sequence(sequence) if is_colour(sequence) && !lines.returned => lines.take(sequence, now),
                Piece::Sequence([0x1b, b'(' | b')', ..]) => {}
                Piece::Sequence(_) => lines.painted(now),
                Piece::String(_) | Piece::Control(_) => {}
            }
        }
    }

    /// The line editor has painted its prompt, as its mark says.
    pub fn painted(&mut self, now: Instant) {
        self.lines.painted(now);
    }

    /// Drops everything begun before.
    pub fn begin(&mut self) {
        self.lines = Lines::default();
    }
}

impl Lines {
    fn take_byte(&mut self, byte: u8, now: Instant, out: &mut Vec<u8>) {
        match byte {
            b'\n' => self.end(now, out),
            b'\r' => self.returned = true,
            _ if self.returned || byte == 0x08 => self.painted(now),
            b'\t' | b' '..=0x7e | 0x80.. => self.take(&[byte], now),
            _ => {}
        }
    }

    fn take(&mut self, bytes: &[u8], now: Instant) {
        if !self.is_painting(now) && self.line.len() + bytes.len() <= LINE_MAX_BYTES {
            self.line.extend_from_slice(bytes);
        }
    }

    fn end(&mut self, now: Instant, out: &mut Vec<u8>) {
        self.returned = false;
        if !self.is_painting(now) {
            out.append(&mut self.line);
            out.extend_from_slice(b"\r\n");
        }
    }

    fn painted(&mut self, now: Instant) {
        self.line.clear();
        self.returned = false;
        self.painted_at = Some(now);
    }

    fn is_painting(&self, now: Instant) -> bool {
        self.painted_at.is_some_and(|at| now < at + PAINTING)
    }
}

fn is_colour(sequence: &[u8]) -> bool {
    match sequence {
        [0x1b, b'[', numbers @ .., b'm'] => numbers.iter().all(|byte| matches!(byte, b'0'..=b'9' | b';' | b':')),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pieces with the milliseconds at which they come.
    fn shown(pieces: &[(u64, &str)]) -> String {
        let (mut background, mut out, begin) = (Background::default(), Vec::new(), Instant::now());
        for (ms, piece) in pieces {
            background.push(piece.as_bytes(), begin + Duration::from_millis(*ms), &mut out);
        }
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn whole_lines_with_their_colours_are_shown() {
        let lines = "one\r\n\r\r\nä\t\x1b[1;31mred\x1b[0m\x1b(B\x07\x1b]0;title\x07\r\nhal";
        let all = "one\r\n\r\nä\t\x1b[1;31mred\x1b[0m\r\n";
        assert_eq!(shown(&[(0, lines)]), all);
        let bytes: Vec<(u64, &str)> = lines.split_inclusive(|_| true).map(|piece| (0, piece)).collect();
        assert_eq!(shown(&bytes), all);
        assert_eq!(shown(&[(0, "hal"), (9000, "f\n")]), "half\r\n");
    }

    #[test]
    fn a_painted_prompt_is_not_shown_and_lines_before_and_after_it_are() {
        for paint in [
            "\r\r\x1b[A\x1b[0m\x1b[27m\x1b[24m\x1b[J\x1b[32mtop\x1b[39m\r\n$ \x1b[K\x1b[75C34\x1b[77D",
            "\x1b[30m\x1b[m\r\x1b[Atop\x1b[K\r\n$ \x1b[K\r\x1b[C\x1b[C",
            "\r$ \r\n",
            "\x08\x08\r\n",
        ] {
            for at in 1..paint.len() {
                let (first, second) = paint.split_at(at);
                let pieces = [(0, "before\r\n"), (1, first), (2, second), (60, "after\r\n")];
                assert_eq!(shown(&pieces), "before\r\nafter\r\n", "{paint:?} cut at {at}");
            }
        }
    }

    #[test]
    fn a_long_line_is_cut_and_what_a_mark_tells_to_be_painted_is_forgotten() {
        let long = format!("{}\nnext\n", "x".repeat(3 * LINE_MAX_BYTES));
        assert_eq!(shown(&[(0, &long)]), format!("{}\r\nnext\r\n", "x".repeat(LINE_MAX_BYTES)));
        let (mut background, mut out, now) = (Background::default(), Vec::new(), Instant::now());
        background.push(b"$ ", now, &mut out);
        background.painted(now);
        background.push(b"late\nline\n", now + PAINTING, &mut out);
        assert_eq!(out, b"late\r\nline\r\n");
    }
}
