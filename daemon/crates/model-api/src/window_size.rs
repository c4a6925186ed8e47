//! Determines the size of a model's context and the source of that number. Pure.

/// Context of a hosted model, without any information.
const HOSTED_TOKENS: u64 = 128_000;
/// Context of a model on this machine, without any information.
const LOCAL_TOKENS: u64 = 8_192;
/// Reserved for the answer if its length is not limited.
const USUAL_ANSWER_TOKENS: u64 = 4_096;
/// Reserved for errors of the estimate, in percent of the context.
const MARGIN_PERCENT: u64 = 10;

/// The sizes of a model's context by source, in tokens.
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

/// A size and its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextWindow {
    /// In tokens.
    pub tokens: u64,
    /// Its source.
    pub source: WindowSource,
}

/// The source of a context size, the most trusted first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WindowSource {
    /// The settings.
    Settings,
    /// The model's server.
    Server,
    /// The server's refusal of a conversation that was too long.
    Refusal,
    /// The table of known models.
    Table,
    /// No source: the default.
    Default,
}

impl WindowSource {
    /// The source as one word, for people and for the store.
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
    /// The size in force; `refused_above` is the size that an earlier refusal named.
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

/// Most tokens of a request in a context of `window_tokens`, with an answer of up to `max_output_tokens`.
#[must_use]
pub fn request_budget(window_tokens: u64, max_output_tokens: Option<u64>) -> u64 {
    // An answer limit that leaves no room for the question is a mistake in the settings.
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
