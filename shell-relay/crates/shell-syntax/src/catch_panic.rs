//! Catches a panic in a check, so that a failing check neither lets a line through nor ends the shell in front of which it runs.
//! Foreign parsers read text that a model wrote; a panic in one is caught at the call and counts as "not understood". A stack overflow
//! cannot be caught; `bytes` prevents it by keeping nested text from the parsers.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// The result of `step`; `None` if it panics. Data that `step` was about to change must be sound, or rebuilt, after every statement.
pub fn caught<T>(step: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(step)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_nothing_and_not_the_end() {
        assert_eq!(caught(|| 1), Some(1));
        assert_eq!(caught(|| -> u8 { panic!("a fault of a parser") }), None);
    }
}
