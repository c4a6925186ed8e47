//! Takes secrets out of whole texts, each as a stream of one piece.

use std::borrow::Cow;

use crate::{Scrubber, Stream};

impl Scrubber {
    /// `bytes` without secrets.
    #[must_use]
    pub fn bytes<'a>(&mut self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        self.from_file("", bytes)
    }

    /// The content of the file of that name without secrets. Some files are secret by their name; no path is examined.
    #[must_use]
    pub fn from_file<'a>(&mut self, name: &str, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        self.whole(Stream::of_file(name), bytes)
    }

    fn whole<'a>(&mut self, mut stream: Stream, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        let before = self.report.total() + self.numbers.escaped();
        let mut clean = Vec::with_capacity(bytes.len());
        stream.push(self, bytes, &mut clean);
        stream.finish(self, &mut clean);
        if self.report.total() + self.numbers.escaped() == before { Cow::Borrowed(bytes) } else { Cow::Owned(clean) }
    }

    /// `text` without secrets.
    #[must_use]
    pub fn text<'a>(&mut self, text: &'a str) -> Cow<'a, str> {
        self.whole_text(Stream::default(), text)
    }

    /// As [`Scrubber::text`], for text by an author who knows placeholders from us, such as a model: they stay as they are.
    #[must_use]
    pub fn own_text<'a>(&mut self, text: &'a str) -> Cow<'a, str> {
        self.whole_text(Stream::with_placeholders(), text)
    }

    fn whole_text<'a>(&mut self, stream: Stream, text: &'a str) -> Cow<'a, str> {
        match self.whole(stream, text.as_bytes()) {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            // A replaced text begins and ends at characters, except for values that are not UTF-8 themselves.
            Cow::Owned(clean) => Cow::Owned(match String::from_utf8(clean) {
                Ok(clean) => clean,
                Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
            }),
        }
    }
}
