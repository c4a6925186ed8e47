//! Removes the quotes of literal words. Text that could expand makes no word.

use super::super::{bytes::revision_braces, command::Word};

impl Word {
    /// Adds unquoted text. `None` if something in it could expand to more than a glob or the home directory.
    pub(super) fn add_bare(&mut self, raw: &str) -> Option<()> {
        // A bracket alone is the name or the end of a test; anywhere else it may begin a pattern.
        if raw.contains(['[', ']']) && !(matches!(raw, "[" | "]") && self.is_bare && self.text.is_empty()) {
            return None;
        }
        // These are no list of braces.
        if matches!(raw, "{}" | "-I{}") && self.is_bare && self.text.is_empty() {
            self.text.push_str(raw);
            return Some(());
        }
        let mut chars = raw.chars();
        while let Some(c) = chars.next() {
            match c {
                '\\' => {
                    self.is_bare = false;
                    self.text.push(chars.next().filter(|c| *c != '\n')?);
                }
                '*' | '?' => {
                    self.has_glob = true;
                    self.text.push(c);
                }
                '~' if self.text.is_empty() && self.is_bare => {
                    self.has_tilde = true;
                    self.text.push(c);
                }
                '{' => {
                    let inside = revision_braces(self.text.chars().next_back()?, chars.as_str())?;
                    self.text.extend(["{", inside, "}"]);
                    chars = chars.as_str()[inside.len() + 1..].chars();
                }
                '$' | '`' | '}' | '<' | '>' | '|' | '&' | ';' | '(' | ')' | '\'' | '"' => return None,
                c if c.is_whitespace() => return None,
                c => self.text.push(c),
            }
        }
        Some(())
    }

    /// Adds the inside of a pair of single quotes.
    pub(super) fn add_single_quoted(&mut self, inside: &str) {
        self.is_bare = false;
        self.text.push_str(inside);
    }

    /// Adds the inside of a pair of double quotes. `None` if it could expand.
    pub(super) fn add_double_quoted(&mut self, inside: &str) -> Option<()> {
        self.is_bare = false;
        let mut chars = inside.chars();
        while let Some(c) = chars.next() {
            match c {
                '$' | '`' | '!' => return None,
                '\\' => match chars.next()? {
                    escaped @ ('$' | '`' | '"' | '\\') => self.text.push(escaped),
                    '\n' | '!' => return None,
                    other => self.text.extend(['\\', other]),
                },
                c => self.text.push(c),
            }
        }
        Some(())
    }

    pub(super) fn empty() -> Self {
        Self { is_bare: true, ..Self::default() }
    }
}

/// A word from its raw text with quotes.
pub(super) fn unquote(raw: &str) -> Option<Word> {
    let mut word = Word::empty();
    let mut rest = raw;
    while let Some(first) = rest.chars().next() {
        rest = match first {
            '\'' => {
                let (inside, after) = rest[1..].split_once('\'')?;
                word.add_single_quoted(inside);
                after
            }
            '"' => {
                let (inside, after) = split_double_quoted(&rest[1..])?;
                word.add_double_quoted(inside)?;
                after
            }
            _ => {
                let (bare, after) = rest.split_at(end_of_bare(rest));
                word.add_bare(bare)?;
                after
            }
        };
    }
    Some(word)
}

fn split_double_quoted(text: &str) -> Option<(&str, &str)> {
    let mut is_escaped = false;
    let end = text.char_indices().find_map(|(at, c)| {
        let closes = c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        closes.then_some(at)
    })?;
    Some((&text[..end], &text[end + 1..]))
}

fn end_of_bare(text: &str) -> usize {
    let mut is_escaped = false;
    let end = text.char_indices().find_map(|(at, c)| {
        let begins_quote = matches!(c, '\'' | '"') && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        begins_quote.then_some(at)
    });
    end.unwrap_or(text.len())
}
