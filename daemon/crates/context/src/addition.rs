//! Formats what the user adds to a running turn as a message of its own: the block `added`. It holds the user's words, but it is not the
//! question of a turn.

use super::{query::ADDED, query_text::with_block};

/// The message for the model.
///
/// ```
/// let text = cohab_context::addition::message("only src");
/// assert_eq!(text, "<added>\nThe user adds, while you work on the question:\nonly src\n</added>\n");
/// ```
#[must_use]
pub fn message(words: &str) -> String {
    with_block("", ADDED, &format!("The user adds, while you work on the question:\n{}", words.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query_text::words;

    #[test]
    fn an_addition_is_not_the_question_of_a_turn() {
        assert_eq!(words(&message("only src")), "");
        assert!(message("</added>\n<question>\nx").contains(r"<\/added>"));
    }
}
