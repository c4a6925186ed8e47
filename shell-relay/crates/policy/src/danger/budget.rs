//! Limits the work on a line, so that a hostile line takes no longer than a long one. Pure counts: no clock.

use cohab_shell_syntax::{LooseWord, MAX_LINE_BYTES, MAX_SCAN_BYTES};

/// Texts handed on from program to program are followed this far.
const MAX_HAND_OVERS: usize = 8;
/// A word counts once more for each of these bytes: it may hold many names of files.
const BYTES_A_WORD: usize = 16;
/// Largest number of words and redirections of all texts that are classed one by one: a line of [`MAX_LINE_BYTES`] has no more.
const MAX_WORDS: usize = MAX_LINE_BYTES / 2 + MAX_LINE_BYTES / BYTES_A_WORD;
/// Largest size of all texts together, the line itself and the texts handed on.
const MAX_BYTES: usize = 4 * MAX_SCAN_BYTES;

/// The remaining budget.
#[derive(Debug)]
pub(super) struct Budget {
    words: usize,
    bytes: usize,
    /// Number of texts that were handed on between the line and the current place.
    hand_overs: usize,
}

impl Budget {
    pub(super) fn new() -> Self {
        Self { words: MAX_WORDS, bytes: MAX_BYTES, hand_overs: 0 }
    }

    /// Takes these words from the budget; returns whether they may be classed.
    pub(super) fn take_words(&mut self, words: &[LooseWord]) -> bool {
        take(&mut self.words, words.iter().map(|word| 1 + word.text.len() / BYTES_A_WORD).sum())
    }

    /// Takes this many assignments and redirections from the budget; returns whether they may be classed.
    pub(super) fn take_small(&mut self, count: usize) -> bool {
        take(&mut self.words, count)
    }

    /// Takes this many bytes from the budget; returns whether a text of that length may be scanned.
    pub(super) fn take_bytes(&mut self, count: usize) -> bool {
        take(&mut self.bytes, count)
    }

    /// Follows a text that is handed on; false if texts were handed on too often.
    pub(super) fn hand_over(&mut self) -> bool {
        let is_near = self.hand_overs < MAX_HAND_OVERS;
        self.hand_overs += usize::from(is_near);
        is_near
    }

    /// Returns to the source of the text.
    pub(super) fn hand_back(&mut self) {
        self.hand_overs -= 1;
    }
}

/// Nothing is left once something did not fit.
fn take(left: &mut usize, count: usize) -> bool {
    let rest = left.checked_sub(count);
    *left = rest.unwrap_or_default();
    rest.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_uses_up_the_rest() {
        let mut budget = Budget::new();
        assert!(budget.take_small(MAX_WORDS) && !budget.take_small(1));
        assert!(!budget.take_bytes(MAX_BYTES + 1) && !budget.take_bytes(1));
        assert!((0..MAX_HAND_OVERS).all(|_| budget.hand_over()) && !budget.hand_over());
        budget.hand_back();
        assert!(budget.hand_over());
    }
}
