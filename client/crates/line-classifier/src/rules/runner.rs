//! The rule for commands that install or start things: all but a sentence belongs to them.

use super::{Case, Opinion, has_predicate, script, shell_for};
use crate::words::{RUNNER, has};

/// Number of determiners and pronouns that make a sentence.
const SENTENCE: usize = 2;

pub(super) fn opinion(case: &Case<'_>) -> Opinion {
    let first = case.line.first()?;
    let is_sentence = case.line.strong_count() >= SENTENCE || has_predicate(case) || case.line.is_question();
    if has(first.text, RUNNER) && !is_sentence && script::opinion(case).is_none() {
        shell_for(first.text, "is a command, and the rest is no sentence")
    } else {
        None
    }
}
