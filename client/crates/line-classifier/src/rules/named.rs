//! The rule for what the user has made or installed: aliases, functions and programs that few people have. Such a command may take any words,
//! and what its user writes to it, as into a diary, is nobody else's.

use super::{Case, Opinion, has_predicate, shell_for};
use crate::words::{Lower, may_ask};

pub(super) fn opinion(case: &Case<'_>) -> Opinion {
    let first = case.line.first()?;
    // `convert` may begin a request as well.
    let is_installed = case.standing.resolves && !may_ask(&Lower::of(first.word));
    let is_own = !case.standing.is_well_known && (is_installed || case.names.is_own(first.text));
    let is_sentence = case.line.is_question() || has_predicate(case);
    if is_own && !is_sentence { shell_for(first.text, "is a command of your own") } else { None }
}
