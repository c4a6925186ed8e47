//! The rule for two words that begin with a command: `git status`, `make install`, and `ehco one`.

use super::{Case, Opinion, assistant, has_predicate, shell_for};
use crate::{
    builtins::is_keyword,
    line::Token,
    words::{OBJECT, has},
};

pub(super) fn opinion(case: &Case<'_>) -> Opinion {
    let [first, second] = case.line.tokens.as_slice() else { return None };
    let is_said = has(second.word, OBJECT)
        || has_predicate(case)
        || case.line.text.ends_with(['?', '!', '.', ',']) && second.is_plain();
    let is_command = case.standing.is_known() && (!is_keyword(first.text) || first.text == "time");
    if has(second.word, OBJECT) && !case.standing.is_known() {
        assistant("reads as a sentence")
    } else if is_said {
        None
    } else if is_command {
        shell_for(first.text, "is a command, with one argument")
    } else if !case.standing.is_known() && is_mistyped(case, first) {
        shell_for(first.text, "is a command with two letters exchanged")
    } else {
        None
    }
}

/// Whether two neighbouring letters of a command's name are exchanged: unless short, the result is seldom a word of any language.
fn is_mistyped(case: &Case<'_>, first: &Token<'_>) -> bool {
    let letters = first.text.as_bytes();
    let is_word = (4..=16).contains(&letters.len()) && letters.iter().all(u8::is_ascii_lowercase);
    is_word
        && !first.is_stop()
        && (0..letters.len() - 1).any(|at| {
            let mut exchanged = first.text.to_owned().into_bytes();
            exchanged.swap(at, at + 1);
            exchanged != letters && std::str::from_utf8(&exchanged).is_ok_and(|name| case.is_command(name))
        })
}
