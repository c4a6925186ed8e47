//! Finds the place of a placeholder in a line: bare, in single or in double quotes. Pure.

use std::ops::Range;

use cohab_shell_state::shell::Shell;

/// Words behind which a command begins.
const BEFORE_COMMANDS: &[&str] =
    &["!", "{", "if", "then", "else", "elif", "while", "until", "do", "time", "begin", "and", "or", "not"];

const ENDS_QUOTED: &str = "a quotation of this line has no end";
const IS_SUBSTITUTED: &str = "this line holds a substitution or a special quotation";
const IS_NESTED: &str = "this line holds parentheses";
const IS_HERE_TEXT: &str = "this line holds a here-document or a here-string";
const IS_COMMENT: &str = "this line holds a comment";
const IS_ESCAPED: &str = "it stands behind a backslash";
const IS_PROGRAM: &str = "it stands where a program is named";
const IS_FILE: &str = "it stands where a file is named";
const IS_BESIDE_QUOTE: &str = "it stands directly beside a quotation or another one";
const IS_DOUBLE_QUOTE: &str = "this line holds two single quotes in a row";
const NO_SHELL: &str = "the quoting of this shell is not known";

/// The quoting of the text around a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quoting {
    Bare,
    Single,
    Double,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PlaceholderPlace {
    pub(super) quoting: Quoting,
    /// The placeholder is the first text of its word.
    pub(super) begins_word: bool,
}

impl PlaceholderPlace {
    /// Adds `value`, one line of text, as it has to be written here.
    pub(super) fn quote(self, value: &str, shell: Shell, out: &mut String) {
        if self.quoting == Quoting::Bare {
            out.push('\'');
        }
        for character in value.chars() {
            match (self.quoting, character) {
                (Quoting::Double, '"' | '\\' | '$') => out.extend(['\\', character]),
                (Quoting::Double, '`') if shell != Shell::Fish => out.extend(['\\', character]),
                (Quoting::Double, _) => out.push(character),
                // The value is in no other memory than `out`.
                (Quoting::Bare | Quoting::Single, _) => match shell.in_single_quotes(character) {
                    Some(written) => out.push_str(written),
                    None => out.push(character),
                },
            }
        }
        if self.quoting == Quoting::Bare {
            out.push('\'');
        }
    }
}

/// The places of the placeholders at `ranges` of `line`, in their order; or the placeholder that cannot be filled in, and the reason.
pub(super) fn places(
    line: &str,
    ranges: &[Range<usize>],
    shell: Shell,
) -> Result<Vec<PlaceholderPlace>, (usize, &'static str)> {
    let mut reader = QuoteReader {
        bytes: line.as_bytes(),
        ranges,
        shell,
        at: 0,
        word: None,
        word_is_bare: true,
        names_file: false,
        names_program: true,
        places: Vec::new(),
    };
    match reader.read() {
        _ if shell == Shell::Other => Err((0, NO_SHELL)),
        Ok(()) => Ok(reader.places),
        Err(reason) => Err((reader.places.len(), reason)),
    }
}

/// Reads a line from its start to its end.
struct QuoteReader<'a> {
    bytes: &'a [u8],
    ranges: &'a [Range<usize>],
    shell: Shell,
    at: usize,
    /// The start of the current word.
    word: Option<usize>,
    /// Only quotes of the word were read so far.
    word_is_bare: bool,
    /// The word is the target of a redirection.
    names_file: bool,
    /// The word is the name of a program.
    names_program: bool,
    places: Vec<PlaceholderPlace>,
}

impl QuoteReader<'_> {
    fn read(&mut self) -> Result<(), &'static str> {
        while let Some(byte) = self.peek(0) {
            if self.is_placeholder() {
                self.bare_placeholder()?;
                continue;
            }
            match byte {
                b'\'' | b'"' => self.quotation(byte)?,
                b'\\' => self.escape()?,
                b'`' => return Err(IS_SUBSTITUTED),
                b'$' if self.peek(1).is_some_and(|next| b"({['\"".contains(&next)) => return Err(IS_SUBSTITUTED),
                b'(' | b')' => return Err(IS_NESTED),
                b'<' if self.peek(1) == Some(b'<') && !self.is_placeholder_at(self.at + 1) => return Err(IS_HERE_TEXT),
                b'<' | b'>' => self.redirection(),
                b'#' if self.word.is_none() => return Err(IS_COMMENT),
                b';' | b'|' | b'\n' => self.next_command(),
                b'&' if self.peek(1) == Some(b'>') => {
                    self.end_word();
                    self.at += 1;
                }
                b'&' => self.next_command(),
                b' ' | b'\t' | b'\r' => {
                    self.end_word();
                    self.at += 1;
                }
                _ => self.letter(),
            }
        }
        Ok(())
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    fn is_placeholder_at(&self, at: usize) -> bool {
        self.ranges.get(self.places.len()).is_some_and(|range| range.start == at)
    }

    fn is_placeholder(&self) -> bool {
        self.is_placeholder_at(self.at)
    }

    fn begin_word(&mut self) {
        if self.word.is_none() {
            (self.word, self.word_is_bare) = (Some(self.at), true);
        }
    }

    fn letter(&mut self) {
        self.begin_word();
        self.word_is_bare = false;
        self.at += 1;
    }

    fn end_word(&mut self) {
        let Some(start) = self.word.take() else { return };
        if std::mem::take(&mut self.names_file) {
            return;
        }
        let word = str::from_utf8(&self.bytes[start..self.at]).unwrap_or_default();
        self.names_program &= is_assignment(word) || BEFORE_COMMANDS.contains(&word);
    }

    fn next_command(&mut self) {
        self.end_word();
        (self.names_file, self.names_program) = (false, true);
        self.at += 1;
    }

    fn redirection(&mut self) {
        let word = self.word.and_then(|start| self.bytes.get(start..self.at)).unwrap_or_default();
        // `2>` is no word in front of a sign.
        if word.iter().all(u8::is_ascii_digit) {
            self.word = None;
        }
        self.end_word();
        self.names_file = true;
        // `>>`, `>|`, `>&` and `<>` are one sign.
        self.at += 1;
        while self.peek(0).is_some_and(|next| b">|&".contains(&next)) {
            self.at += 1;
        }
    }

    fn escape(&mut self) -> Result<(), &'static str> {
        self.begin_word();
        self.word_is_bare = false;
        self.at += 1;
        if self.is_placeholder() {
            return Err(IS_ESCAPED);
        }
        self.at += usize::from(self.at < self.bytes.len());
        Ok(())
    }

    /// Reads from the quote at hand to behind its closing quote.
    fn quotation(&mut self, quote: u8) -> Result<(), &'static str> {
        self.begin_word();
        let is_double = quote == b'"';
        let has_escapes = is_double || self.shell == Shell::Fish;
        self.at += 1;
        loop {
            if self.is_placeholder() {
                self.place(if is_double { Quoting::Double } else { Quoting::Single })?;
                continue;
            }
            match self.peek(0).ok_or(ENDS_QUOTED)? {
                byte if byte == quote => break,
                b'\\' if has_escapes => self.escape()?,
                b'`' if is_double => return Err(IS_SUBSTITUTED),
                b'$' if is_double && self.peek(1).is_some_and(|next| b"({[".contains(&next)) => {
                    return Err(IS_SUBSTITUTED);
                }
                _ => self.letter(),
            }
        }
        self.at += 1;
        // With an option of zsh's these two signs are a quote within the quotation.
        if !is_double && self.shell == Shell::Zsh && self.peek(0) == Some(b'\'') {
            return Err(IS_DOUBLE_QUOTE);
        }
        Ok(())
    }

    fn bare_placeholder(&mut self) -> Result<(), &'static str> {
        self.begin_word();
        let end = self.ranges.get(self.places.len()).map_or(self.at, |range| range.end);
        let before = self.at.checked_sub(1).and_then(|before| self.bytes.get(before));
        let is_beside = |other: Option<&u8>| other.is_some_and(|other| b"'\"".contains(other));
        let touches_another = self.ranges.iter().any(|range| range.start == end || range.end == self.at);
        if is_beside(before) || is_beside(self.bytes.get(end)) || touches_another {
            return Err(IS_BESIDE_QUOTE);
        }
        self.place(Quoting::Bare)
    }

    fn place(&mut self, quoting: Quoting) -> Result<(), &'static str> {
        if self.names_file {
            return Err(IS_FILE);
        }
        let start = self.word.unwrap_or(self.at);
        let before = str::from_utf8(&self.bytes[start..self.at]).unwrap_or_default();
        if self.names_program && !is_assignment(before) {
            return Err(IS_PROGRAM);
        }
        let range = self.ranges.get(self.places.len()).cloned().unwrap_or(self.at..self.at);
        self.places.push(PlaceholderPlace { quoting, begins_word: self.word_is_bare });
        self.word_is_bare = false;
        self.at = range.end;
        Ok(())
    }
}

/// `NAME=` and what follows.
fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}
