//! The rule for commands that take any words: all text after `echo` belongs to it.

use super::{Case, Opinion, has_predicate, shell_for};
use crate::{
    first_word::head_at,
    line::Shape,
    words::{NOTES, SPEAKER, has, is_contraction},
};

pub(super) fn opinion(case: &Case<'_>) -> Opinion {
    let first = case.line.first()?;
    let is_note = || has(first.text, NOTES) && !has_predicate(case) && !case.line.is_question();
    // `echo doesn't print it`: a shell would wait for the second quote.
    let is_unclosed = case.line.tokens.iter().filter(|token| is_contraction(token.text)).count() % 2 == 1;
    let speaks = !is_unclosed && case.line.tokens.get(head_at(case.line)).is_some_and(|head| has(head.text, SPEAKER));
    if speaks || case.standing.resolves && (first.text == "say" || is_note()) {
        return shell_for(first.text, "takes any text");
    }
    let has_only_names = case.line.strong_count() == 0
        && case.line.rest().iter().all(|token| matches!(token.shape, Shape::Plain | Shape::Flag | Shape::Number));
    if first.text == "man" && has_only_names && case.line.tokens.len() <= 4 && !case.line.is_question() {
        return shell_for(first.text, "shows pages by these names");
    }
    None
}
