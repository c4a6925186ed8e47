//! Recognizes texts that read as if written for a model. Cheap and easy to deceive: a hint, and nothing depends on it alone. Pure.

use std::sync::LazyLock;

use cohab_text::sanitize::is_invisible;
use regex::bytes::{RegexSet, RegexSetBuilder};

/// The patterns, a line each: what the text does, how it is looked for, the pattern.
const TABLE: &str = include_str!("instructions.table");
/// So many characters of tags or of other smuggled letters are no accident: a flag has five or six.
const MOST_HIDDEN: usize = 16;
/// What patterns take in memory, in bytes.
const MOST_PATTERN_BYTES: usize = 16 * 1024 * 1024;

static WORDS: LazyLock<Patterns> = LazyLock::new(|| Patterns::of(&["words", "letters"]));
static RAW: LazyLock<Patterns> = LazyLock::new(|| Patterns::of(&["raw"]));

struct Patterns {
    set: RegexSet,
    does: Vec<&'static str>,
}

impl Patterns {
    #[expect(clippy::expect_used, reason = "a constant table; a test reads it")]
    fn of(ways: &[&str]) -> Self {
        let rows = TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let rows = rows.filter_map(|line| {
            let mut cells = line.splitn(3, '\t');
            let (does, way, pattern) = (cells.next()?, cells.next()?, cells.next()?);
            ways.contains(&way).then(|| (does, whole(way, pattern)))
        });
        let (does, patterns): (Vec<&str>, Vec<String>) = rows.unzip();
        let mut set = RegexSetBuilder::new(patterns);
        let set = set.unicode(false).case_insensitive(true).size_limit(MOST_PATTERN_BYTES);
        Self { set: set.build().expect("patterns that can be read"), does }
    }

    fn first(&self, text: &str) -> Option<&'static str> {
        self.set.matches(text.as_bytes()).iter().next().map(|index| self.does[index])
    }
}

/// The pattern with its gaps, and for words with its ends.
fn whole(way: &str, pattern: &str) -> String {
    let mut written = String::new();
    let mut parts = pattern.split('~');
    written.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let (most, rest) = part.split_at_checked(1).unwrap_or((part, ""));
        written.push_str(&format!("(?:[^ ]+ ){{0,{most}}}{rest}"));
    }
    if way == "words" { format!(" (?:{written}) ") } else { written }
}

/// What the text does that only a text for a model does, in a few words; `None` if it does nothing of the kind.
#[must_use]
pub fn find(text: &str) -> Option<&'static str> {
    RAW.first(text).or_else(|| WORDS.first(&in_words(text)))
}

/// Whether the text holds letters that nobody sees.
#[must_use]
pub fn hides_letters(text: &str) -> bool {
    let is_hidden = |c: &char| matches!(c, '\u{e0000}'..='\u{e0fff}');
    let direction = |c: char| matches!(c, '\u{202d}' | '\u{202e}');
    text.chars().filter(is_hidden).take(MOST_HIDDEN).count() == MOST_HIDDEN || text.contains(direction)
}

/// Lower-case words with one space before, between and behind them.
fn in_words(text: &str) -> String {
    let mut words = String::with_capacity(text.len() + 2);
    words.push(' ');
    for c in text.chars() {
        if c.is_ascii_alphanumeric() {
            words.push(c.to_ascii_lowercase());
        } else if c.is_ascii() {
            if c != '\'' && !words.ends_with(' ') {
                words.push(' ');
            }
        } else if c.is_alphanumeric() {
            words.extend(c.to_lowercase());
        } else if c != '’' && !is_invisible(c) && !is_mark(c) && !words.ends_with(' ') {
            words.push(' ');
        }
    }
    if !words.ends_with(' ') {
        words.push(' ');
    }
    words
}

/// Marks on the letter before.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{93c}'..='\u{94d}')
}

#[cfg(test)]
#[path = "instructions_tests.rs"]
mod tests;
