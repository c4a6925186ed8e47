//! The first word of a line: its position and its standing as a command. `sudo`, `env` and assignments in front of the word are
//! skipped.

use super::{
    Names,
    builtins::{is_builtin, is_builtin_somewhere},
    line::{Line, Shape},
    weights::Weights,
    words::{WRAPPER, has},
};

/// Facts about the first word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// Whether the shell would run something of this name.
    pub resolves: bool,
    /// Whether it is the name of a well-known program, installed or not, or of a builtin of this shell.
    pub is_well_known: bool,
    /// Whether it is a builtin or a keyword of any shell.
    pub is_builtin: bool,
}

impl Standing {
    /// Collects the facts about the first word of `line`.
    #[must_use]
    pub fn of(line: &Line<'_>, names: &dyn Names, weights: &Weights) -> Self {
        let Some(first) = line.first() else { return Self::default() };
        // `ls; which less`
        let name = first.text.trim_end_matches(';');
        let is_somewhere = is_builtin_somewhere(name);
        let resolves = is_builtin(name) || (can_be_a_name(name) && names.resolves(name));
        let is_builtin = is_somewhere && resolves;
        // Another shell's builtin cannot be installed here.
        Self { resolves, is_well_known: is_builtin || weights.knows(name), is_builtin }
    }

    /// Whether it is a command, here or elsewhere.
    #[must_use]
    pub fn is_known(self) -> bool {
        self.resolves || self.is_well_known
    }
}

/// Whether the shell should be asked for it.
fn can_be_a_name(name: &str) -> bool {
    name.len() <= 128 && !name.contains(['"', '\'', '$', '`', '*', '|', ';', '<', '>', '(', ')'])
}

/// The position of the word that runs in the end: 0, or the one after `sudo -u x`, `env A=b`, `time`.
#[must_use]
pub fn head_at(line: &Line<'_>) -> usize {
    let mut at = 0;
    while at < line.tokens.len() && at < 8 {
        let token = &line.tokens[at];
        let is_behind_wrapper = at > 0;
        let skips =
            has(token.text, WRAPPER) || is_assignment(token.text) || (is_behind_wrapper && token.shape == Shape::Flag);
        if !skips {
            return at;
        }
        at += 1;
    }
    at.min(line.tokens.len().saturating_sub(1))
}

/// Whether a word is an assignment: `NAME=value`, `NAME+=value`, `NAME[1]=value`.
#[must_use]
pub fn is_assignment(text: &str) -> bool {
    let Some((name, _)) = text.split_once('=') else { return false };
    let name = name.strip_suffix('+').unwrap_or(name);
    let name = name.strip_suffix(']').and_then(|name| name.split_once('[')).map_or(name, |(name, _)| name);
    name.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
