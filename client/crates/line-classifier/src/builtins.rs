//! Builtins and keywords of bash, zsh and fish, and programs that every system has.

use super::words::{BUILTIN, ELSEWHERE, EVERYWHERE, KEYWORD, all_with, has};

/// Whether bash knows this name by itself; with few exceptions zsh and fish know it, too.
#[must_use]
pub fn is_builtin(name: &str) -> bool {
    has(name, BUILTIN | KEYWORD)
}

/// Whether any of bash, zsh and fish knows this name by itself.
#[must_use]
pub fn is_builtin_somewhere(name: &str) -> bool {
    has(name, BUILTIN | KEYWORD | ELSEWHERE)
}

/// Whether the grammar of bash knows this word.
#[must_use]
pub fn is_keyword(name: &str) -> bool {
    has(name, KEYWORD)
}

/// Whether nearly every system has a program of this name.
#[must_use]
pub fn is_everywhere(name: &str) -> bool {
    has(name, EVERYWHERE)
}

/// Programs that nearly every system has.
pub fn everywhere() -> impl Iterator<Item = &'static str> {
    all_with(EVERYWHERE)
}
