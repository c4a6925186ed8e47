//! The rule for aliases and functions of the user: they may take any words.

use super::{Case, Opinion, has_predicate, shell_for};

/// Number of determiners and pronouns that make a sentence.
const SENTENCE: usize = 2;

pub(super) fn opinion(case: &Case<'_>) -> Opinion {
    let first = case.line.first()?;
    let is_own = !case.standing.is_well_known && case.names.is_own(first.text);
    let is_sentence = case.line.strong_count() >= SENTENCE || case.line.is_question() || has_predicate(case);
    if is_own && !is_sentence { shell_for(first.text, "is a command of your own") } else { None }
}
