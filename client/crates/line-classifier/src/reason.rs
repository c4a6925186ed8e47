//! The reason for a decision, in a few words for people.

use cohab_text::sanitize::one_line;

use super::{Decision, first_word::Standing, line::Line};

/// The longest word that is shown, in characters.
const MAX_SHOWN: usize = 24;

/// The reason for a decision, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// The text; safe for a terminal.
    pub text: String,
}

impl Reason {
    /// Makes a reason about a word of the line.
    #[must_use]
    pub fn about(word: &str, what: &str) -> Self {
        Self { text: format!("`{}` {what}", shown(word)) }
    }
}

impl From<&'static str> for Reason {
    fn from(text: &'static str) -> Self {
        Self { text: text.to_owned() }
    }
}

/// A word of the user's line for display: short, and without control characters.
pub(super) fn shown(word: &str) -> String {
    let clean = one_line(word, usize::MAX);
    let mut chars = clean.chars();
    let mut shown: String = chars.by_ref().take(MAX_SHOWN).collect();
    if chars.next().is_some() {
        shown.push_str("...");
    }
    shown
}

/// The reason of a decision by the weights.
pub(super) fn of_score(line: &Line<'_>, standing: Standing, decision: Decision) -> Reason {
    let word = line.first().map_or("", |first| first.text);
    match (decision, standing.resolves, standing.is_well_known) {
        (Decision::Assistant, true, _) => Reason::about(word, "is a command, but the rest reads as a sentence"),
        (Decision::Assistant, _, true) => Reason::about(word, "may be a command, but the rest reads as a sentence"),
        (Decision::Assistant, false, false) => {
            Reason::about(word, "is not a command here, and the line reads as a sentence")
        }
        (Decision::Shell, true, _) => Reason::about(word, "is a command, and the rest reads as its arguments"),
        (Decision::Shell, _, true) => Reason::about(word, "is a well-known command, though not here"),
        (Decision::Shell, false, false) => Reason::about(word, "is not known, but the line reads as a command"),
    }
}
