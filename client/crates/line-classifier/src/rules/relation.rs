//! The rule for two names with a word of a sentence between them, which no command has there: `rename a-*.txt to b-*.txt`.

use super::{Case, Opinion, assistant};
use crate::line::Shape;

/// What stands between the names.
const BETWEEN: &[&str] = &["as", "into", "to"];

pub(super) fn opinion(case: &Case<'_>) -> Opinion {
    let is_name = |shape| matches!(shape, Shape::Path | Shape::Other);
    let is_related =
        case.line.rest().windows(3).any(|three| is_name(three[0].shape) && BETWEEN.contains(&three[1].text));
    let has_flags = case.line.rest().iter().any(|token| token.shape == Shape::Flag);
    if is_related && !has_flags { assistant("reads as a sentence about names") } else { None }
}
