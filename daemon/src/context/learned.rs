//! What answers and refusals of a model teach about its tokenizer and its context. Pure.

use super::window_size::ContextWindow;

/// Bounds of the correction: real tokenizers differ by this much from the estimate.
const FACTORS: std::ops::RangeInclusive<f64> = 0.7..=1.6;
/// Weight of the newest observation.
const NEWEST_WEIGHT: f64 = 0.3;
/// Sizes of a context that a refusal may name.
const WINDOWS: std::ops::RangeInclusive<u64> = 1_024..=100_000_000;

/// What is known of one model at one host.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Learned {
    /// Real tokens of a token of the estimate.
    pub factor: f64,
    /// Size of the context that a refusal named, in tokens.
    pub window_tokens: Option<u64>,
    /// The size of the context that the last answer was asked with.
    pub in_use: Option<ContextWindow>,
}

impl Default for Learned {
    fn default() -> Self {
        Self { factor: 1.0, window_tokens: None, in_use: None }
    }
}

impl Learned {
    /// Takes in that a request of `estimated_tokens` had `real_tokens`.
    pub fn observe(&mut self, real_tokens: u64, estimated_tokens: u64) {
        if real_tokens == 0 || estimated_tokens == 0 {
            return;
        }
        // One figure beyond reason (a service that counts something else) must not undo many good ones.
        let seen = (real_tokens as f64 / estimated_tokens as f64).clamp(*FACTORS.start(), *FACTORS.end());
        self.factor = self.factor.mul_add(1.0 - NEWEST_WEIGHT, seen * NEWEST_WEIGHT);
    }

    /// Takes in the size of the context that a refusal named, if it can be one.
    pub fn refused_above(&mut self, window_tokens: u64) {
        if WINDOWS.contains(&window_tokens) {
            self.window_tokens = Some(window_tokens);
        }
    }

    /// The estimate that comes to `real_tokens` by this model's count.
    #[must_use]
    pub fn estimate_for(&self, real_tokens: u64) -> u64 {
        (real_tokens as f64 / self.factor) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_factor_is_near_the_truth_within_five_turns() {
        for truth in [0.7, 0.85, 1.0, 1.22, 1.6] {
            let mut learned = Learned::default();
            for estimate in [900_u64, 4_000, 12_345, 15_000, 60_000] {
                learned.observe((estimate as f64 * truth) as u64, estimate);
            }
            assert!((learned.factor / truth - 1.0).abs() < 0.08, "{truth}: {}", learned.factor);
        }
    }

    #[test]
    fn nonsense_moves_it_little_and_never_out_of_bounds() {
        let mut learned = Learned::default();
        learned.observe(u64::MAX, 1);
        assert!(learned.factor < 1.2, "{}", learned.factor);
        for _ in 0..100 {
            learned.observe(u64::MAX, 1);
        }
        assert!(FACTORS.contains(&learned.factor), "{}", learned.factor);
        for _ in 0..100 {
            learned.observe(1, u64::MAX);
        }
        assert!(FACTORS.contains(&learned.factor), "{}", learned.factor);
        let before = learned;
        learned.observe(0, 5);
        learned.observe(5, 0);
        assert_eq!(learned, before);
    }

    #[test]
    fn a_size_that_cannot_be_one_is_not_learned() {
        let mut learned = Learned::default();
        for size in [0, 10, u64::MAX] {
            learned.refused_above(size);
            assert_eq!(learned.window_tokens, None, "{size}");
        }
        learned.refused_above(8_192);
        learned.refused_above(0);
        assert_eq!(learned.window_tokens, Some(8_192));
    }
}
