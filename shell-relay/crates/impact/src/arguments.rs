//! Arguments of a program: its options with their values, and its operands; and the conditions about them that tables have. Pure.

use crate::words::{PatternWord, WordPiece};

/// The words behind a program's name, sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Arguments {
    /// The options: `-x` each, `--long` without value.
    pub options: Vec<String>,
    /// The values of options that have one.
    pub values: Vec<(String, PatternWord)>,
    /// The words that are no options.
    pub operands: Vec<PatternWord>,
    /// The words behind `--`.
    pub behind: Vec<PatternWord>,
    /// The value of an option is not to be read.
    pub is_unclear: bool,
}

impl Arguments {
    /// Sorts the words. `values` are the options with a value: `-x`, `--long`, and `-x[]` for one whose value is part of the word.
    pub fn of(words: &[&PatternWord], values: &[&str]) -> Self {
        let mut arguments = Self::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let raw = word.raw.as_str();
            if raw == "--" {
                arguments.behind = words.map(|word| (*word).clone()).collect();
                break;
            }
            let waiting = if raw.starts_with("--") {
                arguments.long(word, values)
            } else if raw.starts_with('-') && raw.len() > 1 {
                arguments.letters(word, values)
            } else {
                arguments.operands.push((*word).clone());
                None
            };
            if let Some(option) = waiting
                && let Some(value) = words.next()
            {
                arguments.values.push((option, (*value).clone()));
            }
        }
        arguments
    }

    /// `--option` or `--option=value`; returned is an option whose value is the next word.
    fn long(&mut self, word: &PatternWord, values: &[&str]) -> Option<String> {
        let name = word.raw.split('=').next().unwrap_or_default().to_owned();
        self.options.push(name.clone());
        if !values.contains(&name.as_str()) {
            return None;
        }
        if word.raw.len() == name.len() {
            return Some(name);
        }
        self.value(name.clone(), word.without_start(name.chars().count() + 1));
        None
    }

    /// `-abc` or `-ovalue`.
    fn letters(&mut self, word: &PatternWord, values: &[&str]) -> Option<String> {
        let letters: Vec<char> = word.raw.chars().collect();
        for (index, letter) in letters.iter().enumerate().skip(1) {
            let option = format!("-{letter}");
            self.options.push(option.clone());
            if values.contains(&format!("{option}[]").as_str()) {
                return None;
            }
            if values.contains(&option.as_str()) {
                if index + 1 == letters.len() {
                    return Some(option);
                }
                self.value(option, word.without_start(index + 1));
                return None;
            }
        }
        None
    }

    fn value(&mut self, option: String, value: Option<PatternWord>) {
        match value {
            Some(value) => self.values.push((option, value)),
            None => self.is_unclear = true,
        }
    }

    pub fn has(&self, option: &str) -> bool {
        self.options.iter().any(|one| one == option)
    }

    /// The last value of one of these options, which are joined by commas.
    pub fn value_of(&self, options: &str) -> Option<&PatternWord> {
        self.values.iter().rev().find(|(option, _)| options.split(',').any(|one| one == option)).map(|(_, value)| value)
    }

    /// All operands, also those behind `--`.
    pub fn all(&self) -> Vec<PatternWord> {
        [self.operands.as_slice(), &self.behind].concat()
    }

    /// Whether one of the alternatives of a table holds: parts joined by `&`, `!` before one that must not hold; `-x` and `--long` are
    /// options, another word is the first operand. Without an alternative it holds.
    pub fn meet(&self, condition: &str) -> bool {
        let first = self.operands.first().and_then(PatternWord::literal);
        let part = |part: &str| match part.strip_prefix('!') {
            Some(part) => !self.has(part) && first.as_deref() != Some(part),
            None => self.has(part) || first.as_deref() == Some(part),
        };
        condition.trim().is_empty() || condition.split_whitespace().any(|parts| parts.split('&').all(part))
    }
}

/// Whether a condition names the first operand, which is then no file.
pub(crate) fn names_operand(condition: &str) -> bool {
    condition.split([' ', '&']).any(|part| part.starts_with(|c: char| c.is_ascii_alphanumeric()))
}

impl PatternWord {
    /// The word without its first letters; `None` if they are quoted or expanded.
    pub fn without_start(&self, letters: usize) -> Option<Self> {
        let WordPiece::Text(text) = self.pieces.first()? else { return None };
        let start: String = self.raw.chars().take(letters).collect();
        let rest = text.strip_prefix(&start)?;
        let mut pieces = self.pieces.clone();
        pieces[0] = WordPiece::Text(rest.to_owned());
        Some(Self { pieces, raw: self.raw[start.len()..].to_owned() })
    }

    /// The word with these letters at its end.
    pub fn with_end(&self, end: &str) -> Self {
        let mut word = self.clone();
        word.pieces.push(WordPiece::Text(end.to_owned()));
        word.raw.push_str(end);
        word
    }

    /// The word without these letters at its end, if it has them.
    pub fn without_end(&self, end: &str) -> Option<Self> {
        let mut word = self.clone();
        let Some(WordPiece::Text(text)) = word.pieces.last_mut() else { return None };
        *text = text.strip_suffix(end)?.to_owned();
        word.raw.truncate(word.raw.len().saturating_sub(end.len()));
        Some(word)
    }
}
