//! Tracks the values of variables, as far as a line shows them.

/// The variable with the signs at which a shell splits a value into words.
pub(super) const SEPARATORS: &str = "IFS";

/// The source of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// A number in digits, or nothing.
    Number,
    /// Names of files that a pattern matches; the value is the pattern as written.
    Matches,
    /// Anything.
    Any,
}

impl Source {
    pub(super) fn is_number(self) -> bool {
        self == Self::Number
    }
}

/// The value of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// A word as it is written, of one of the kinds of [`Written`].
    Text(String),
    Computed(Source),
}

/// The kind of a word, with its quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Written {
    /// A word that means the same in any place.
    Plain,
    /// A pattern of names of files.
    Pattern,
    /// Within single quotes, with blanks.
    Quoted,
}

/// The kind of a word; `None` if it is another one.
pub(super) fn written(word: &str) -> Option<Written> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_./:,+%@-=".contains(&byte);
    let bare = word.strip_prefix("~/").unwrap_or(word);
    if word.is_empty() {
        None
    } else if bare.bytes().all(is_plain) && !bare.starts_with('=') {
        Some(Written::Plain)
    } else if bare.bytes().all(|byte| is_plain(byte) || b"*?".contains(&byte)) && !bare.starts_with('=') {
        Some(Written::Pattern)
    } else {
        let inside = word.strip_prefix('\'')?.strip_suffix('\'')?;
        let is_text = !inside.is_empty() && inside.bytes().all(|byte| is_plain(byte) || byte == b' ');
        is_text.then_some(Written::Quoted)
    }
}

pub(super) fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
