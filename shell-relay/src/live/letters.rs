//! Removes C1 controls that are single bytes from text. Pure.

/// Passes whole UTF-8 letters unchanged and removes bytes 80 to 9F that belong to no letter: some terminals obey them. The beginning of a
/// letter waits for its rest, so any chunking gives the same result.
#[derive(Debug, Default)]
pub(super) struct Letters {
    /// The begun letter, up to three bytes.
    begun: Vec<u8>,
}

impl Letters {
    /// Appends the permitted part of `text`.
    pub fn push(&mut self, text: &[u8], out: &mut Vec<u8>) {
        if self.begun.is_empty() && text.is_ascii() {
            return out.extend_from_slice(text);
        }
        let text = [std::mem::take(&mut self.begun).as_slice(), text].concat();
        let mut chunks = text.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            out.extend_from_slice(chunk.valid().as_bytes());
            let may_go_on = || std::str::from_utf8(chunk.invalid()).is_err_and(|error| error.error_len().is_none());
            if chunks.peek().is_none() && may_go_on() {
                self.begun.extend_from_slice(chunk.invalid());
            } else {
                extend_without_controls(chunk.invalid(), out);
            }
        }
    }

    /// Ends the text, because something else follows: a letter that is cut short there loses its bytes 80 to 9F.
    pub fn end(&mut self, out: &mut Vec<u8>) {
        extend_without_controls(&std::mem::take(&mut self.begun), out);
    }
}

fn extend_without_controls(bytes: &[u8], out: &mut Vec<u8>) {
    out.extend(bytes.iter().filter(|byte| !matches!(byte, 0x80..=0x9f)));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passed(pieces: &[&[u8]]) -> Vec<u8> {
        let (mut letters, mut out) = (Letters::default(), Vec::new());
        pieces.iter().for_each(|piece| letters.push(piece, &mut out));
        letters.end(&mut out);
        out
    }

    #[test]
    fn letters_pass_wherever_they_are_cut_and_lone_controls_do_not() {
        // Each of these letters has a byte that alone is a control.
        let text = "plain é ⛄ 日本 😀".as_bytes();
        for cut in 0..=text.len() {
            assert_eq!(passed(&[&text[..cut], &text[cut..]]), text, "cut at {cut}");
        }
        assert_eq!(passed(&[b"a\x9b6n\x85\x90q\xe9"]), b"a6nq\xe9");
        assert_eq!(passed(&[b"\xe0\x82\x9b6n"]), b"\xe06n", "a longer form of a control is none");
        assert_eq!(passed(&[b"\xe2", b"x\x9b"]), b"\xe2x");
        assert_eq!(passed(&[b"\xe2\x9b"]), b"\xe2");
    }
}
