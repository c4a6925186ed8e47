//! Parses and matches the patterns of intents: sets of concepts and slots in any order.
//!
//! | term | meaning |
//! |---|---|
//! | `big` | a word of this concept, or this word, must be there; `big\|small`: one of them |
//! | `?file` | may be there |
//! | `-git` | must not be there |
//! | `<size>` `<date>` `<num>` `<ext>` `<place>` `<assign>` `<flag>` | this value must be there; `?<num>`: may |
//! | `<path2>` | as `<name2>`, but one of them certainly is a name: a file, or quoted |
//! | `<name>` | exactly one word is left over: a name; `<name2>` two, `<names>` at least one, `?<name>` at most one |
//! | `<path>` | as `<name>`, but it looks like a file or was quoted |
//! | `<target>` | a name, else a place |
//! | `<program>` | a well-known program, or one quoted word |
//! | `<sure>` | certainly a name, or a place that certainly is one; `<url>`: a web address; `<branch>`: a usual name of a branch |
//! | `<var>` | a variable: `$HOME` or `HOME` |
//! | `<var2>` | an upper-case variable and its value |
//! | `<text>` | all that is left over, at least one word; `<quote>`: in quotes |

use std::collections::HashSet;

use super::{
    credit::{EXPLAINED_PER_UNEXPLAINED, OPTIONAL, PLACE, STRONG, UNEXPLAINED, WEAK},
    name_slots::{Rest, Words},
    slots::{Mark, Slots},
    words::Token,
};

/// A parsed pattern.
#[derive(Debug)]
pub(super) struct Pattern {
    required: Vec<Vec<&'static str>>,
    optional: Vec<&'static str>,
    forbidden: Vec<&'static str>,
    required_marks: Vec<Mark>,
    optional_marks: Vec<Mark>,
    rest: Rest,
}

/// A question that fits a pattern.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Fit {
    /// The score: higher is better; comparable between patterns.
    pub(super) score: f32,
    /// The question's values with names filled in.
    pub(super) slots: Slots,
}

/// Words that limit the request. An answer that ignores the limit answers another question, and the word after it is not a name.
const LIMITS: [&str; 9] = ["with", "without", "except", "but", "only", "mit", "ohne", "außer", "nur"];
/// Commands that the user types; a question with one of them is about files.
const TYPED: [&str; 10] = ["cd", "mkdir", "rm", "mv", "cp", "touch", "du", "ls", "cat", "rmdir"];

impl Pattern {
    /// Parses the notation. An unknown slot is a mistake in the table, found by a test.
    pub(super) fn parse(notation: &'static str) -> Self {
        let mut pattern = Self {
            required: Vec::new(),
            optional: Vec::new(),
            forbidden: Vec::new(),
            required_marks: Vec::new(),
            optional_marks: Vec::new(),
            rest: Rest::Nothing,
        };
        for term in notation.split_whitespace() {
            let (bare, is_optional) = term.strip_prefix('?').map_or((term, false), |bare| (bare, true));
            if let Some(slot) = bare.strip_prefix('<').and_then(|slot| slot.strip_suffix('>')) {
                pattern.add_slot(slot, is_optional);
            } else if is_optional {
                pattern.optional.push(bare);
            } else if let Some(concept) = bare.strip_prefix('-') {
                pattern.forbidden.push(concept);
            } else {
                pattern.required.push(bare.split('|').collect());
            }
        }
        pattern
    }

    fn add_slot(&mut self, slot: &'static str, is_optional: bool) {
        let mark = match slot {
            "size" => Mark::Size,
            "date" => Mark::Date,
            "num" => Mark::Number,
            "ext" => Mark::Extension,
            "place" => Mark::Place,
            "assign" => Mark::Assignment,
            "flag" => Mark::Flag,
            _ => {
                self.rest = Rest::read(slot, is_optional)
                    .unwrap_or_else(|| unreachable!("the table names the slot {slot}, which does not exist"));
                return;
            }
        };
        if is_optional { self.optional_marks.push(mark) } else { self.required_marks.push(mark) }
    }

    /// All concepts that count for the pattern.
    pub(super) fn concepts(&self) -> impl Iterator<Item = &'static str> {
        self.required.iter().flatten().chain(&self.optional).copied()
    }

    /// Whether `words` has all required words; most patterns fail here, and cheaply.
    pub(super) fn may_fit(&self, words: &HashSet<&str>) -> bool {
        self.required.iter().all(|term| term.iter().any(|word| words.contains(word)))
    }

    /// The fit of the question, if it fits. A word from a subject other than this machine may only be a name.
    pub(super) fn fit(&self, tokens: &[Token], marks: &[Option<Mark>], slots: &Slots) -> Option<Fit> {
        if !self.required_marks.iter().all(|mark| marks.contains(&Some(*mark))) {
            return None;
        }
        let usable = |mark: Mark| self.required_marks.contains(&mark) || self.optional_marks.contains(&mark);
        let is_taken = |index: usize| marks[index].is_some_and(|mark| usable(mark) || mark != Mark::Number);
        let free: Vec<usize> = (0..tokens.len()).filter(|&index| !is_taken(index)).collect();
        if free.iter().any(|&index| self.forbidden.iter().any(|term| matches(&tokens[index], term))) {
            return None;
        }
        let (mut explained, used) = self.explain(tokens, &free)?;
        let has = |mark: Mark| marks.contains(&Some(mark));
        explained +=
            self.required_marks.iter().map(|mark| if *mark == Mark::Place { PLACE } else { STRONG }).sum::<f32>();
        explained += OPTIONAL * self.optional_marks.iter().filter(|mark| has(**mark)).count() as f32;

        let left: Vec<usize> =
            free.iter().copied().filter(|index| !used.contains(index) && !tokens[*index].is_idle()).collect();
        let mut slots = slots.clone();
        let mut named =
            self.rest.take(Words { tokens, left: &left, free: &free }, self.required.len() > 1, &mut slots)?;
        let repeats = left.iter().filter(|&&index| self.is_repeated(&tokens[index], &slots)).count();
        named.unexplained = named.unexplained.saturating_sub(repeats);
        explained += named.credit;
        // "With x in the name" names x.
        let may_name = self.rest.is_joined() || self.required.iter().flatten().any(|term| *term == "name");
        let is_said = |index: usize| slots.text.is_some() || (may_name && slots.names.contains(&tokens[index].raw));
        if left.iter().any(|&index| is_limit(tokens, index) && !is_said(index)) {
            return None;
        }
        // In a typed line, and in a question about files, such a word is a name like any other.
        let may_be_name = tokens
            .iter()
            .any(|token| matches!(token.concept, Some("file" | "folder")) || TYPED.contains(&token.norm.as_str()));
        let is_named = |token: &Token| slots.text.is_some() || (may_be_name && slots.names.contains(&token.raw));
        if left.iter().any(|&index| tokens[index].is_foreign() && !is_named(&tokens[index])) {
            return None;
        }
        let ignored_marks = [Mark::Size, Mark::Date, Mark::Extension, Mark::Place, Mark::Assignment, Mark::Flag]
            .into_iter()
            .filter(|mark| has(*mark) && !usable(*mark) && !(named.took_place && *mark == Mark::Place))
            .count();
        let unexplained = named.unexplained + ignored_marks;
        if unexplained as f32 * EXPLAINED_PER_UNEXPLAINED >= explained {
            return None;
        }
        Some(Fit { score: explained - UNEXPLAINED * unexplained as f32, slots })
    }

    /// Credit for the matched terms and the tokens they use.
    fn explain(&self, tokens: &[Token], free: &[usize]) -> Option<(f32, Vec<usize>)> {
        let mut used: Vec<usize> = Vec::new();
        let mut explained = 0.0;
        for term in &self.required {
            let hits: Vec<usize> = free
                .iter()
                .copied()
                .filter(|&index| !used.contains(&index) && term.iter().any(|word| matches(&tokens[index], word)))
                .collect();
            let first = *hits.first()?;
            explained += if tokens[first].is_idle() { WEAK } else { STRONG };
            // A name may repeat a key word: "delete the folder folder" leaves the second one.
            used.push(first);
        }
        for term in &self.optional {
            let hit = free.iter().copied().find(|&index| !used.contains(&index) && matches(&tokens[index], term));
            if let Some(index) = hit {
                explained += if tokens[index].is_idle() { WEAK / 2.0 } else { OPTIONAL };
                used.push(index);
            }
        }
        Some((explained, used))
    }

    /// Whether the word only repeats a term: "dns lookup".
    fn is_repeated(&self, token: &Token, slots: &Slots) -> bool {
        !slots.names.contains(&token.raw)
            && token.concept.is_some_and(|concept| self.required.iter().flatten().any(|term| *term == concept))
    }
}

/// Whether a word follows a limiting word, with only fillers between: "with too open".
fn is_limit(tokens: &[Token], index: usize) -> bool {
    let mut before = tokens[..index]
        .iter()
        .rev()
        .skip_while(|token| token.is_idle() && !token.is_quoted && !LIMITS.contains(&token.norm.as_str()));
    before.next().is_some_and(|token| !token.is_quoted && LIMITS.contains(&token.norm.as_str()))
}

fn matches(token: &Token, term: &str) -> bool {
    !token.is_name && (token.concept == Some(term) || token.norm == term)
}
