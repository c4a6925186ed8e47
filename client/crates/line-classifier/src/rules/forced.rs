//! The rule for lines that their first character sends: nothing, a blank or a backslash to the shell, a question mark to the assistant.

use super::{Case, Opinion, assistant, shell};

pub(super) fn opinion(case: &Case<'_>) -> Opinion {
    if case.line.tokens.is_empty() {
        return shell("is empty");
    }
    match case.whole.as_bytes().first()? {
        b'\\' => shell("begins with a backslash"),
        b'?' => assistant("begins with a question mark"),
        byte if byte.is_ascii_whitespace() => shell("begins with a blank"),
        _ => None,
    }
}
