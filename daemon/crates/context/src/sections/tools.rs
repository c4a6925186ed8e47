//! The section on the use of tools.

use super::SystemContext;

pub(super) fn text(_: &SystemContext) -> String {
    TEXT.to_owned()
}

const TEXT: &str = "\
# Tools
- Use `read`, `glob` and `grep` to look at files, `edit` for changes, `write` for new files; use `bash` for everything else.
- Look before you change something. After a change, check that it works.
- What only reads runs at once. For the rest the user is asked. A refusal is an answer: do not try the same thing in another \
way, say what you would have done or ask.
- For work of several steps keep a list with `todo_write`, and keep it true: one task in progress, done ones marked at once. Not for \
what is done in one or two steps.
";
