//! A line of ours above the shell's first prompt. The relay writes it when the shell reports that it is about to draw that prompt: a
//! shell without the integration never reports it, and then no line is shown.

use super::sequences::{Piece, SequenceScanner};

/// The line, until the first prompt comes.
#[derive(Debug)]
pub(super) struct Greeting {
    text: Vec<u8>,
    scanner: SequenceScanner,
    is_in_row: bool,
}

impl Greeting {
    /// `text` is a whole line with its end.
    pub fn new(text: Vec<u8>) -> Self {
        Self { text, scanner: SequenceScanner::default(), is_in_row: false }
    }

    /// Follows what the startup files print.
    pub fn follow(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while let Some(piece) = self.scanner.next(&mut rest) {
            if let Piece::Text(text) = piece {
                self.is_in_row = !matches!(text.last(), Some(b'\n' | b'\r') | None);
            }
        }
    }

    /// The bytes that show it, on a row of its own.
    pub fn into_bytes(self) -> Vec<u8> {
        if self.is_in_row { [b"\r\n", &self.text[..]].concat() } else { self.text }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_has_a_row_of_its_own_behind_whatever_was_printed() {
        for (printed, shown) in [
            ("", "hello\r\n"),
            ("motd\r\n", "hello\r\n"),
            ("motd", "\r\nhello\r\n"),
            ("\x1b[?2004h\x1b]0;title\x07", "hello\r\n"),
            ("\x1b[7m%\x1b[m    \r \r", "hello\r\n"),
            ("motd\r\n\x1b[1mhalf a line\x1b[m", "\r\nhello\r\n"),
        ] {
            let mut greeting = Greeting::new(b"hello\r\n".to_vec());
            printed.as_bytes().chunks(3).for_each(|chunk| greeting.follow(chunk));
            assert_eq!(String::from_utf8(greeting.into_bytes()).unwrap(), shown, "{printed:?}");
        }
    }
}
