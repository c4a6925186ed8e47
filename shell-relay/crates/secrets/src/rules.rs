//! Reads the table of formats, once. Pure.

use std::sync::OnceLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use regex::bytes::{Regex, RegexBuilder};

/// All rules, and the automata that find their literals.
#[derive(Debug)]
pub(super) struct Rules {
    pub(super) all: Vec<Rule>,
    /// None only if the table cannot be built, which a test rules out.
    /// Of the literals in ASCII, and of all others: each byte that occurs in an automaton makes every state of it larger.
    pub(super) automata: Vec<LiteralSearch>,
    /// Literals in the order of the automata's patterns.
    pub(super) literals: Vec<Literal>,
}

/// A literal and the rules that begin with it, as indices.
#[derive(Debug)]
pub(super) struct Literal {
    pub(super) text: &'static [u8],
    pub(super) rules: Vec<usize>,
    /// Whether all of them want the literal in exactly this case.
    pub(super) is_exact: bool,
}

/// The place of a rule's secret in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Between word bounds, from at most this many bytes before the literal.
    Token(usize),
    /// Between word bounds, not far from the literal.
    Near,
    /// The value of an assignment.
    Named,
    /// In the group of the pattern, from at most this many bytes before the literal.
    Group(usize),
    /// As `Group(0)`, and only if it looks like a secret.
    Guess,
    /// The value of an assignment to any name that sounds secret.
    Generic,
    /// As `Generic`, if the name as a whole says that any value is secret.
    Chosen,
    /// As `Group`, and any word that is no placeholder counts.
    Typed(usize),
    /// Lines up to an end line.
    Block,
    Manifest,
    Cookie,
    Netrc,
    LookAlike,
    /// Recognized by the name of the file, not by any literal.
    File,
}

/// A line of the table.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) kind: &'static str,
    pub(super) place: Place,
    /// Least entropy, bits a byte.
    pub(super) floor: f32,
    pattern: &'static str,
    regex: OnceLock<Option<Regex>>,
}

impl Rules {
    /// The rules of `rules.table`.
    pub(super) fn get() -> &'static Self {
        static RULES: OnceLock<Rules> = OnceLock::new();
        RULES.get_or_init(|| Self::read(include_str!("rules.table")))
    }

    fn read(table: &'static str) -> Self {
        let (mut all, mut literals) = (Vec::new(), Vec::<Literal>::new());
        for (rule, words) in table.lines().filter(|line| !line.starts_with('#')).filter_map(read_line) {
            for word in words.split(' ').filter(|word| *word != "-") {
                let is_exact = rule.wants_exact_literal();
                let same = |known: &&mut Literal| known.text.eq_ignore_ascii_case(word.as_bytes());
                match literals.iter_mut().find(same) {
                    Some(known) => {
                        known.is_exact &= is_exact && known.text == word.as_bytes();
                        known.rules.push(all.len());
                    }
                    None => literals.push(Literal { text: word.as_bytes(), rules: vec![all.len()], is_exact }),
                }
            }
            all.push(rule);
        }
        literals.sort_by_key(|literal| !literal.text.is_ascii());
        let (ascii, others) = literals.split_at(literals.partition_point(|literal| literal.text.is_ascii()));
        let automata = [(ascii, 0), (others, ascii.len())].into_iter().filter_map(LiteralSearch::new).collect();
        Self { all, automata, literals }
    }
}

/// Finds some of the literals.
#[derive(Debug)]
pub(super) struct LiteralSearch {
    pub(super) automaton: AhoCorasick,
    /// Place of the first one among all literals.
    pub(super) first: usize,
    /// Nothing is found in a text that is ASCII.
    pub(super) is_beyond_ascii: bool,
}

impl LiteralSearch {
    fn new((literals, first): (&[Literal], usize)) -> Option<Self> {
        let mut builder = AhoCorasick::builder();
        builder.ascii_case_insensitive(true).kind(Some(AhoCorasickKind::DFA));
        let automaton = builder.build(literals.iter().map(|literal| literal.text)).ok()?;
        Some(Self { automaton, first, is_beyond_ascii: first > 0 })
    }
}

fn read_line(line: &'static str) -> Option<(Rule, &'static str)> {
    let mut cells = line.splitn(5, " ; ");
    let (kind, place, floor, words) = (cells.next()?, cells.next()?, cells.next()?, cells.next()?);
    let rule = Rule {
        kind,
        place: read_place(place)?,
        floor: floor.parse().ok()?,
        pattern: cells.next()?,
        regex: OnceLock::new(),
    };
    Some((rule, words))
}

fn read_place(cell: &str) -> Option<Place> {
    let (word, before) = cell.split_once('-').unwrap_or((cell, "0"));
    let before = before.parse().ok()?;
    Some(match word {
        "token" => Place::Token(before),
        "near" => Place::Near,
        "named" => Place::Named,
        "place" => Place::Group(before),
        "guess" => Place::Guess,
        "generic" => Place::Generic,
        "chosen" => Place::Chosen,
        "typed" => Place::Typed(before),
        "block" => Place::Block,
        "manifest" => Place::Manifest,
        "cookie" => Place::Cookie,
        "netrc" => Place::Netrc,
        "lookalike" => Place::LookAlike,
        "pgpass" | "store" => Place::File,
        _ => return None,
    })
}

impl Rule {
    /// The pattern, compiled at its first use; its first group is the secret.
    pub(super) fn regex(&self) -> Option<&Regex> {
        let made = || {
            let (before, after) = match self.place {
                Place::Token(before) => (before, r"(?:\W|\z)"),
                Place::Group(before) | Place::Typed(before) => (before, ""),
                _ => (0, ""),
            };
            let pattern = self.pattern;
            // The bound before a token that begins before its literal is one byte or an escape.
            let text = match self.place {
                Place::Named => format!(r"\A(?i:({pattern}))"),
                Place::Near => format!(r"(?:\A|\W)({pattern})(?:\W|\z)"),
                Place::Token(0) => format!(r"\A({pattern}){after}"),
                Place::Token(_) => {
                    format!(r"\A(?s:.{{0,{before}}}?)(?:\A|\W|\\[nrt]|\x1b\[[\d;]{{0,8}}m)({pattern}){after}")
                }
                Place::Group(0) | Place::Typed(0) | Place::Guess => format!(r"\A(?:{pattern})"),
                _ => format!(r"\A(?s:.{{0,{before}}}?)(?:{pattern})"),
            };
            RegexBuilder::new(&text).unicode(false).build().ok()
        };
        self.regex.get_or_init(made).as_ref()
    }

    fn wants_exact_literal(&self) -> bool {
        matches!(self.place, Place::Token(0)) && !self.pattern.starts_with("(?i)")
    }
}
