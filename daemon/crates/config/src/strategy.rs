//! Methods of shortening a conversation. The middleware applies them.

/// A method of shortening a conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strategy {
    /// Drops the oldest messages.
    Truncate,
    /// Drops the middle: the first question and the newest messages stay.
    Sliding,
    /// A model summarizes the dropped messages.
    #[default]
    Summarize,
}

impl Strategy {
    /// All methods, by their names in the settings.
    pub const WORDS: &'static [&'static str] = &["summarize", "sliding", "truncate"];
}

impl std::str::FromStr for Strategy {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        match word {
            "truncate" => Ok(Self::Truncate),
            "sliding" => Ok(Self::Sliding),
            "summarize" => Ok(Self::Summarize),
            other => Err(format!("there is no strategy `{other}`")),
        }
    }
}
