//! The rule for lines like `delete a.txt`: they begin with a verb of requests that is not a command anywhere.

use super::{Case, Opinion, assistant};
use crate::{
    Decision,
    line::Shape,
    reason::Reason,
    words::{Lower, asks_for_work},
};

pub(super) fn opinion(case: &Case<'_>) -> Opinion {
    let first = case.line.first()?;
    // No name of a program, and two words or more behind it: `is sudo rm -rf build dangerous`.
    let is_followed = case.line.tokens.len() > 2 && case.line.tokens[1].is_plain();
    if first.is_strong() && first.is_plain() && !case.standing.is_known() && is_followed {
        return assistant("begins as a sentence does");
    }
    let has_flags = case.line.rest().iter().any(|token| token.shape == Shape::Flag);
    let asks = first.is_plain() && asks_for_work(&Lower::of(first.text)) && !case.standing.is_known();
    if asks && case.line.tokens.len() > 1 && !has_flags {
        Some((Decision::Assistant, Reason::about(first.text, "is not a command here, but a request")))
    } else {
        None
    }
}
