//! The rule for whole lines that are common phrases, and for the few English sentences that are commands.

use std::{collections::HashSet, sync::LazyLock};

use super::{Case, Opinion, assistant, shell};

/// Common phrases, in small letters.
static SAID: LazyLock<HashSet<&str>> =
    LazyLock::new(|| include_str!("../phrases.txt").lines().filter(|line| !line.starts_with('#')).collect());

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
    if SAID.contains(said.as_str()) { assistant("is said to somebody") } else { None }
}
