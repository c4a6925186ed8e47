//! Looks up the values of placeholders, and watches for values that were handed out.

use std::fmt;

use zeroize::Zeroizing;

use super::{ExactValues, Mark, Placeholder, Scrubber, exact, holds_placeholder};

/// Largest number of values that are watched for; no more are handed out.
const MOST_WATCHED: usize = 64;

/// The reason why a placeholder has no value for a line of a shell. `Display` is the reason as a part of a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoValue {
    /// Another scrubber wrote the placeholder, or the value was dropped.
    Unknown,
    /// No scrubber keeps values of this kind.
    NeverKept,
    /// The value is too short to be found again in a command's output.
    TooShort,
    /// The value has control characters or is not UTF-8.
    NotOneLine,
    /// The value looks like a placeholder itself.
    HoldsPlaceholder,
}

impl fmt::Display for NoValue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Unknown => "this terminal does not know its value, or not any more",
            Self::NeverKept => "its value is not known in any terminal",
            Self::TooShort => "its value is too short to be found again in what the command writes",
            Self::NotOneLine => "its value is not one line of text",
            Self::HoldsPlaceholder => "its value has the form of a placeholder",
        })
    }
}

impl Scrubber {
    /// Whether this scrubber has written the placeholder and still has its value.
    #[must_use]
    pub fn knows(&self, placeholder: &Placeholder<'_>) -> bool {
        let is_own = self.settings.mark.is_some_and(|mark| Mark::of(placeholder.mark) == Some(mark));
        is_own && !placeholder.is_quoted && self.values.get(placeholder.kind, placeholder.number).is_some()
    }

    /// The value that a placeholder stands for: one line of text. It is secret.
    ///
    /// # Errors
    /// If there is no such value, or it cannot be written into a line.
    pub fn value(&self, placeholder: &Placeholder<'_>) -> Result<&str, NoValue> {
        if !placeholder.can_be_filled() {
            return Err(NoValue::NeverKept);
        }
        if !self.knows(placeholder) {
            return Err(NoValue::Unknown);
        }
        let value = self.values.get(placeholder.kind, placeholder.number).unwrap_or_default();
        let text = str::from_utf8(value).ok().filter(|text| !text.chars().any(char::is_control));
        match text.ok_or(NoValue::NotOneLine)? {
            text if text.len() < exact::LEAST_BYTES => Err(NoValue::TooShort),
            text if holds_placeholder(text) => Err(NoValue::HoldsPlaceholder),
            text => Ok(text),
        }
    }

    /// Whether there is room to watch for all of these values.
    #[must_use]
    pub fn can_watch_for(&self, values: &[&str]) -> bool {
        self.watched.len() + values.iter().filter(|value| !self.watches_for(value)).count() <= MOST_WATCHED
    }

    fn watches_for(&self, value: &str) -> bool {
        self.watched.iter().any(|watched| watched.as_slice() == value.as_bytes())
    }

    /// Takes these values out of every later text, in all their usual forms.
    pub fn watch_for<'a>(&mut self, values: impl IntoIterator<Item = &'a str>) {
        let before = self.watched.len();
        for value in values {
            if !self.watches_for(value) {
                self.watched.push(Zeroizing::new(value.as_bytes().to_vec()));
            }
        }
        if self.watched.len() > before {
            self.filled = ExactValues::new(self.watched.iter().map(|value| value.as_slice()));
        }
    }
}
