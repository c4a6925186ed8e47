//! Reads and writes the placeholders of secrets: `<secret:KIND#N>`, and `<secret:KIND#N-MARK>` from a scrubber that can fill it in
//! again. Pure.

use std::{
    borrow::Cow,
    collections::HashMap,
    fmt,
    hash::{BuildHasher as _, RandomState},
    ops::Range,
};

/// The begin of every placeholder.
pub(super) const START: &str = "<secret:";
/// The replacement of that begin in a foreign text with a look-alike of a placeholder.
const ESCAPED_START: &str = "<quoted-secret:";
/// Values of a conversation with separate numbers; further ones are all number 0.
const MOST_VALUES: usize = 65_536;
/// Longest kind, in bytes, that a look-alike may have.
const MOST_KIND_BYTES: usize = 40;
const MOST_DIGITS: usize = 10;
/// Length of a mark: 40 random bits.
const MARK_BYTES: usize = 8;
/// The letters of a mark: letters and digits that are not taken for each other.
const MARK_LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";

/// The scrubber of a placeholder. The mark cannot be guessed: a placeholder with a mark was written by its scrubber, or copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark([u8; MARK_BYTES]);

impl Mark {
    /// A mark that no other scrubber has.
    #[must_use]
    pub fn fresh() -> Self {
        // The last 62 bits of such an id are random.
        let bits = uuid::Uuid::new_v4().as_u128();
        Self(std::array::from_fn(|at| MARK_LETTERS[(bits >> (at * 5)) as usize % MARK_LETTERS.len()]))
    }
}

impl Mark {
    /// The mark that is written so.
    #[must_use]
    pub fn of(text: &str) -> Option<Self> {
        let mark: [u8; MARK_BYTES] = text.as_bytes().try_into().ok()?;
        mark.iter().all(|letter| MARK_LETTERS.contains(letter)).then_some(Self(mark))
    }
}

impl fmt::Display for Mark {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|letter| write!(formatter, "{}", char::from(*letter)))
    }
}

/// The numbers of the values. Holds keyed hashes, no values.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    keys: [RandomState; 2],
    /// The number, and the kind by which the value was first found: it may look like another kind in another place.
    known: HashMap<[u64; 2], (usize, &'static str)>,
    escaped: u64,
}

impl Numbers {
    /// Writes the placeholder of `value`, and gives its number and kind.
    pub(super) fn write(
        &mut self,
        kind: &'static str,
        value: &[u8],
        mark: Option<Mark>,
        out: &mut Vec<u8>,
    ) -> (usize, &'static str) {
        let hash = [self.keys[0].hash_one(value), self.keys[1].hash_one(value)];
        let next = self.known.len() + 1;
        let (number, kind) = match self.known.get(&hash) {
            Some(known) => *known,
            None if next > MOST_VALUES => (0, kind),
            None => *self.known.entry(hash).or_insert((next, kind)),
        };
        let mark = mark.map(|mark| format!("-{mark}")).unwrap_or_default();
        out.extend_from_slice(format!("{START}{kind}#{number}{mark}>").as_bytes());
        (number, kind)
    }

    /// Writes the escaped start of a look-alike.
    pub(super) fn escape(&mut self, out: &mut Vec<u8>) {
        self.escaped += 1;
        out.extend_from_slice(ESCAPED_START.as_bytes());
    }

    /// Look-alikes met so far.
    pub(super) fn escaped(&self) -> u64 {
        self.escaped
    }
}

/// The form of a placeholder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Form {
    /// Length of the whole, in bytes.
    pub(super) length: usize,
    /// Whether there is a mark in it.
    pub(super) is_marked: bool,
}

/// The part of a placeholder in `rest`, which begins with [`START`] in any case, if the rest continues like one.
pub(super) fn form_of(rest: &[u8]) -> Option<Form> {
    let (length, is_marked) = name_of(rest.get(START.len()..)?)?;
    Some(Form { length: START.len() + length, is_marked })
}

/// The length of `KIND#N>` or `KIND#N-MARK>` at the start of `rest`, and whether there is a mark.
fn name_of(rest: &[u8]) -> Option<(usize, bool)> {
    let kind = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'-').count();
    let after = rest.get(kind..)?.strip_prefix(b"#")?;
    let digits = after.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if !(1..=MOST_KIND_BYTES).contains(&kind) || !(1..=MOST_DIGITS).contains(&digits) {
        return None;
    }
    let is_mark = |mark: &[u8]| mark[0] == b'-' && mark[1..].iter().all(|letter| MARK_LETTERS.contains(letter));
    let marked = after.get(digits..digits + 1 + MARK_BYTES).filter(|mark| is_mark(mark)).map_or(0, <[u8]>::len);
    let length = kind + 1 + digits + marked + 1;
    (rest.get(length - 1) == Some(&b'>')).then_some((length, marked > 0))
}

/// A placeholder in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placeholder<'a> {
    /// The place of the placeholder, in bytes.
    pub range: Range<usize>,
    /// `github-token` and the like.
    pub kind: &'a str,
    /// The number of the value.
    pub number: &'a str,
    /// The mark of the scrubber that can fill it in; empty if no scrubber can.
    pub mark: &'a str,
    /// The placeholder was escaped: it stood in a text that another scrubber has cleaned, or pretends to.
    pub is_quoted: bool,
}

impl<'a> Placeholder<'a> {
    /// The name for people and models, without the mark: `github-token#1`.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{}#{}", self.kind, self.number)
    }

    /// Whether only a scrubber with a mark can have written it.
    #[must_use]
    pub fn can_be_filled(&self) -> bool {
        !self.mark.is_empty() && !self.is_quoted
    }

    fn at(text: &'a str, at: usize, word: &str) -> Option<Self> {
        let is_quoted = text[..at].ends_with("<quoted-");
        if !is_quoted && !text[..at].ends_with('<') {
            return None;
        }
        let from = at + word.len();
        let (length, _) = name_of(&text.as_bytes()[from..])?;
        let (kind, rest) = text[from..from + length - 1].split_once('#')?;
        let (number, mark) = rest.split_once('-').unwrap_or((rest, ""));
        let start = at - if is_quoted { "<quoted-".len() } else { 1 };
        Some(Self { range: start..from + length, kind, number, mark, is_quoted })
    }
}

/// The placeholders in `text`, in their order, including the escaped ones.
pub fn placeholders(text: &str) -> impl Iterator<Item = Placeholder<'_>> {
    text.match_indices("secret:").filter_map(|(at, word)| Placeholder::at(text, at, word))
}

/// Whether there is a placeholder in `text`, or one that was escaped.
#[must_use]
pub fn holds_placeholder(text: &str) -> bool {
    placeholders(text).next().is_some()
}

/// `line` as a shell would read it once its placeholders are filled in: each is a word such as `github-token#1`.
#[must_use]
pub fn as_words(line: &str) -> Cow<'_, str> {
    let mut words = String::new();
    let mut from = 0;
    for placeholder in placeholders(line).filter(Placeholder::can_be_filled) {
        words.push_str(&line[from..placeholder.range.start]);
        words.push_str(&placeholder.name());
        from = placeholder.range.end;
    }
    if from == 0 { Cow::Borrowed(line) } else { Cow::Owned(words + &line[from..]) }
}
