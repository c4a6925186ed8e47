//! The style of output: glyphs, or sentences for screen readers and poor terminals.

use super::ansi::ColorSupport;

/// The way of showing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputStyle {
    /// Marks such as `●` and `✓`.
    Rich,
    /// Words.
    Accessible,
}

impl OutputStyle {
    /// For this process's environment.
    #[must_use]
    pub fn from_env(colors: ColorSupport) -> Self {
        Self::detect(std::env::var("COHAB_ACCESSIBLE").ok().as_deref(), colors)
    }

    /// For the value of `COHAB_ACCESSIBLE` and what the terminal can show.
    #[must_use]
    pub fn detect(accessible: Option<&str>, colors: ColorSupport) -> Self {
        let is_asked_for = accessible.is_some_and(|value| !matches!(value, "" | "0"));
        if is_asked_for || colors == ColorSupport::None { Self::Accessible } else { Self::Rich }
    }

    /// One of the two.
    #[must_use]
    pub fn choose<T>(self, glyphs: T, sentences: T) -> T {
        match self {
            Self::Rich => glyphs,
            Self::Accessible => sentences,
        }
    }
}
