//! Determines the size of a model's context and the source of that number. Pure.

/// Context of a model elsewhere, if nobody says.
const HOSTED_TOKENS: u64 = 128_000;
/// Context of a model on this machine, if nobody says.
const LOCAL_TOKENS: u64 = 8_192;
/// Kept free for the answer where no longest answer is asked for.
const USUAL_ANSWER_TOKENS: u64 = 4_096;
/// Kept free for errors of the estimate, in percent of the context.
const MARGIN_PERCENT: u64 = 10;

/// What each source says of a model's context, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WindowSources {
    /// `model.context_window_tokens`.
    pub settings: Option<u64>,
    /// The model's server.
    pub server: Option<u64>,
    /// The table of known models, the user's own first.
    pub table: Option<u64>,
    /// Whether the model runs on this machine.
    pub is_local: bool,
}

/// A size and who says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextWindow {
    /// In tokens.
    pub tokens: u64,
    /// Who says so.
    pub source: WindowSource,
}

/// Who says how large a context is, the most trusted first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WindowSource {
    /// The settings.
    Settings,
    /// The model's server.
    Server,
    /// The server, when it refused a conversation as too long.
    Refusal,
    /// The table of known models.
    Table,
    /// Nobody.
    Default,
}

impl WindowSource {
    /// One word, for people and for what is kept.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Settings => "settings",
            Self::Server => "server",
            Self::Refusal => "refusal",
            Self::Table => "table",
            Self::Default => "default",
        }
    }

    /// The source of this word.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
        [Self::Settings, Self::Server, Self::Refusal, Self::Table, Self::Default]
            .into_iter()
            .find(|source| source.word() == word)
    }
}

impl WindowSources {
    /// The size that holds; `refused_above` is what a refusal named before.
    #[must_use]
    pub fn decide(&self, refused_above: Option<u64>) -> ContextWindow {
        let said = [
            (self.settings, WindowSource::Settings),
            (self.server, WindowSource::Server),
            (refused_above, WindowSource::Refusal),
            (self.table, WindowSource::Table),
        ];
        let said = said.into_iter().find_map(|(tokens, source)| tokens.map(|tokens| ContextWindow { tokens, source }));
        let tokens = if self.is_local { LOCAL_TOKENS } else { HOSTED_TOKENS };
        said.unwrap_or(ContextWindow { tokens, source: WindowSource::Default })
    }
}

/// Tokens that a request may have in a context of `window_tokens`, when the answer may have `max_output_tokens`.
#[must_use]
pub fn request_budget(window_tokens: u64, max_output_tokens: Option<u64>) -> u64 {
    // A longest answer that leaves no room for the question is a mistake of whoever set it.
    let answer =
        max_output_tokens.map_or(USUAL_ANSWER_TOKENS.min(window_tokens / 4), |most| most.min(window_tokens / 2));
    window_tokens - answer - window_tokens * MARGIN_PERCENT / 100
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_knows_best_decides() {
        let all = WindowSources { settings: Some(1), server: Some(2), table: Some(4), is_local: false };
        let cases = [
            (all, Some(3), 1, WindowSource::Settings),
            (WindowSources { settings: None, ..all }, Some(3), 2, WindowSource::Server),
            (WindowSources { settings: None, server: None, ..all }, Some(3), 3, WindowSource::Refusal),
            (WindowSources { settings: None, server: None, ..all }, None, 4, WindowSource::Table),
            (WindowSources::default(), None, 128_000, WindowSource::Default),
            (WindowSources { is_local: true, ..WindowSources::default() }, None, 8_192, WindowSource::Default),
        ];
        for (sources, refused_above, tokens, source) in cases {
            assert_eq!(sources.decide(refused_above), ContextWindow { tokens, source });
            assert_eq!(WindowSource::of_word(source.word()), Some(source));
        }
    }

    #[test]
    fn the_answer_and_a_margin_are_kept_free() {
        assert_eq!(request_budget(200_000, Some(32_000)), 148_000);
        assert_eq!(request_budget(128_000, None), 111_104);
        assert_eq!(request_budget(8_192, None), 5_325);
        assert_eq!(request_budget(8_192, Some(100_000)), 3_277);
        assert_eq!(request_budget(0, None), 0);
    }
}
