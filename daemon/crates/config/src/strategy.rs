//! Ways to shorten a conversation.

/// How a conversation is shortened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strategy {
    /// The oldest messages go.
    Truncate,
    /// The middle goes: the first question and the newest messages stay.
    Sliding,
    /// A model sums up what goes.
    #[default]
    Summarize,
}

impl Strategy {
    /// All, as the settings name them.
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
