//! The rule for signs at the start of a line that only shells use there.

use super::{Case, Opinion, shell};

pub(super) fn opinion(case: &Case<'_>) -> Opinion {
    let first = case.line.first()?;
    let next = first.text.as_bytes().get(1).copied();
    match first.text.as_bytes()[0] {
        b'#' => shell("is a comment"),
        b'!' | b'^' if case.line.signs.history || first.text.len() == 1 || first.text.starts_with('^') => {
            shell("refers to the history")
        }
        b'(' if is_remark(case) => None,
        b'(' | b'{' | b'<' | b'>' | b'|' | b'&' => shell("begins with a sign of the shell"),
        b'[' if matches!(first.text, "[" | "[[") => shell("is a test"),
        b'.' | b':' if next.is_none() => shell("begins with a builtin"),
        b'$' if next.is_none_or(|next| next.is_ascii_alphabetic() || b"_{(\"'?!@*#$".contains(&next)) => {
            shell("begins with a variable")
        }
        b'~' => shell("begins with a path"),
        b'-' if next.is_some() => shell("begins with an option"),
        b'%' if next.is_some_and(|next| next.is_ascii_digit()) => shell("names a job"),
        b'`' => shell("begins with a substitution"),
        _ => None,
    }
}

/// Whether a parenthesis is a remark, as in `(so far) it works`: it closes before the end, and the next words could not follow a subshell.
fn is_remark(case: &Case<'_>) -> bool {
    let tokens = &case.line.tokens;
    let Some(close) = tokens.iter().take(8).position(|token| token.text.ends_with(')')) else { return false };
    let signs = case.line.signs;
    tokens.get(close + 1).is_some_and(super::super::line::Token::is_plain)
        && !(signs.pipe || signs.separator || signs.redirection || signs.substitution)
}
