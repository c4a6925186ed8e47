//! Tracks the values of variables, as far as a line shows them.

use cohab_policy_data::VARIABLES;
use cohab_shell_state::shell::Shell;

use crate::danger::decides_what_runs;

/// The variable with the signs at which a shell splits a value into words.
pub(super) const SEPARATORS: &str = "IFS";

/// Whether a row of the table has this name.
fn is_in(row: &str, name: &str) -> bool {
    let rows = VARIABLES.lines().filter_map(|line| line.split_once(" | ")).filter(|(how, _)| *how == row);
    rows.flat_map(|(_, names)| names.split(' ')).any(|known| known == name)
}

/// The source of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// A number in digits, or nothing.
    Number,
    /// Names of files that a pattern matches; the value is the pattern as written.
    Matches,
    /// Anything.
    Any,
}

impl Source {
    pub(super) fn is_number(self) -> bool {
        self == Self::Number
    }
}

/// The value of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// A word as it is written, of one of the kinds of [`Written`].
    Text(String),
    Computed(Source),
}

/// The kind of a word, with its quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Written {
    /// A word that means the same in any place.
    Plain,
    /// A pattern of names of files.
    Pattern,
    /// Within single quotes, with blanks.
    Quoted,
}

/// The kind of a word; `None` if it is another one.
pub(super) fn written(word: &str) -> Option<Written> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_./:,+%@-=".contains(&byte);
    let bare = word.strip_prefix("~/").unwrap_or(word);
    if word.is_empty() {
        None
    } else if bare.bytes().all(is_plain) && !bare.starts_with('=') {
        Some(Written::Plain)
    } else if bare.bytes().all(|byte| is_plain(byte) || b"*?".contains(&byte)) && !bare.starts_with('=') {
        Some(Written::Pattern)
    } else {
        let inside = word.strip_prefix('\'')?.strip_suffix('\'')?;
        let is_text = !inside.is_empty() && inside.bytes().all(|byte| is_plain(byte) || byte == b' ');
        is_text.then_some(Written::Quoted)
    }
}

/// The value of a variable of the shell's environment; `None` if it may be secret, or is not known.
pub(super) fn of_environment(name: &str, shell: Shell) -> Option<Value> {
    let is_number = is_in("number", name) && shell != Shell::Fish;
    (is_in("harmless", name) || is_in("own", name)).then_some(Value::Computed(if is_number {
        Source::Number
    } else {
        Source::Any
    }))
}

/// Whether the shell gets the variable from its environment.
pub(super) fn is_inherited(name: &str) -> bool {
    !is_in("own", name)
}

/// Whether a line of `shell` may use this name for a variable: only the line itself reads such a variable.
pub(super) fn is_own_name(name: &str, shell: Shell) -> bool {
    let is_taken = || {
        ["harmless", "own", "given", "special", "elsewhere"].iter().any(|row| is_in(row, name))
            || decides_what_runs(name)
    };
    let is_free = (shell == Shell::Bash && is_in("elsewhere", name)) || !is_taken();
    is_name(name) && is_free && !name.starts_with("__") && !name.starts_with("fish_") && name != "_"
}

pub(super) fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
