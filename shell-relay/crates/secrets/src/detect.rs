//! Applies the rules of a literal to the text around it. Pure.

use std::{cell::OnceCell, ops::Range};

use super::{
    assignment::{self, Assignment},
    block::Block,
    chosen, document, likely,
    placeholder::{Form, form_of},
    rules::{Literal, Place, Rule, Rules},
    stand_in::is_stand_in,
    unsigned,
};

/// The number of bytes that a rule sees behind a literal: the longest secret that is replaced as one.
pub(super) const AHEAD_BYTES: usize = 3 * 1024;
/// The largest distance from the begin of a secret to its literal, in bytes.
pub(super) const BACK_BYTES: usize = 256;
/// The number of bytes that a rule sees before a literal.
pub(super) const CONTEXT_BYTES: usize = 4 * 1024;
/// Longest escape that may stand before a token, in bytes.
const MOST_BOUND_BYTES: usize = 12;
/// Largest distance of a token from a word, for tokens that count only near such a word, in bytes.
const NEAR_BYTES: usize = 128;
/// Characters that continue a token that is longer than the window.
fn is_of_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-.+/=%~".contains(&byte)
}

/// Text to replace. Offsets refer to the examined bytes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Find {
    pub(super) start: usize,
    /// A lower rank is surer: it names overlapping finds.
    pub(super) rank: Rank,
    /// Among equals the earlier line of the table counts.
    pub(super) order: usize,
    pub(super) end: usize,
    pub(super) kind: &'static str,
    /// The kind of characters that continue it beyond the window.
    pub(super) goes_on: Option<GoesOn>,
}

/// The certainty of a find.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    Exact,
    Block,
    Token,
    Place,
    Named,
    Guess,
    Generic,
    Personal,
    /// Any author may have written it.
    LookAlike,
    /// The placeholder has a mark.
    Placeholder,
}

/// The kind of bytes that follow a find that was cut by the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum GoesOn {
    Token,
    Block,
}

impl GoesOn {
    pub(super) fn takes(self, byte: u8) -> bool {
        match self {
            Self::Token => is_of_token(byte),
            Self::Block => super::block::is_of_block(byte),
        }
    }
}

/// A window of a stream with a literal in it.
struct Window<'a> {
    bytes: &'a [u8],
    /// The begin of the literal.
    hit: usize,
    /// The offset of `bytes` in the buffer.
    offset: usize,
}

/// The results of a literal.
#[derive(Default)]
pub(super) struct Found {
    pub(super) finds: Vec<Find>,
    pub(super) blocks: Vec<Block>,
}

/// Asks the rules of the literal at `hit` of `buffer`. The result depends only on the bytes from [`CONTEXT_BYTES`] before to
/// [`AHEAD_BYTES`] behind the literal.
pub(super) fn look(rules: &Rules, literal: &Literal, buffer: &[u8], hit: usize, found: &mut Found) {
    let in_case = || &buffer[hit..hit + literal.text.len()] == literal.text;
    if literal.is_exact && !(in_case() && is_bound_before(buffer, hit)) {
        return;
    }
    let offset = hit.saturating_sub(CONTEXT_BYTES);
    let window = Window { bytes: &buffer[offset..buffer.len().min(hit + AHEAD_BYTES)], hit: hit - offset, offset };
    let assigned = OnceCell::new();
    let first = found.finds.len();
    for &order in &literal.rules {
        let Some(rule) = rules.all.get(order) else { continue };
        if rule.place == Place::Block {
            found.blocks.extend(Block::begin(buffer, hit, rule.kind, order));
            continue;
        }
        // The same value was found to be random already.
        if rule.place == Place::Chosen && found.finds[first..].iter().any(|find| find.rank == Rank::Generic) {
            continue;
        }
        let (rank, ranges) = window.ask(rule, literal, &assigned);
        ranges.into_iter().for_each(|range| window.add(rule, order, range, rank, &mut found.finds));
    }
}

impl<'a> Window<'a> {
    /// Finds the text that is secret by `rule`. The assignment around the literal is read once for all rules.
    fn ask(
        &self,
        rule: &Rule,
        literal: &Literal,
        assigned: &OnceCell<Option<Assignment<'a>>>,
    ) -> (Rank, Vec<Range<usize>>) {
        let end = self.hit + literal.text.len();
        let assignment = || *assigned.get_or_init(|| assignment::around(self.bytes, (self.hit, end)));
        let one = Vec::from_iter::<Option<Range<usize>>>;
        match rule.place {
            Place::Token(before) => (Rank::Token, one(self.token(rule, before))),
            Place::Near => (Rank::Token, one(self.near(rule))),
            Place::Group(before) => (Rank::Place, one(self.group(rule, before))),
            Place::Guess => (Rank::Guess, one(self.guess(rule))),
            Place::Named => (Rank::Named, one(assignment().and_then(|assignment| self.named(rule, &assignment)))),
            Place::Generic => {
                (Rank::Generic, one(assignment().and_then(|found| found.generic(self.bytes, rule.floor))))
            }
            Place::Chosen => {
                let unsigned = || unsigned::behind(self.bytes, assignment::name_around(self.bytes, (self.hit, end)));
                (
                    Rank::Generic,
                    one(assignment().map_or_else(unsigned, |found| chosen::assigned(&found.whole(self.bytes)))),
                )
            }
            Place::Typed(before) => (Rank::Guess, one(self.typed(rule, before))),
            Place::Manifest => (Rank::Place, document::manifest(self.bytes, self.hit)),
            Place::Cookie => (Rank::Place, document::cookies(self.bytes, self.hit)),
            Place::Netrc => (Rank::Place, one(document::netrc(self.bytes, self.hit))),
            Place::LookAlike => match form_of(&self.bytes[self.hit..]) {
                Some(Form { length, is_marked: true }) => (Rank::Placeholder, one(Some(self.hit..self.hit + length))),
                form => (Rank::LookAlike, one(form.map(|form| self.hit..self.hit + form.length))),
            },
            Place::Block | Place::File => (Rank::LookAlike, Vec::new()),
        }
    }

    fn add(&self, rule: &Rule, order: usize, range: Range<usize>, rank: Rank, finds: &mut Vec<Find>) {
        let is_cut = range.end == self.bytes.len() && self.bytes.len() - self.hit == AHEAD_BYTES;
        let goes_on = (is_cut && rank < Rank::LookAlike).then_some(GoesOn::Token);
        // Bytes before the part that is held back may be gone already.
        let start = range.start.max(self.hit.saturating_sub(BACK_BYTES)) + self.offset;
        let end = range.end + self.offset;
        if start < end {
            finds.push(Find { start, rank, order, end, kind: rule.kind, goes_on });
        }
    }

    /// The group of the pattern that begins at most `before` bytes before the literal and reaches it.
    fn matched(&self, rule: &Rule, before: usize) -> Option<Range<usize>> {
        let from = self.hit.saturating_sub(before);
        let (regex, area) = (rule.regex()?, &self.bytes[from..]);
        // Most literals are followed by something else, which is seen without memory for a group.
        let group = regex.is_match(area).then(|| regex.captures(area)).flatten()?.get(1)?;
        Some(from + group.start()..from + group.end())
    }

    fn is_random(&self, rule: &Rule, range: &Range<usize>) -> bool {
        rule.floor <= 0.0 || likely::entropy(&self.bytes[range.clone()]) >= rule.floor
    }

    fn token(&self, rule: &Rule, before: usize) -> Option<Range<usize>> {
        if before == 0 && !is_bound_before(self.bytes, self.hit) {
            return None;
        }
        // The bound before a token that begins before its literal is part of the examined text.
        let range = self.matched(rule, if before == 0 { 0 } else { before + MOST_BOUND_BYTES })?;
        let holds_literal = before == 0 || (range.start <= self.hit && self.hit < range.end);
        (holds_literal && self.is_random(rule, &range)).then_some(range)
    }

    fn near(&self, rule: &Rule) -> Option<Range<usize>> {
        let from = self.hit.saturating_sub(NEAR_BYTES);
        let area = &self.bytes[from..self.bytes.len().min(self.hit + 2 * NEAR_BYTES)];
        let group = rule.regex()?.captures(area)?.get(1)?;
        let range = from + group.start()..from + group.end();
        self.is_random(rule, &range).then_some(range)
    }

    fn named(&self, rule: &Rule, assignment: &Assignment<'_>) -> Option<Range<usize>> {
        let rest = &self.bytes[assignment.value_at..];
        let group = rule.regex()?.captures(rest)?.get(1)?;
        let value = &rest[..group.end()];
        let is_value = assignment::ends_value(&rest[group.end()..]) && assignment.takes(value, rule.floor);
        is_value.then_some(assignment.value_at..assignment.value_at + value.len())
    }

    fn group(&self, rule: &Rule, before: usize) -> Option<Range<usize>> {
        let range = self.matched(rule, before)?;
        let value = &self.bytes[range.clone()];
        // `YOUR_TOKEN` stands in for a token.
        let is_plain_word = !likely::has_digit(value) && (likely::is_plain(value) || is_stand_in(value, b""));
        (!is_plain_word && !likely::is_stand_in(value) && self.is_random(rule, &range)).then_some(range)
    }

    fn typed(&self, rule: &Rule, before: usize) -> Option<Range<usize>> {
        chosen::typed(self.bytes, self.matched(rule, before)?)
    }

    fn guess(&self, rule: &Rule) -> Option<Range<usize>> {
        let range = self.matched(rule, 0)?;
        let value = &self.bytes[range.clone()];
        (likely::is_guess(value) && self.is_random(rule, &range)).then_some(range)
    }
}

/// Whether a token may begin at `at`. An escape before it ends in a letter that is not part of the token:
/// `\n`, `\u0022`, `%3D`, `ESC [31m`.
fn is_bound_before(bytes: &[u8], at: usize) -> bool {
    let Some((&last, before)) = bytes[..at].split_last() else { return true };
    if !(last.is_ascii_alphanumeric() || last == b'_') {
        return true;
    }
    let ends = |digits: usize, mark: &[u8]| {
        let start = at.checked_sub(digits).filter(|start| bytes[*start..at].iter().all(u8::is_ascii_hexdigit));
        start.is_some_and(|start| bytes[..start].ends_with(mark))
    };
    let colour = |byte: &u8| byte.is_ascii_digit() || *byte == b';';
    let is_escape = b"nrtbfv0".contains(&last) && before.ends_with(b"\\");
    let is_colour = last == b'm' && {
        let from = before.len().saturating_sub(12);
        let digits = before[from..].iter().rev().take_while(|byte| colour(byte)).count();
        before[..before.len() - digits].ends_with(b"\x1b[")
    };
    is_escape || is_colour || ends(2, b"%") || ends(4, b"\\u") || ends(2, b"\\x")
}
