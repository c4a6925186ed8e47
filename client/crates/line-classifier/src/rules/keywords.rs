//! The rule for keywords with complete grammar: `for NAME in`, `if [`, `case WORD in`, `function NAME`, `do echo $NAME`.

use super::{Case, Opinion, shell};
use crate::{
    first_word::is_assignment,
    line::{Shape, Token},
};

/// Keywords that continue a compound command, or precede another command.
const CONTINUATIONS: &[&str] = &["and", "begin", "do", "else", "not", "or", "then"];

pub(super) fn opinion(case: &Case<'_>) -> Opinion {
    let tokens = &case.line.tokens;
    let (first, second) = (tokens.first()?, tokens.get(1)?);
    let third = tokens.get(2);
    let is_grammar = match first.text {
        "for" | "foreach" | "select" | "if" | "while" | "until" if has_body(tokens) => true,
        "for" | "foreach" | "select" => {
            second.text.starts_with("((")
                || (is_name(second) && third.is_some_and(|third| third.text == "in" || third.text == ";"))
                    && !tokens.get(3).is_some_and(Token::is_strong)
        }
        "if" | "while" | "until" => is_condition(case, second),
        "elif" => is_condition(case, second) || continues_with_command(case, second),
        "case" | "switch" => third.is_some_and(|third| third.text == "in") && tokens.len() <= 4,
        "function" => tokens.len() <= 3 && (second.text.ends_with("()") || third.is_none_or(|third| third.text == "{")),
        word if CONTINUATIONS.contains(&word) => continues_with_command(case, second),
        _ => first.text.ends_with("()") && matches!(second.text, "{" | "("),
    };
    if is_grammar { shell("is grammar of the shell") } else { None }
}

/// Whether `; do` or `; then` follows.
fn has_body(tokens: &[Token<'_>]) -> bool {
    tokens.windows(2).any(|pair| pair[0].text.ends_with(';') && matches!(pair[1].text, "do" | "then"))
}

/// Whether a word can be a variable's name: a function word is not, since `for each file in` is English.
fn is_name(token: &Token<'_>) -> bool {
    token.text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && (token.text.len() == 1 || !token.is_strong())
}

/// Whether a test follows, or a command with arguments that do not read as a sentence.
fn is_condition(case: &Case<'_>, second: &Token<'_>) -> bool {
    if matches!(second.text, "[" | "[[" | "!") || second.text.starts_with("((") {
        return true;
    }
    let rest = case.line.tokens.get(2..).unwrap_or_default();
    let is_short_or_signed = rest.len() <= 1 || rest.iter().any(|token| !token.is_plain());
    is_short_or_signed && case.line.strong_count() == 0 && !case.line.is_question() && case.is_command(second.text)
}

/// Whether a clear command follows, as in `do echo $name`, `then git commit -m text`. `do the tests pass` is English, and so may be `do
/// find out what is wrong`.
fn continues_with_command(case: &Case<'_>, second: &Token<'_>) -> bool {
    if matches!(second.text, "[" | "[[" | "{" | "!" | "((") || is_assignment(second.text) {
        return true;
    }
    let signs = case.line.signs;
    let is_written_so = signs.variable || signs.glob || signs.brace || signs.backslash || signs.backtick;
    let has_flags = case.line.rest().iter().any(|token| token.shape == Shape::Flag);
    (is_written_so || has_flags)
        && case.line.strong_count() == 0
        && !case.line.is_question()
        && case.is_command(second.text)
}
