//! The rule for messages of programs, pasted whole: `-bash: cd: too many arguments`, `error: could not compile`.

use super::{Case, Opinion, assistant};

/// Least letters of a name before the colon.
const NAME: usize = 2;

pub(super) fn opinion(case: &Case<'_>) -> Opinion {
    let name = case.line.first()?.text.strip_suffix(':')?;
    let is_named = name.bytes().filter(u8::is_ascii_alphabetic).count() >= NAME;
    let is_message = is_named && case.line.tokens.len() > 1 && !case.standing.resolves;
    if is_message { assistant("is a message of a program") } else { None }
}
