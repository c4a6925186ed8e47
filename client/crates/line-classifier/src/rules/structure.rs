//! The rule for shell syntax: pipes, redirections, separators, substitutions, background jobs, history references, and an assignment
//! or a path in front.

use super::{Case, Opinion, shell};
use crate::{first_word::is_assignment, line::Shape};

pub(super) fn opinion(case: &Case<'_>) -> Opinion {
    let signs = case.line.signs;
    let first = case.line.first()?;
    let found = [
        (signs.pipe, "has a pipe"),
        (signs.separator, "has more than one command"),
        (signs.redirection, "has a redirection"),
        (signs.substitution, "has a command substitution"),
        (signs.background, "runs in the background"),
        (signs.history, "refers to the history"),
        (is_assignment(first.text), "begins with an assignment"),
        (is_path(case), "begins with a path"),
    ];
    found.iter().find(|(holds, _)| *holds).and_then(|(_, reason)| shell(reason))
}

/// Whether the first word is a path; `and/or`, `start/stop` before a sentence is not.
fn is_path(case: &Case<'_>) -> bool {
    let Some(first) = case.line.first().filter(|first| first.shape == Shape::Path && first.text.contains('/')) else {
        return false;
    };
    let is_alternative =
        first.text.split('/').all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphabetic()));
    let is_prose = case.line.rest().iter().any(super::super::line::Token::is_stop) || case.line.is_question();
    !is_alternative || (!is_prose && case.line.tokens.len() < 4) || case.standing.resolves
}
