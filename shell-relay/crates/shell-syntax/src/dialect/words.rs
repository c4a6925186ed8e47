//! Splits a plain line into raw words with their quotes, as bash does.

/// A piece of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    Word(RawWord<'a>),
    /// The end of a simple command.
    Separator,
    /// A redirection without its target.
    Redirect {
        text: &'a str,
        /// The text joined to its left.
        before: &'a str,
        /// The character joined to its right.
        after: Option<char>,
    },
    /// A sign that no plain line has.
    Unknown,
}

/// A word as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RawWord<'a> {
    pub raw: &'a str,
    pub parts: Vec<WordPart<'a>>,
}

/// A piece of a word; quotes are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WordPart<'a> {
    Bare(&'a str),
    Single(&'a str),
    Double(&'a str),
}

const OPERATORS: [&str; 9] = ["&&", "||", "&>", ">>", ">&", "|", ";", "<", ">"];

/// Reads a line piece by piece.
pub(super) struct Lexer<'a> {
    rest: &'a str,
    /// The word right before `rest`, empty behind a blank or an operator.
    joined: &'a str,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(line: &'a str) -> Self {
        Self { rest: line, joined: "" }
    }

    fn take(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(bytes);
        self.rest = rest;
        taken
    }

    fn word(&mut self) -> Option<RawWord<'a>> {
        let start = self.rest;
        let mut parts = Vec::new();
        while let Some(first) = self.rest.chars().next().filter(|c| !ends_word(*c)) {
            let part = match first {
                '\'' => WordPart::Single(self.quoted('\'', false)?),
                '"' => WordPart::Double(self.quoted('"', true)?),
                _ => {
                    let end = end_of(self.rest, true, |c| ends_word(c) || matches!(c, '\'' | '"'));
                    WordPart::Bare(self.take(end))
                }
            };
            parts.push(part);
        }
        Some(RawWord { raw: &start[..start.len() - self.rest.len()], parts })
    }

    /// The inside of quotes; `None` if they are not closed.
    fn quoted(&mut self, quote: char, has_escapes: bool) -> Option<&'a str> {
        self.take(1);
        let end = end_of(self.rest, has_escapes, |c| c == quote);
        let inside = self.take(end);
        (!self.rest.is_empty()).then(|| {
            self.take(1);
            inside
        })
    }
}

impl<'a> Iterator for Lexer<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        let trimmed = self.rest.trim_start_matches([' ', '\t']);
        if trimmed.len() < self.rest.len() {
            self.joined = "";
            self.rest = trimmed;
        }
        let first = self.rest.chars().next()?;
        let before = std::mem::take(&mut self.joined);
        if first == '\n' {
            self.take(1);
            return Some(Token::Separator);
        }
        if let Some(operator) = OPERATORS.iter().find(|operator| self.rest.starts_with(**operator)) {
            let text = self.take(operator.len());
            let after = self.rest.chars().next();
            return Some(if text.contains(['<', '>']) {
                Token::Redirect { text, before, after }
            } else {
                Token::Separator
            });
        }
        if !ends_word(first)
            && let Some(word) = self.word()
        {
            self.joined = word.raw;
            return Some(Token::Word(word));
        }
        self.rest = "";
        Some(Token::Unknown)
    }
}

fn ends_word(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')')
}

/// The place of the first character that is an end; a backslash protects the character behind it, if it is an escape character.
fn end_of(text: &str, has_escapes: bool, is_end: impl Fn(char) -> bool) -> usize {
    let mut is_escaped = false;
    let end = text.char_indices().find_map(|(at, c)| {
        let ends = !is_escaped && is_end(c);
        is_escaped = has_escapes && c == '\\' && !is_escaped;
        ends.then_some(at)
    });
    end.unwrap_or(text.len())
}
