//! Wraps a writer and removes sequences that a terminal would obey. It is the last net under the output of our programs: each field is
//! cleaned where it is put together; this writer is for a forgotten field, and for whole texts of others, such as a log.

use std::io::{self, Write};

use crate::sanitize::Sanitizer;

/// Writes text without the characters that [`Sanitizer`] removes. Invalid UTF-8 becomes U+FFFD. Joiners stay where
/// prose needs them.
#[derive(Debug)]
pub struct HarmlessWriter<W> {
    inner: W,
    sanitizer: Sanitizer,
    /// The beginning of a letter, up to three bytes.
    begun: Vec<u8>,
}

impl<W: Write> HarmlessWriter<W> {
    /// A writer on top of `inner`.
    pub fn new(inner: W) -> Self {
        Self { inner, sanitizer: Sanitizer::for_prose(), begun: Vec::new() }
    }
}

impl<W: Write> Write for HarmlessWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut all = std::mem::take(&mut self.begun);
        all.extend_from_slice(bytes);
        let mut clean = String::with_capacity(all.len());
        let mut chunks = all.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            clean.push_str(&self.sanitizer.push(chunk.valid()));
            let may_go_on = || std::str::from_utf8(chunk.invalid()).is_err_and(|error| error.error_len().is_none());
            if chunks.peek().is_none() && may_go_on() {
                self.begun.extend_from_slice(chunk.invalid());
            } else if !chunk.invalid().is_empty() {
                clean.push_str(&self.sanitizer.push("\u{fffd}"));
            }
        }
        self.inner.write_all(clean.as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal_attack_fixtures::HOSTILE;

    fn written(pieces: &[&[u8]]) -> String {
        let mut out = Vec::new();
        let mut writer = HarmlessWriter::new(&mut out);
        pieces.iter().for_each(|piece| assert_eq!(writer.write(piece).expect("memory"), piece.len()));
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn no_row_of_the_table_passes_wherever_it_is_cut() {
        for row in HOSTILE {
            let text = format!("a{}b\n", row.bytes);
            for cut in 0..=text.len() {
                let shown = written(&[&text.as_bytes()[..cut], &text.as_bytes()[cut..]]);
                assert_eq!(shown, format!("a{}b\n", row.left), "{}, cut at {cut}", row.name);
            }
        }
    }

    #[test]
    fn what_is_no_utf_8_is_a_sign() {
        assert_eq!(written(&[b"a\x9b6n\xffb", b"\xe2", b"x", "日".as_bytes()]), "a\u{fffd}6n\u{fffd}b\u{fffd}x日");
    }
}
