//! Two words with a command in front: `git status`, `make install`.

use super::{Case, Opinion, has_predicate, shell_for};
use crate::gate::builtins::is_keyword;

/// Second words that nobody gives to a command.
const SAID: &[&str] = &[
    "anything",
    "everything",
    "her",
    "him",
    "it",
    "me",
    "nothing",
    "please",
    "something",
    "that",
    "them",
    "these",
    "this",
    "those",
    "us",
    "what",
    "why",
    "you",
];

pub(super) fn opinion(case: &Case<'_>) -> Opinion {
    let [first, second] = case.line.tokens.as_slice() else { return None };
    let is_said = SAID.contains(&second.word)
        || has_predicate(case)
        || case.line.text.ends_with(['?', '!', '.', ',']) && second.is_plain();
    let is_command = case.standing.is_known() && (!is_keyword(first.text) || first.text == "time");
    if is_command && !is_said { shell_for(first.text, "is a command, with one argument") } else { None }
}
