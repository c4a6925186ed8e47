//! Learns the token factor and the context size of a model from its answers and refusals. Pure.

use crate::window_size::ContextWindow;

/// Bounds of the correction: real tokenizers differ by this much from the estimate.
const FACTORS: std::ops::RangeInclusive<f64> = 0.7..=1.6;
/// Ratios outside of these come from other counts: of several requests, or without cached tokens.
const BELIEVED_RATIOS: std::ops::RangeInclusive<f64> = 0.4..=1.9;
/// Weight of the newest observation.
const NEWEST_WEIGHT: f64 = 0.3;
/// Sizes of a context that a refusal may name.
const WINDOWS: std::ops::RangeInclusive<u64> = 1_024..=100_000_000;

/// The facts learned about one model at one host.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Learned {
    /// Real tokens per token of the estimate.
    pub factor: f64,
    /// Size of the context that a refusal named, in tokens.
    pub window_tokens: Option<u64>,
    /// The context size of the last request.
    pub in_use: Option<ContextWindow>,
}

impl Default for Learned {
    fn default() -> Self {
        Self { factor: 1.0, window_tokens: None, in_use: None }
    }
}

/// The valid factor nearest to `factor`.
#[must_use]
pub fn in_bounds(factor: f64) -> f64 {
    if factor.is_nan() { 1.0 } else { factor.clamp(*FACTORS.start(), *FACTORS.end()) }
}

impl Learned {
    /// Learns that a request of `estimated_tokens` had `real_tokens`.
    pub fn observe(&mut self, real_tokens: u64, estimated_tokens: u64) {
        // Without an estimate the ratio is no number, or endless.
        let ratio = real_tokens as f64 / estimated_tokens as f64;
        if BELIEVED_RATIOS.contains(&ratio) {
            self.factor = self.factor.mul_add(1.0 - NEWEST_WEIGHT, in_bounds(ratio) * NEWEST_WEIGHT);
        }
    }

    /// Learns the context size that a refusal named, if it is plausible.
    pub fn refused_above(&mut self, window_tokens: u64) {
        if WINDOWS.contains(&window_tokens) {
            self.window_tokens = Some(window_tokens);
        }
    }

    /// The estimate that corresponds to `real_tokens` by this model's count.
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
    fn it_never_leaves_its_bounds() {
        for (real, estimate, bound) in [(18, 10, 1.6), (5, 10, 0.7)] {
            let mut learned = Learned::default();
            for _ in 0..100 {
                learned.observe(real, estimate);
                assert!(FACTORS.contains(&learned.factor), "{}", learned.factor);
            }
            assert!((learned.factor - bound).abs() < 0.01, "{}", learned.factor);
        }
        assert_eq!([9.0, 0.0, f64::NAN, 1.3].map(in_bounds), [1.6, 0.7, 1.0, 1.3]);
    }

    #[test]
    fn what_cannot_be_the_count_of_one_request_teaches_nothing() {
        let mut learned = Learned::default();
        for (real, estimate) in [(u64::MAX, 1), (1, u64::MAX), (20, 10), (3, 10), (0, 5), (5, 0), (0, 0)] {
            learned.observe(real, estimate);
            assert_eq!(learned, Learned::default(), "{real} {estimate}");
        }
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
