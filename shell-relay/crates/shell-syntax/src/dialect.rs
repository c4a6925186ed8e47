//! Checks that bash, zsh and fish read a line alike. The parsers read bash; a line that they allow is allowed in another shell
//! only if its text consists entirely of forms known to mean the same there, with every option of that shell a user is
//! likely to have set (zsh: `extended_glob`, `rc_quotes`, `glob_star_short`, `magic_equal_subst`).

mod fish;
mod own;
mod words;

use cohab_shell_state::shell::Shell;

use super::{
    bytes::revision_braces,
    command::{SimpleCommand, Word},
};
pub(crate) use own::qualifiers::only_choose;
pub use own::{Reading, reading};
use words::{Lexer, RawWord, Token, WordPart};

/// Commands that do not exist in the other shell, or do something else there. (The help of fish opens a browser.)
const BASH_ONLY: &[&str] = &["help", "compgen", "times"];

/// Whitelisted programs that are a part of fish. Their help starts a pager.
const FISH_OWN: &[&str] = &[
    "[", "cd", "command", "dirs", "echo", "false", "jobs", "printf", "pwd", "realpath", "seq", "test", "true", "type",
];

/// The reason why `shell` may read `line` otherwise than bash, which reads it as `commands`; `None` if it reads the same. The answer
/// counts only for programs and options that do nothing else in another shell.
#[must_use]
pub fn why_read_otherwise(shell: Shell, line: &str, commands: &[SimpleCommand]) -> Option<&'static str> {
    match shell {
        Shell::Bash => None,
        Shell::Other => Some("this kind of shell is not known well enough to run it unasked"),
        Shell::Zsh | Shell::Fish => {
            why_text_differs(shell, line).or_else(|| commands.iter().find_map(|command| why_differs(shell, command)))
        }
    }
}

/// Whether a pattern in a word looks into all folders below, and not in bash alone by an option.
#[inline]
#[must_use]
pub fn looks_deep(shell: Shell, word: &Word) -> bool {
    shell != Shell::Bash && word.has_glob && word.text.contains("**")
}

/// The text in bash syntax if `shell` has its own syntax for commands that it runs: some harm exists only in that syntax.
#[must_use]
pub fn as_bash(shell: Shell, line: &str) -> Option<String> {
    match shell {
        Shell::Fish => Some(fish::as_bash(line)),
        // `if [[ a ]] { b }` and the like.
        Shell::Zsh if line.contains(" { ") => Some(line.replace(" { ", " ; { ")),
        _ => None,
    }
}

fn why_differs(shell: Shell, command: &SimpleCommand) -> Option<&'static str> {
    let (name, words) = command.words.split_first()?;
    if BASH_ONLY.contains(&name.text.as_str()) {
        return Some("is a command of bash, and not the same in this shell");
    }
    match shell {
        Shell::Zsh if name.text == "cd" && words.iter().any(|word| word.text.starts_with('+')) => {
            Some("zsh takes it for an entry of the directory stack")
        }
        Shell::Fish
            if FISH_OWN.contains(&name.text.as_str())
                && words.iter().any(|word| matches!(word.text.as_str(), "-h" | "--help")) =>
        {
            Some("shows a page of fish's manual, in a pager")
        }
        _ => None,
    }
}

fn why_text_differs(shell: Shell, line: &str) -> Option<&'static str> {
    let mut is_name = true;
    let mut is_git = false;
    for token in Lexer::new(line) {
        match token {
            Token::Separator => is_name = true,
            Token::Redirect { text, before, after } => {
                if let Some(reason) = why_redirect_differs(shell, text, before, after) {
                    return Some(reason);
                }
            }
            Token::Word(word) => {
                if is_name {
                    is_git = word.raw == "git";
                    is_name = false;
                }
                if let Some(reason) = why_word_differs(shell, &word, is_git) {
                    return Some(reason);
                }
            }
            Token::Unknown => return Some(NOT_COMMON),
        }
    }
    None
}

const NOT_COMMON: &str = "uses characters that this shell may read otherwise than bash";

/// The reason why a redirection may differ. `before` is the text joined to the left of the operator `text`.
fn why_redirect_differs(shell: Shell, text: &str, before: &str, after: Option<char>) -> Option<&'static str> {
    // zsh takes one digit for the number of a stream, the others any count.
    let has_plain_number = before.len() <= 1 || !before.ends_with(|c: char| c.is_ascii_digit());
    let joins = text == "&>" && !before.is_empty();
    let may_be_range = text == "<" && after.is_none_or(|c| c.is_ascii_digit() || matches!(c, '-' | '?'));
    if !has_plain_number || joins || (shell == Shell::Zsh && may_be_range) || after == Some('?') {
        return Some("has a redirection that this shell may read otherwise than bash");
    }
    None
}

fn why_word_differs(shell: Shell, word: &RawWord<'_>, is_git: bool) -> Option<&'static str> {
    // A name that many users of zsh define as `../..` in any place.
    if shell == Shell::Zsh && word.raw.len() > 2 && word.raw.bytes().all(|byte| byte == b'.') {
        return Some("in zsh a word of dots may stand for a folder above");
    }
    for (index, part) in word.parts.iter().enumerate() {
        let reason = match *part {
            WordPart::Bare(text) => {
                let place = PartPlace { is_first: index == 0, is_last: index + 1 == word.parts.len(), is_git };
                why_bare_differs(shell, text, place)
            }
            WordPart::Single(text) => why_single_quoted_differs(shell, text, word.parts.get(index + 1)),
            WordPart::Double(text) => why_double_quoted_differs(shell, text),
        };
        if reason.is_some() {
            return reason;
        }
    }
    None
}

fn why_single_quoted_differs(shell: Shell, text: &str, next: Option<&WordPart<'_>>) -> Option<&'static str> {
    if text.contains(is_reserved) {
        return Some(NOT_COMMON);
    }
    match shell {
        Shell::Fish if text.contains("\\\\") || text.ends_with('\\') => {
            Some("in fish a backslash in single quotes may hide their end")
        }
        Shell::Zsh if matches!(next, Some(WordPart::Single(_))) => {
            Some("in zsh two single quotes may be one in a text")
        }
        _ => None,
    }
}

fn why_double_quoted_differs(shell: Shell, text: &str) -> Option<&'static str> {
    if text.contains(is_reserved) {
        return Some(NOT_COMMON);
    }
    (shell == Shell::Fish && text.contains("\\`")).then_some("fish keeps a backslash here that bash drops")
}

/// The place of a piece in a word, and the command of the word.
#[derive(Clone, Copy)]
struct PartPlace {
    is_first: bool,
    is_last: bool,
    is_git: bool,
}

/// Judges text outside quotes. Text that is not known to be the same counts as different.
fn why_bare_differs(shell: Shell, text: &str, place: PartPlace) -> Option<&'static str> {
    if place.is_first && place.is_last && matches!(text, "=" | "!" | "!=" | "[" | "]" | "{}" | "-I{}") {
        return None;
    }
    if shell == Shell::Fish && place.is_first && text.starts_with("%self") {
        return Some("in fish `%self` is the number of the shell");
    }
    if shell == Shell::Zsh
        && ((place.is_first && text.starts_with('=')) || ["==", "=~", ":~"].iter().any(|pair| text.contains(pair)))
    {
        return Some("zsh may expand what follows `=` to a path");
    }
    let text = match shell {
        Shell::Zsh if place.is_git && place.is_first && place.is_last => without_revision(text),
        _ => text,
    };
    let mut previous = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        let next = chars.clone().next();
        let starts_word = place.is_first && previous.is_none();
        let reason = match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-' | '.' | '/' | ',' | ':' | '@' | '%' | '+' | '=' => None,
            '\\' => (!chars.next().is_some_and(|c| "().*?|+-!;".contains(c))).then_some(NOT_COMMON),
            '*' if next == Some('*') => {
                let behind = &chars.as_str()[1..];
                let is_known = match shell {
                    Shell::Zsh => previous.is_none_or(|before| before == '/') && behind.starts_with('/'),
                    _ => !behind.starts_with('*') && previous != Some('*'),
                };
                chars = behind.chars();
                (!is_known || (previous.is_none() && !place.is_first))
                    .then_some("`**` means several things in this shell")
            }
            '*' => None,
            '?' if shell == Shell::Zsh => None,
            '?' => Some("`?` is no pattern in every fish"),
            '~' if starts_word => {
                let is_home = next == Some('/') || (next.is_none() && place.is_last);
                (!is_home).then_some("`~` names a folder in another way in this shell")
            }
            '~' | '^' | '#' if shell == Shell::Zsh => Some("may be a pattern of file names in zsh"),
            '^' | '#' if starts_word => Some(NOT_COMMON),
            '~' | '^' | '#' => None,
            '{' => match previous.and_then(|before| revision_braces(before, chars.as_str())) {
                Some(inside) => {
                    chars = chars.as_str()[inside.len() + 1..].chars();
                    None
                }
                None => Some(NOT_COMMON),
            },
            c if c.is_ascii() || is_reserved(c) => Some(NOT_COMMON),
            _ => None,
        };
        if reason.is_some() {
            return reason;
        }
        previous = Some(c);
    }
    None
}

/// Removes the `~3` or `^` of `HEAD~3`, `HEAD^` and `HEAD~3:a.c`. With `extended_glob` zsh takes it for a pattern of names that begin
/// with the text before it; git only reads them.
fn without_revision(text: &str) -> &str {
    let (revision, file) = text.split_once(':').unwrap_or((text, ""));
    if !file.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte)) {
        return text;
    }
    let name = revision.trim_end_matches('^');
    let name = match name.trim_end_matches(|c: char| c.is_ascii_digit()).strip_suffix('~') {
        Some(before) => before,
        None => name,
    };
    if name.starts_with(|c: char| c.is_ascii_alphanumeric()) { name } else { text }
}

/// Characters that fish uses internally for text that it has read.
fn is_reserved(c: char) -> bool {
    matches!(c, '\u{e000}'..='\u{f8ff}' | '\u{fdd0}'..='\u{fdef}')
}

#[cfg(test)]
mod tests;
