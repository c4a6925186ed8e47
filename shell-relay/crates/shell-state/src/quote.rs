//! Quotes texts as words of a shell: every word that cohab puts into a line for a shell is quoted here. Pure.
//!
//! [`Shell::quoted`] takes any bytes and writes for one shell; the lines of an undo are in ASCII. [`word`] is for lines of any shell,
//! [`literal`] for lines that a person reads and both parsers of the policy.

use std::{ffi::OsStr, fmt::Write, os::unix::ffi::OsStrExt};

use crate::shell::Shell;

impl Shell {
    /// One word of this shell, any bytes but NUL: `'it'\''s'`, in fish `'it\'s'`.
    #[must_use]
    pub fn quoted(self, word: &OsStr) -> Vec<u8> {
        let mut quoted = Vec::with_capacity(word.len() + 2);
        quoted.push(b'\'');
        for &byte in word.as_bytes() {
            match self.in_single_quotes(char::from(byte)) {
                Some(written) => quoted.extend_from_slice(written.as_bytes()),
                None => quoted.push(byte),
            }
        }
        quoted.push(b'\'');
        quoted
    }

    /// As [`quoted`](Self::quoted), for text.
    #[must_use]
    pub fn quoted_text(self, word: &str) -> String {
        String::from_utf8_lossy(&self.quoted(word.as_ref())).into_owned()
    }

    /// The way to write a character between single quotes, if it is not the character itself. The quotes are open again behind it.
    #[inline]
    #[must_use]
    pub fn in_single_quotes(self, character: char) -> Option<&'static str> {
        match (self, character) {
            (Self::Fish, '\'') => Some("\\'"),
            (Self::Fish, '\\') => Some("\\\\"),
            (_, '\'') => Some("'\\''"),
            _ => None,
        }
    }

    /// One word of this shell in ASCII, any bytes but NUL: `'a b'`, and with a line break `$'a\012b'`, in fish `'a'\X0a'b'`.
    pub(crate) fn quoted_in_ascii(self, word: &[u8]) -> String {
        if self == Self::Fish { fish_in_ascii(word) } else { posix_in_ascii(word) }
    }
}

/// Quotes as `'...'`, or as `$'...'` if necessary.
fn posix_in_ascii(word: &[u8]) -> String {
    if word.iter().all(|byte| matches!(byte, b' '..=b'~') && *byte != b'\'') {
        return format!("'{}'", String::from_utf8_lossy(word));
    }
    let mut out = String::from("$'");
    for byte in word {
        match byte {
            b'\'' | b'\\' => out.extend(['\\', char::from(*byte)]),
            b' '..=b'~' => out.push(char::from(*byte)),
            // Never fails: it is memory.
            _ => drop(write!(out, "\\{byte:03o}")),
        }
    }
    out.push('\'');
    out
}

/// Quotes plain text, with special characters between the quotes: inside quotes fish knows no escapes for bytes.
fn fish_in_ascii(word: &[u8]) -> String {
    let mut out = String::from("'");
    for &byte in word {
        match Shell::Fish.in_single_quotes(char::from(byte)) {
            Some(written) => out.push_str(written),
            None if matches!(byte, b' '..=b'~') => out.push(char::from(byte)),
            None => drop(write!(out, "'\\X{byte:02x}'")),
        }
    }
    out.push('\'');
    out
}

/// One word that bash, zsh and fish read alike; plain text stays as it is: `a.txt`, `'a b'`, `'it'\''s'`. NUL bytes cannot be passed to a
/// program and are dropped.
#[must_use]
pub fn word(text: &str) -> String {
    let clean = text.replace('\0', "");
    if clean.starts_with(|first: char| first.is_ascii_alphanumeric() || "./_-".contains(first))
        && clean.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"./_-,:@+".contains(&byte))
    {
        return clean;
    }
    // In fish a backslash is special even in single quotes, so it is placed outside of them, like the quote itself.
    let mut quoted = String::with_capacity(clean.len() + 2);
    for (index, piece) in clean.split_inclusive(['\'', '\\']).enumerate() {
        let (plain, special) = match piece.strip_suffix(['\'', '\\']) {
            Some(plain) => (plain, &piece[plain.len()..]),
            None => (piece, ""),
        };
        if !plain.is_empty() || (index == 0 && special.is_empty()) {
            quoted.push_str(&format!("'{plain}'"));
        }
        if !special.is_empty() {
            quoted.push_str(&format!("\\{special}"));
        }
    }
    if quoted.is_empty() { "''".to_owned() } else { quoted }
}

/// The word as a person types it to mean just itself: `a=b`, `'a b'`, `"it's"`. No backslash stands outside of quotes, as the policy's
/// parsers want it. A text with a single quote and a `!` cannot be written so for an interactive shell.
#[must_use]
pub fn literal(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-+./:,%@=".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) && !word.starts_with('=') {
        return word.to_owned();
    }
    if !word.contains('\'') {
        return format!("'{word}'");
    }
    let mut quoted = String::from("\"");
    for character in word.chars() {
        if matches!(character, '\\' | '"' | '$' | '`') {
            quoted.push('\\');
        }
        quoted.push(character);
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    const TEXTS: [&str; 9] =
        ["", "a.txt", "a b", "it's", r"a\b", r"\'", "$HOME `x`", "=ls *? ~ {a,b} #", "tab\there\nand there"];
    const SHELLS: [(&str, Shell); 3] = [("bash", Shell::Bash), ("zsh", Shell::Zsh), ("fish", Shell::Fish)];

    /// The text that the real shell passes on for a word; `None` if it is not installed.
    fn passed(program: &str, word: &str) -> Option<String> {
        let printed = Command::new(program).args(["-c", &format!("printf %s {word}")]).output().ok()?.stdout;
        Some(String::from_utf8(printed).expect("text"))
    }

    #[test]
    fn each_shell_reads_its_words_back() {
        for (program, shell) in SHELLS {
            for text in TEXTS {
                for word in [shell.quoted_text(text), shell.quoted_in_ascii(text.as_bytes()), word(text)] {
                    let Some(read) = passed(program, &word) else { continue };
                    assert_eq!(read, text, "{program}: {word}");
                }
            }
        }
    }

    #[test]
    fn a_literal_word_means_itself() {
        for text in TEXTS {
            let Some(read) = passed("bash", &literal(text)) else { continue };
            assert_eq!(read, text);
        }
        assert_eq!(["a=b", "a b", "it's $5"].map(literal), ["a=b", "'a b'", "\"it's \\$5\""]);
    }
}
