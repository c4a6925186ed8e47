//! A check that fails must not let a line through, nor end the shell it stands in front of. Parsers of others read what a model
//! wrote; so a panic in one is caught where it is called, and counts as "not understood". What cannot be caught is an overflow of
//! the stack: that is kept away by `bytes`, which lets nothing that nests get to a parser.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// What `step` returns; `None` if it panics. Whatever it was about to change must be sound, or made anew, after every statement.
pub(super) fn caught<T>(step: impl FnOnce() -> T) -> Option<T> {
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
