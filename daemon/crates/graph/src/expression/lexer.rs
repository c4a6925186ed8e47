//! Cuts a condition into words, numbers, texts and signs. Pure.

use std::fmt;

/// Why a text is no condition. A sentence, with the place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpressionError {
    /// In bytes from the start of the text.
    pub at: usize,
    /// The fault.
    pub message: String,
}

/// A piece of a condition.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ConditionToken<'a> {
    /// A key, an operator that is a word, `true` or `false`.
    Word(&'a str),
    Number(f64),
    Text(String),
    /// A parenthesis or a comparison.
    Sign(&'static str),
}

impl fmt::Display for ConditionToken<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Word(word) => write!(f, "`{word}`"),
            Self::Number(number) => write!(f, "`{number}`"),
            Self::Text(_) => f.write_str("a text"),
            Self::Sign(sign) => write!(f, "`{sign}`"),
        }
    }
}

/// A token with its place.
pub(super) struct Lexeme<'a> {
    pub at: usize,
    pub token: ConditionToken<'a>,
}

/// Longer signs first.
const SIGNS: [&str; 8] = ["==", "!=", "<=", ">=", "<", ">", "(", ")"];

/// The pieces of a condition.
pub(super) fn lexemes(text: &str) -> Result<Vec<Lexeme<'_>>, ExpressionError> {
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let (token, length) = match first {
            _ if first.is_whitespace() => {
                at += first.len_utf8();
                continue;
            }
            '"' => quoted(rest).ok_or_else(|| fault(at, "the text has no closing `\"`"))?,
            '0'..='9' | '-' | '.' => {
                let length = rest.find(|c: char| !c.is_ascii_digit() && !"+-.eE".contains(c)).unwrap_or(rest.len());
                let number = rest[..length].parse().ok().filter(|number: &f64| number.is_finite());
                (ConditionToken::Number(number.ok_or_else(|| fault(at, "this is no number"))?), length)
            }
            _ if first.is_ascii_alphabetic() || first == '_' => {
                let is_inside = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
                let length = rest.find(|c| !is_inside(c)).unwrap_or(rest.len());
                (ConditionToken::Word(&rest[..length]), length)
            }
            _ => match SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
                Some(sign) => (ConditionToken::Sign(sign), sign.len()),
                None if first == '=' => return Err(fault(at, "`=` is not a comparison; write `==`")),
                None => return Err(fault(at, format!("`{}` has no meaning here", first.escape_debug()))),
            },
        };
        found.push(Lexeme { at, token });
        at += length;
    }
    Ok(found)
}

/// A text in double quotes, with `\"` and `\\` in it, and its length.
fn quoted(rest: &str) -> Option<(ConditionToken<'static>, usize)> {
    let (mut text, mut is_escaped) = (String::new(), false);
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            '"' | '\\' if is_escaped => text.push(c),
            '"' => return Some((ConditionToken::Text(text), at + 1)),
            '\\' => {
                is_escaped = true;
                continue;
            }
            _ => {
                if is_escaped {
                    text.push('\\');
                }
                text.push(c);
            }
        }
        is_escaped = false;
    }
    None
}

fn fault(at: usize, message: impl Into<String>) -> ExpressionError {
    ExpressionError { at, message: message.into() }
}
