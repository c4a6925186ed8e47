//! The rule for tools with subcommands or file names as operands, if no word of a sentence is in their place.

use std::sync::LazyLock;

use super::{Case, Opinion, has_predicate, shell_for};
use crate::{
    first_word::head_at,
    line::{Shape, Token},
    words::{OPERANDS, has},
};

/// Tools and their subcommands.
static SUB_COMMANDS: LazyLock<Vec<(&str, Vec<&str>)>> = LazyLock::new(|| {
    let rows = include_str!("../subcommands.table").lines().filter_map(|row| row.split_once(": "));
    rows.map(|(tool, names)| (tool, names.split(' ').collect())).collect()
});

pub(super) fn opinion(case: &Case<'_>) -> Opinion {
    let at = head_at(case.line);
    let head = case.line.tokens.get(at)?;
    let rest = case.line.tokens.get(at + 1..).unwrap_or_default();
    let speaks =
        has_predicate(case) || rest.iter().any(Token::is_strong) || case.line.is_question() || case.line.signs.comma;
    if speaks || rest.is_empty() {
        return None;
    }
    if has(head.text, OPERANDS) {
        return shell_for(head.text, "is a command, and the rest reads as names");
    }
    let (_, known) = SUB_COMMANDS.iter().find(|(tool, _)| *tool == head.text)?;
    let sub = rest.iter().find(|token| token.shape != Shape::Flag)?;
    let is_terse = rest.iter().filter(|token| token.is_stop()).count() == 0;
    if known.contains(&sub.text) && is_terse { shell_for(head.text, "is a command, with a sub-command") } else { None }
}
