//! The resource usage of a model call: tokens, cost, and room in the context.

/// Tokens of one answer. `None` is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokenUsage {
    /// Tokens sent, without those read from or written to a cache.
    pub input: Option<u64>,
    /// Tokens received.
    pub output: Option<u64>,
    /// Read from the provider's cache.
    pub cache_read: Option<u64>,
    /// Written to the provider's cache.
    pub cache_write: Option<u64>,
    /// Reasoning tokens.
    pub reasoning: Option<u64>,
    /// Cost that the provider reports, in millionths of a US dollar.
    pub cost_microusd: Option<u64>,
}

impl TokenUsage {
    /// Takes over newer figures of the same answer: per field the last known value wins.
    pub fn update(&mut self, newer: Self) {
        self.merge(newer, |_, newer| newer);
    }

    /// Adds the figures of another answer; unknown figures of one are left out of the sum.
    pub fn add(&mut self, other: Self) {
        self.merge(other, u64::saturating_add);
    }

    fn merge(&mut self, other: Self, join: impl Fn(u64, u64) -> u64) {
        for (mine, other) in [
            (&mut self.input, other.input),
            (&mut self.output, other.output),
            (&mut self.cache_read, other.cache_read),
            (&mut self.cache_write, other.cache_write),
            (&mut self.reasoning, other.reasoning),
            (&mut self.cost_microusd, other.cost_microusd),
        ] {
            *mine = match (*mine, other) {
                (Some(mine), Some(other)) => Some(join(mine, other)),
                (mine, other) => other.or(mine),
            };
        }
    }

    /// All tokens of the request, cached ones included, if known.
    #[must_use]
    pub fn sent(&self) -> Option<u64> {
        let cached = self.cache_read.unwrap_or(0).saturating_add(self.cache_write.unwrap_or(0));
        self.input.map(|input| input.saturating_add(cached))
    }
}

/// Sizes that a provider named when it refused a conversation as too long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overflow {
    /// Tokens of the refused prompt.
    pub prompt_tokens: Option<u64>,
    /// Tokens of the model's context.
    pub window_tokens: Option<u64>,
}

/// Location and limits of a model, as far as its provider knows them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelService {
    /// Host and port; empty if nothing is sent.
    pub host: String,
    /// Whether the host is this machine.
    pub is_local: bool,
    /// Size of the model's context in tokens, if the service reported it.
    pub context_window_tokens: Option<u64>,
    /// Longest answer in tokens, if the request limits it.
    pub max_output_tokens: Option<u64>,
    /// Whether programs of others that come by themselves stand behind it: then it may be silent for hours.
    pub is_host: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(input: Option<u64>, cache_read: Option<u64>, cost_microusd: Option<u64>) -> TokenUsage {
        TokenUsage { input, cache_read, cost_microusd, ..TokenUsage::default() }
    }

    #[test]
    fn newer_figures_replace_older_ones_and_other_answers_add_up() {
        let mut one = usage(Some(5), None, Some(7));
        one.update(usage(Some(6), Some(2), None));
        assert_eq!(one, usage(Some(6), Some(2), Some(7)));
        one.add(usage(Some(1), None, Some(1)));
        assert_eq!(one, usage(Some(7), Some(2), Some(8)));
        one.add(usage(Some(u64::MAX), None, None));
        assert_eq!(one.input, Some(u64::MAX));
    }

    #[test]
    fn what_was_sent_holds_what_was_cached_and_is_unknown_without_the_rest() {
        let cached = TokenUsage { cache_write: Some(30), ..usage(Some(5), Some(1_000), None) };
        assert_eq!(cached.sent(), Some(1_035));
        assert_eq!(usage(None, Some(1_000), None).sent(), None);
    }
}
