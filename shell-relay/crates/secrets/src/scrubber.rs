//! Remembers the secrets of one conversation and their placeholders.

use std::{borrow::Cow, fmt, sync::Arc};

use zeroize::Zeroizing;

use crate::{ExactValues, Mark, PersonalData, Report, Stream, placeholder::Numbers, values::Values};

/// Settings for values beyond the known formats.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Known values, which are secret in any form.
    pub exact: Arc<ExactValues>,
    /// The personal data to remove; none by default.
    pub personal: PersonalData,
    /// The mark in the placeholders of a scrubber that is to fill them in again.
    pub mark: Option<Mark>,
}

/// The memory that one conversation needs to take secrets out of its texts.
pub struct Scrubber {
    pub(crate) settings: Settings,
    pub(crate) numbers: Numbers,
    pub(crate) values: Values,
    /// Values that were filled in.
    pub(crate) watched: Vec<Zeroizing<Vec<u8>>>,
    /// Finds the filled-in values, which may come back in any form.
    pub(crate) filled: ExactValues,
    pub(crate) report: Report,
}

impl Scrubber {
    /// A memory without any value yet.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            numbers: Numbers::default(),
            values: Values::default(),
            watched: Vec::new(),
            filled: ExactValues::default(),
            report: Report::default(),
        }
    }

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

    /// Sets the values to look for from now on.
    pub fn know(&mut self, exact: Arc<ExactValues>) {
        self.settings.exact = exact;
    }

    /// Sets the personal data to take out from now on.
    pub fn look_for(&mut self, personal: PersonalData) {
        self.settings.personal = personal;
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

    /// The number of values taken out so far.
    #[must_use]
    pub fn report(&self) -> &Report {
        &self.report
    }
}

impl fmt::Debug for Scrubber {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { settings, values, report, .. } = self;
        formatter
            .debug_struct("Scrubber")
            .field("settings", settings)
            .field("values", values)
            .field("report", report)
            .finish()
    }
}

impl Default for Scrubber {
    fn default() -> Self {
        Self::new(Settings::default())
    }
}
