//! Remembers the secrets of one conversation and their placeholders.

use std::{fmt, sync::Arc};

use zeroize::Zeroizing;

use crate::{ExactValues, Mark, PersonalData, Report, placeholder::Numbers, values::Values};

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

    /// Sets the values to look for from now on.
    pub fn know(&mut self, exact: Arc<ExactValues>) {
        self.settings.exact = exact;
    }

    /// Sets the personal data to take out from now on.
    pub fn look_for(&mut self, personal: PersonalData) {
        self.settings.personal = personal;
    }

    /// The number of values taken out so far.
    #[must_use]
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// Writes the placeholder of a value, and keeps the value if it is whole and may be looked up again.
    pub(crate) fn replace(&mut self, kind: &'static str, value: &[u8], is_whole: bool, clean: &mut Vec<u8>) {
        self.report.count(kind);
        let (number, kind) = self.numbers.write(kind, value, self.settings.mark, clean);
        if is_whole && number > 0 && self.settings.mark.is_some() {
            self.values.keep(kind, number, value);
        }
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
