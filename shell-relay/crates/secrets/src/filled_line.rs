//! A line that holds secrets.

use std::fmt;

use zeroize::Zeroizing;

/// A line as it is typed, with values in it. It shows in no output and is wiped when dropped.
#[derive(Clone, PartialEq, Eq)]
pub struct FilledLine(Zeroizing<String>);

impl FilledLine {
    /// The text, for the shell alone.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0
    }
}

impl From<String> for FilledLine {
    fn from(text: String) -> Self {
        Self(Zeroizing::new(text))
    }
}

impl From<Zeroizing<String>> for FilledLine {
    fn from(text: Zeroizing<String>) -> Self {
        Self(text)
    }
}

impl fmt::Debug for FilledLine {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("FilledLine")
    }
}
