//! Measures how full a model's context is. Pure.

use cohab_model_api::window_size::{ContextWindow, request_budget};
use serde::Serialize;

/// What a model takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Capacity {
    /// The whole context, in the model's tokens.
    pub window: ContextWindow,
    /// Longest answer in tokens, if one is asked for.
    pub max_output_tokens: Option<u64>,
    /// The model's tokens of a token of the estimate.
    pub factor: f64,
}

/// How full it is, in the model's tokens as far as they are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Analysis {
    /// The whole context.
    pub max: u64,
    /// What is sent beside the conversation: system prompt and tools.
    pub system: u64,
    /// The conversation.
    pub messages: u64,
    /// Kept free for the answer, and for errors of the estimate.
    pub response_reserve: u64,
    /// What is sent, together.
    pub total: u64,
    /// What may be sent in addition.
    pub available: u64,
    /// What is sent, of the whole context. More than 100 if it is larger.
    pub percent: u64,
    /// Whether what is sent leaves the reserve free.
    pub fits: bool,
}

/// How full `room` is with a system prompt and a conversation of so many tokens by the estimate.
#[must_use]
pub fn analyse(room: &Capacity, system_estimate: u64, messages_estimate: u64) -> Analysis {
    let real = |estimate: u64| (estimate as f64 * room.factor) as u64;
    let (max, system, messages) = (room.window.tokens, real(system_estimate), real(messages_estimate));
    let budget = request_budget(max, room.max_output_tokens);
    let total = system.saturating_add(messages);
    Analysis {
        max,
        system,
        messages,
        response_reserve: max - budget,
        total,
        available: budget.saturating_sub(total),
        percent: total.saturating_mul(100) / max.max(1),
        fits: total <= budget,
    }
}

impl Analysis {
    /// Tokens that the conversation may have so that all of it takes `percent` of the context, and fits; in the model's tokens.
    #[must_use]
    pub fn messages_at(&self, percent: u64) -> u64 {
        let whole = (self.max.saturating_mul(percent) / 100).min(self.max - self.response_reserve);
        whole.saturating_sub(self.system)
    }
}

#[cfg(test)]
mod tests {
    use cohab_model_api::window_size::WindowSource;

    use super::*;

    fn room(tokens: u64, factor: f64) -> Capacity {
        let window = ContextWindow { tokens, source: WindowSource::Settings };
        Capacity { window, max_output_tokens: Some(1_000), factor }
    }

    #[test]
    fn each_part_is_told_and_they_add_up() {
        let analysis = analyse(&room(10_000, 1.0), 1_500, 4_000);
        let wanted = Analysis {
            max: 10_000,
            system: 1_500,
            messages: 4_000,
            response_reserve: 2_000,
            total: 5_500,
            available: 2_500,
            percent: 55,
            fits: true,
        };
        assert_eq!(analysis, wanted);
        assert_eq!([75, 50, 100, 10].map(|percent| analysis.messages_at(percent)), [6_000, 3_500, 6_500, 0]);
    }

    #[test]
    fn what_was_learned_of_the_tokenizer_counts() {
        let analysis = analyse(&room(10_000, 1.5), 1_000, 5_000);
        assert_eq!((analysis.total, analysis.percent, analysis.fits), (9_000, 90, false));
        assert_eq!(analysis.available, 0);
    }

    #[test]
    fn sizes_that_cannot_be_are_no_accident() {
        for (tokens, messages) in [(0, 0), (0, u64::MAX), (100_000_000, u64::MAX), (1, 1)] {
            let analysis = analyse(&room(tokens, 1.6), messages, messages);
            assert!(analysis.messages_at(100) <= tokens);
            assert_eq!(analysis.fits, analysis.total <= analysis.max - analysis.response_reserve);
        }
    }
}
