//! The rule for commands that take any words: all text after `echo` belongs to it.

use super::{Case, Opinion, has_predicate, script, shell_for};
use crate::{
    first_word::head_at,
    line::Shape,
    words::{NOTES, RUNNER, SPEAKER, has},
};

/// Number of determiners and pronouns that make a sentence.
const SENTENCE: usize = 2;

pub(super) fn opinion(case: &Case<'_>) -> Opinion {
    let first = case.line.first()?;
    let is_note = || has(first.text, NOTES) && !has_predicate(case) && !case.line.is_question();
    let speaks = case.line.tokens.get(head_at(case.line)).is_some_and(|head| has(head.text, SPEAKER));
    if speaks || case.standing.resolves && (first.text == "say" || is_note()) {
        return shell_for(first.text, "takes any text");
    }
    let strong = case.line.strong_count();
    let is_sentence = strong >= SENTENCE || has_predicate(case) || case.line.is_question();
    if has(first.text, RUNNER) && !is_sentence && script::opinion(case).is_none() {
        return shell_for(first.text, "is a command, and the rest is no sentence");
    }
    let has_only_names = strong == 0
        && case.line.rest().iter().all(|token| matches!(token.shape, Shape::Plain | Shape::Flag | Shape::Number));
    if first.text == "man" && has_only_names && case.line.tokens.len() <= 4 && !case.line.is_question() {
        return shell_for(first.text, "shows pages by these names");
    }
    None
}
