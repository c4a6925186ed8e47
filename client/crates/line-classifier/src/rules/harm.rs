//! The rule for questions that begin with a command which destroys: `rm -rf ~ would delete what`. Of these, fewer words of a sentence make
//! a question than of others.

use super::{Case, Opinion, assistant};
use crate::{
    first_word::head_at,
    line::Token,
    words::{DESTROYS, asks_about_rest, has},
};

/// Number of words of a sentence.
const SENTENCE: usize = 2;

pub(super) fn opinion(case: &Case<'_>) -> Opinion {
    let head = case.line.tokens.get(head_at(case.line))?;
    if !has(head.text, DESTROYS) {
        return None;
    }
    // Letters are names of files as often as words.
    let says = |token: &&Token<'_>| {
        token.is_plain() && token.text.len() > 1 && (token.is_strong() || asks_about_rest(token.word))
    };
    let is_sentence = case.line.rest().iter().filter(says).count() >= SENTENCE;
    let asks = case.line.tokens.last().is_some_and(|last| last.text.ends_with('?') && case.line.is_question());
    if is_sentence || asks { assistant("is a question about a command that destroys") } else { None }
}
