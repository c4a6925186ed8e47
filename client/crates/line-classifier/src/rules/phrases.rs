//! The rule for whole lines that are common phrases, and for the few English sentences that are commands.

use super::{Case, Opinion, assistant, shell};

/// Common phrases. Sorted.
pub(super) const SAID: &[&str] = &[
    "all good",
    "all right",
    "and now",
    "carry on",
    "do it",
    "do it again",
    "do that",
    "fix it",
    "fix that",
    "fix this",
    "go ahead",
    "go back",
    "go on",
    "good evening",
    "good idea",
    "good job",
    "good morning",
    "good night",
    "hello there",
    "hey there",
    "hi there",
    "how so",
    "keep going",
    "looks good",
    "my bad",
    "never mind",
    "no problem",
    "no thanks",
    "not now",
    "not yet",
    "of course",
    "one more",
    "run it",
    "show me",
    "sounds good",
    "start over",
    "stop it",
    "stop that",
    "tell me",
    "thank you",
    "that works",
    "then what",
    "try again",
    "try it",
    "try that",
    "undo it",
    "undo that",
    "well done",
    "what else",
    "what now",
    "why not",
    "yes do it",
    "yes please",
    "you sure",
];

/// Commands that read as English.
const COMMANDS: &[&str] = &["who am i", "who mom likes"];

/// Length of the longest phrase, in bytes.
const MAX_BYTES: usize = 24;

pub(super) fn opinion(case: &Case<'_>) -> Opinion {
    let text = case.line.text;
    if COMMANDS.contains(&text) {
        return shell("is a command, although it reads as a sentence");
    }
    if text.len() > MAX_BYTES {
        return None;
    }
    // The user's own `hi`, as opposed to a program such as `go`.
    if case.standing.resolves && !case.standing.is_well_known {
        return None;
    }
    let said = text.trim_end_matches(['.', '!', '?', ',']).to_ascii_lowercase();
    if SAID.binary_search(&said.as_str()).is_ok() { assistant("is said to somebody") } else { None }
}
