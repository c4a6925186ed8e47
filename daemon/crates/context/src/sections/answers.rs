//! The section on the form of answers.

use super::SystemContext;

pub(super) fn text(_: &SystemContext) -> String {
    TEXT.to_owned()
}

const TEXT: &str = "\
# Answers
- Short markdown for a terminal: the answer first, then what is needed to trust it. No preamble, no summary of what the user \
can see. Code and commands in fenced blocks with their language. Tables only when they are narrow.
- Answer in the user's language. If you do not know, say so. If something failed, say what and why.
";
