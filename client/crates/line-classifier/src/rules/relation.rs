//! The rule for two names with a word of a sentence between them, which no command has there: `rename a-*.txt to b-*.txt`, `su or sudo`,
//! `perl -pe vs sed -E`.

use super::{Case, Opinion, assistant};
use crate::{
    first_word::head_at,
    line::{Shape, Token},
    words::{SPEAKER, has},
};

/// What stands between names.
const BETWEEN: &[&str] = &["as", "into", "to"];
/// What stands between things that are compared.
const COMPARING: &[&str] = &["versus", "vs", "vs."];

pub(super) fn opinion(case: &Case<'_>) -> Opinion {
    let tokens = &case.line.tokens;
    if has(tokens.get(head_at(case.line))?.text, SPEAKER) {
        return None;
    }
    let has_flags = case.line.rest().iter().any(|token| token.shape == Shape::Flag);
    let is_name = |token: &Token<'_>| matches!(token.shape, Shape::Path | Shape::Other);
    let is_related = |three: &[Token<'_>]| match three[1].text {
        word if COMPARING.contains(&word) => true,
        "or" if three[0].shape == Shape::Flag => three[2].shape == Shape::Flag,
        "or" => case.is_command(three[0].text) && case.is_command(three[2].text),
        word => !has_flags && is_name(&three[0]) && BETWEEN.contains(&word),
    };
    // The name of the command itself is compared, but never moved.
    let is_first = |three: &&[Token<'_>]| !(BETWEEN.contains(&three[1].text) && three[0].text == tokens[0].text);
    if tokens.windows(3).filter(is_first).any(is_related) { assistant("reads as a sentence about names") } else { None }
}
