//! The rule for lines that hold no text: a question has letters or signs that can be read.

use super::{Case, Opinion, shell};

pub(super) fn opinion(case: &Case<'_>) -> Opinion {
    let is_unreadable = |char: char| char == char::REPLACEMENT_CHARACTER || char.is_control();
    let mut shown = case.line.text.chars().filter(|char| !char.is_whitespace()).peekable();
    if shown.peek().is_some() && shown.all(is_unreadable) { shell("holds no text") } else { None }
}
