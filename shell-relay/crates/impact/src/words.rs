//! The words of a line with their patterns and variables: just the part of the language in which bash, zsh and fish agree about them.

/// A piece of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum WordPiece {
    /// Letters that stand for themselves; quoted, or without a meaning.
    Text(String),
    /// An unquoted `*`.
    Star,
    /// An unquoted `?`.
    One,
    /// `$NAME`, and whether it stands in double quotes.
    Variable(String, bool),
    /// An unquoted `~` at the beginning, alone or before `/`.
    Tilde,
}

/// One word.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PatternWord {
    pub pieces: Vec<WordPiece>,
    /// As written.
    pub raw: String,
}

impl PatternWord {
    /// The word, if nothing in it is expanded.
    pub fn literal(&self) -> Option<String> {
        let text = |piece: &WordPiece| match piece {
            WordPiece::Text(text) => Some(text.clone()),
            _ => None,
        };
        self.pieces.iter().map(text).collect()
    }
}

/// What stands in a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum WordToken {
    Word(PatternWord),
    /// `;`, a line end, `&&`, `||`.
    Next,
    /// `|`.
    Pipe,
    /// `>` and its like: the next word is replaced.
    Output,
    /// `>>` and its like: the next word is written to.
    Append,
    /// Other redirections: the next word is left alone.
    OtherFile,
}

/// Reads a line.
///
/// # Errors
/// What in it is beyond this reader, in a few words.
pub(super) fn tokens(line: &str) -> Result<Vec<WordToken>, &'static str> {
    let mut reader = WordReader { chars: line.chars().collect(), at: 0, out: Vec::new() };
    while let Some(c) = reader.peek() {
        reader.step(c)?;
    }
    Ok(reader.out)
}

struct WordReader {
    chars: Vec<char>,
    at: usize,
    out: Vec<WordToken>,
}

impl WordReader {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn eat(&mut self, c: char) -> bool {
        let is_next = self.peek() == Some(c);
        self.at += usize::from(is_next);
        is_next
    }

    fn step(&mut self, c: char) -> Result<(), &'static str> {
        match c {
            ' ' | '\t' => self.at += 1,
            ';' | '\n' => self.push(WordToken::Next),
            '&' => {
                self.at += 1;
                match self.peek() {
                    Some('&') => self.push(WordToken::Next),
                    Some('>') => {
                        self.at += 1;
                        let token = if self.eat('>') { WordToken::Append } else { WordToken::Output };
                        self.out.push(token);
                    }
                    _ => return Err("what runs in the background"),
                }
            }
            '|' => {
                self.at += 1;
                match self.peek() {
                    Some('|') => self.push(WordToken::Next),
                    Some('&') => return Err("a pipe of errors"),
                    _ => self.out.push(WordToken::Pipe),
                }
            }
            '<' | '>' => self.redirect()?,
            '(' | ')' => return Err("what is in parentheses"),
            '#' => return Err("what a comment hides"),
            _ => self.word()?,
        }
        Ok(())
    }

    fn push(&mut self, token: WordToken) {
        self.at += 1;
        self.out.push(token);
    }

    fn redirect(&mut self) -> Result<(), &'static str> {
        let is_output = self.eat('>');
        if !is_output {
            self.at += 1;
        }
        match (is_output, self.peek()) {
            (_, Some('(')) => return Err("which files a substitution names"),
            (false, Some('<')) => return Err("a text within the command"),
            (true, Some('>')) | (false, Some('>')) => self.push(WordToken::Append),
            // `2>&1` and the like name no file.
            (_, Some('&')) => {
                self.at += 1;
                while self.peek().is_some_and(|c| c.is_ascii_digit() || c == '-') {
                    self.at += 1;
                }
                if self.peek().is_some_and(|c| !matches!(c, ' ' | '\t' | '\n' | ';' | '|' | '&')) {
                    return Err("an unusual redirection");
                }
            }
            (true, Some('|')) => self.push(WordToken::Output),
            (true, _) => self.out.push(WordToken::Output),
            (false, _) => self.out.push(WordToken::OtherFile),
        }
        Ok(())
    }

    fn word(&mut self) -> Result<(), &'static str> {
        let start = self.at;
        let mut word = PatternWord::default();
        while let Some(c) = self.peek() {
            match c {
                ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')' => break,
                '\'' => self.single(&mut word)?,
                '"' => self.double(&mut word)?,
                '\\' => match self.chars.get(self.at + 1) {
                    Some('\n') | None => return Err("a line that continues"),
                    Some(escaped) => {
                        text(&mut word, *escaped);
                        self.at += 2;
                    }
                },
                '$' => self.variable(&mut word, false)?,
                '`' => return Err("which files a substitution names"),
                '*' if self.chars.get(self.at + 1) == Some(&'*') => return Err("which files `**` matches"),
                '*' => self.piece(&mut word, WordPiece::Star),
                '?' => self.piece(&mut word, WordPiece::One),
                '[' | ']' => return Err("which files the pattern in brackets matches"),
                '{' | '}' => return Err("which words the braces stand for"),
                '^' | '!' | '#' | '=' if word.pieces.is_empty() && c != '#' => return Err("an unusual word"),
                '~' if word.pieces.is_empty() => {
                    if self.chars.get(self.at + 1).is_some_and(|next| !"/ \t\n;|&<>".contains(*next)) {
                        return Err("another user's home");
                    }
                    self.piece(&mut word, WordPiece::Tilde);
                }
                _ => {
                    text(&mut word, c);
                    self.at += 1;
                }
            }
        }
        word.raw = self.chars[start..self.at].iter().collect();
        // A number right before `>` belongs to it.
        let is_descriptor =
            matches!(self.peek(), Some('<' | '>')) && word.raw.bytes().all(|byte| byte.is_ascii_digit());
        if !is_descriptor {
            self.out.push(WordToken::Word(word));
        }
        Ok(())
    }

    fn piece(&mut self, word: &mut PatternWord, piece: WordPiece) {
        word.pieces.push(piece);
        self.at += 1;
    }

    fn single(&mut self, word: &mut PatternWord) -> Result<(), &'static str> {
        self.at += 1;
        let rest = &self.chars[self.at..];
        let end = rest.iter().position(|c| *c == '\'').ok_or("an open quote")?;
        let quoted: String = rest[..end].iter().collect();
        word.pieces.push(WordPiece::Text(quoted));
        self.at += end + 1;
        Ok(())
    }

    fn double(&mut self, word: &mut PatternWord) -> Result<(), &'static str> {
        self.at += 1;
        word.pieces.push(WordPiece::Text(String::new()));
        loop {
            match self.peek().ok_or("an open quote")? {
                '"' => break,
                '$' => self.variable(word, true)?,
                '`' => return Err("which files a substitution names"),
                '\\' => return Err("an escape within quotes"),
                c => {
                    text(word, c);
                    self.at += 1;
                }
            }
        }
        self.at += 1;
        Ok(())
    }

    fn variable(&mut self, word: &mut PatternWord, is_quoted: bool) -> Result<(), &'static str> {
        self.at += 1;
        let has_brace = self.eat('{');
        let start = self.at;
        while self.peek().is_some_and(|c| c.is_ascii_alphanumeric() || c == '_') {
            self.at += 1;
        }
        let name: String = self.chars[start..self.at].iter().collect();
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        if !is_name || has_brace && !self.eat('}') || !has_brace && matches!(self.peek(), Some('[' | ':')) {
            return Err("the value of an expansion such as `${x:-y}` or `$1`");
        }
        word.pieces.push(WordPiece::Variable(name, is_quoted));
        Ok(())
    }
}

fn text(word: &mut PatternWord, c: char) {
    match word.pieces.last_mut() {
        Some(WordPiece::Text(text)) => text.push(c),
        _ => word.pieces.push(WordPiece::Text(c.to_string())),
    }
}
