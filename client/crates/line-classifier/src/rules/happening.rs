//! The rule for what a program does or did: `apt upgrade hangs at 40%`, `$HOME points to the wrong user`. A verb and a function word or a number
//! behind it are seldom arguments.

use super::{Case, Opinion, assistant};
use crate::{
    first_word::head_at,
    words::{SPEAKER, has, tells_what_happens},
};

/// Questions that are commands as well.
const INTERROGATIVES: &[&str] = &["where", "which", "who"];

pub(super) fn opinion(case: &Case<'_>) -> Opinion {
    let head = case.line.tokens.get(head_at(case.line))?;
    let first = case.line.first()?.text;
    let signs = case.line.signs;
    let is_compound = signs.pipe || signs.separator || signs.background || signs.substitution;
    if is_compound || has(head.text, SPEAKER) || first.starts_with('#') {
        return None;
    }
    // `who owns port 80`, `which package provides x`.
    let asks = INTERROGATIVES.contains(&first)
        && case.line.rest().iter().any(|token| token.is_plain() && tells_what_happens(token.word));
    let happens = asks
        || case.line.rest().windows(2).any(|two| {
            let is_followed =
                two[1].is_plain() && two[1].is_stop() || two[1].text.starts_with(|char: char| char.is_ascii_digit());
            // The look-up comes last, as few words are followed so.
            is_followed && two[0].is_plain() && !two[0].is_strong() && tells_what_happens(two[0].word)
        });
    if happens { assistant("reads as a report about a program") } else { None }
}
