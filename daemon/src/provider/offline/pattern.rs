//! Patterns of intents: sets of concepts and slots in any order.
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
    shell_line::is_variable_name,
    slots::{Mark, Slots},
    vocabulary::{is_program, is_weak},
    words::Token,
};

/// What may be left over once the terms are matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rest {
    Nothing,
    Name,
    NameOrNothing,
    Path,
    Target,
    Two,
    TwoPaths,
    Many,
    Program,
    Setting,
    Variable,
    Url,
    Branch,
    Sure,
    Text,
    Quote,
}

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
    /// Higher is better; comparable between patterns.
    pub(super) score: f32,
    /// The question's values with names filled in.
    pub(super) slots: Slots,
}

const STRONG: f32 = 3.0;
const WEAK: f32 = 1.5;
const OPTIONAL: f32 = 2.0;
const NAME: f32 = 1.0;
const PLACE: f32 = 2.5;
const UNEXPLAINED: f32 = 2.0;
/// For every word that stays unexplained, more than this must be explained: a strong term and something else.
const EXPLAINED_PER_UNEXPLAINED: f32 = 4.0;
/// A word that means something else to other patterns is a poor name.
const NAME_WITH_MEANING: f32 = 1.2;
/// Branches that are known by their name alone.
const BRANCHES: [&str; 6] = ["main", "master", "develop", "dev", "trunk", "staging"];
/// Who types these means files.
const TYPED: [&str; 10] = ["cd", "mkdir", "rm", "mv", "cp", "touch", "du", "ls", "cat", "rmdir"];
/// Unquoted search texts are at most this many words.
const MAX_TEXT_WORDS: usize = 8;

impl Pattern {
    /// Reads the notation. Unknown slots are a mistake in the table, found by a test.
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
                self.rest = match slot {
                    "name" if is_optional => Rest::NameOrNothing,
                    "name" => Rest::Name,
                    "path" => Rest::Path,
                    "target" => Rest::Target,
                    "name2" => Rest::Two,
                    "path2" => Rest::TwoPaths,
                    "names" => Rest::Many,
                    "program" => Rest::Program,
                    "var2" => Rest::Setting,
                    "var" => Rest::Variable,
                    "url" => Rest::Url,
                    "branch" => Rest::Branch,
                    "sure" => Rest::Sure,
                    "text" => Rest::Text,
                    "quote" => Rest::Quote,
                    _ => unreachable!("the table names the slot {slot}, which does not exist"),
                };
                return;
            }
        };
        if is_optional { self.optional_marks.push(mark) } else { self.required_marks.push(mark) }
    }

    /// All concepts that speak for it.
    pub(super) fn concepts(&self) -> impl Iterator<Item = &'static str> {
        self.required.iter().flatten().chain(&self.optional).copied()
    }

    /// Whether all words that have to be there are among these; most patterns fail here, and cheaply.
    pub(super) fn may_fit(&self, words: &HashSet<&str>) -> bool {
        self.required.iter().all(|term| term.iter().any(|word| words.contains(word)))
    }

    /// How well the question fits, if it does. A word that speaks of something else than this machine may only be a name.
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
        let mut named = self.take_rest(tokens, &left, &free, &mut slots)?;
        let repeats = left.iter().filter(|&&index| self.is_repeated(&tokens[index], &slots)).count();
        named.unexplained = named.unexplained.saturating_sub(repeats);
        explained += named.credit;
        // In a typed line, and where a file is spoken of, such a word is a name like any other.
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

    /// Whether the word only says again what a term says: "dns lookup".
    fn is_repeated(&self, token: &Token, slots: &Slots) -> bool {
        !slots.names.contains(&token.raw)
            && token.concept.is_some_and(|concept| self.required.iter().flatten().any(|term| *term == concept))
    }

    fn take_rest(&self, tokens: &[Token], left: &[usize], free: &[usize], slots: &mut Slots) -> Option<Taken> {
        let sure: Vec<usize> = left.iter().copied().filter(|&index| tokens[index].is_name).collect();
        let chosen = if sure.is_empty() { left } else { &sure };
        let taken = |names: &[usize]| Taken {
            credit: names.iter().map(|&index| name_credit(&tokens[index])).sum(),
            unexplained: left.len() - names.len(),
            took_place: false,
        };
        let wants = match self.rest {
            Rest::Nothing => return Some(taken(&[])),
            Rest::NameOrNothing if left.is_empty() => return Some(taken(&[])),
            Rest::Target if slots.place.is_some() && !chosen.iter().any(|&index| tokens[index].is_unknown()) => {
                return Some(Taken { credit: NAME, unexplained: left.len(), took_place: true });
            }
            Rest::Quote if !left.iter().any(|&index| tokens[index].is_quoted) => return None,
            Rest::Text | Rest::Quote => return take_text(tokens, left, free, slots, self.required.len() > 1),
            Rest::Program => {
                let Some(&index) = free.iter().rev().find(|&&index| is_program_name(&tokens[index])) else {
                    slots.place.as_ref().filter(|place| is_program(place))?;
                    return Some(Taken { credit: STRONG, unexplained: left.len(), took_place: true });
                };
                slots.names = vec![tokens[index].raw.clone()];
                let unexplained = left.iter().filter(|&&other| other != index).count();
                return Some(Taken { credit: STRONG, unexplained, took_place: false });
            }
            Rest::Sure | Rest::Url if sure.is_empty() => {
                let place = slots.place.as_deref().filter(|_| slots.is_sure_place)?;
                if self.rest == Rest::Url && !is_url(place) {
                    return None;
                }
                slots.names = vec![place.to_owned()];
                return Some(Taken { credit: STRONG, unexplained: left.len(), took_place: true });
            }
            Rest::TwoPaths if sure.is_empty() => return None,
            Rest::Path if sure.len() != 1 || !tokens[sure[0]].looks_like_path() => return None,
            Rest::Two | Rest::TwoPaths if chosen.len() == 1 && slots.place.is_some() => {
                slots.names = vec![tokens[chosen[0]].raw.clone(), slots.folder().to_owned()];
                return Some(Taken { took_place: true, ..taken(chosen) });
            }
            Rest::Name
            | Rest::NameOrNothing
            | Rest::Path
            | Rest::Target
            | Rest::Variable
            | Rest::Url
            | Rest::Branch
            | Rest::Sure => 1..=1,
            Rest::Two | Rest::TwoPaths | Rest::Setting => 2..=2,
            Rest::Many => 1..=usize::MAX,
        };
        // Two loose words are no list of names; nobody would want them deleted by guess.
        let chosen = if wants.contains(&chosen.len()) { chosen } else { left };
        if !wants.contains(&chosen.len()) {
            return None;
        }
        if self.rest == Rest::Many && sure.is_empty() && chosen.len() > 1 && !is_listed(tokens, chosen) {
            return None;
        }
        if self.rest == Rest::Setting && !is_setting_name(&tokens[chosen[0]].raw) {
            return None;
        }
        if self.rest == Rest::Url && !is_url(&tokens[chosen[0]].raw) {
            return None;
        }
        if self.rest == Rest::Branch {
            let name = &tokens[chosen[0]].norm;
            slots.names = vec![tokens[chosen[0]].raw.clone()];
            return BRANCHES.contains(&name.as_str()).then_some(Taken { credit: STRONG, ..taken(chosen) });
        }
        if self.rest == Rest::Variable && !is_variable(&tokens[chosen[0]].raw) {
            return None;
        }
        slots.names = chosen.iter().map(|&index| tokens[index].raw.clone()).collect();
        Some(taken(chosen))
    }
}

/// What became of the words that are no terms.
struct Taken {
    credit: f32,
    unexplained: usize,
    took_place: bool,
}

fn matches(token: &Token, term: &str) -> bool {
    !token.is_name && (token.concept == Some(term) || token.norm == term)
}

fn name_credit(token: &Token) -> f32 {
    match token.concept {
        Some(concept) if !is_weak(concept) => NAME - NAME_WITH_MEANING,
        _ => NAME,
    }
}

fn is_program_name(token: &Token) -> bool {
    token.is_quoted || is_program(token.norm.trim_end_matches(".service"))
}

fn is_url(raw: &str) -> bool {
    raw.starts_with("http://") || raw.starts_with("https://")
}

fn is_variable(raw: &str) -> bool {
    raw.strip_prefix('$').map_or(raw.len() > 1 && is_setting_name(raw), is_variable_name)
}

fn is_setting_name(raw: &str) -> bool {
    is_variable_name(raw) && !raw.contains(|letter: char| letter.is_ascii_lowercase())
}

/// Whether only commas and "and" stand between the words.
fn is_listed(tokens: &[Token], chosen: &[usize]) -> bool {
    chosen.windows(2).all(|pair| {
        tokens[pair[0]].ends_clause
            || tokens[pair[0] + 1..pair[1]].iter().any(|token| ["and", "und"].contains(&token.norm.as_str()))
    })
}

/// `is_told`: words of the pattern say that a text is meant.
fn take_text(tokens: &[Token], left: &[usize], free: &[usize], slots: &mut Slots, is_told: bool) -> Option<Taken> {
    if let Some(&quoted) = left.iter().find(|&&index| tokens[index].is_quoted) {
        slots.text = Some(tokens[quoted].raw.clone());
        slots.names = left.iter().filter(|&&index| index != quoted).map(|&index| tokens[index].raw.clone()).collect();
        let unexplained = left.iter().filter(|&&index| index != quoted && !tokens[index].is_name).count();
        return Some(Taken { credit: OPTIONAL, unexplained, took_place: false });
    }
    let (first, last) = (*left.first()?, *left.last()?);
    // "Find a recipe in my book": only what certainly is a place makes loose words a text to look for in it.
    let is_sure = is_told || slots.is_sure_place || left.iter().any(|&index| tokens[index].is_name);
    if slots.place.is_some() && !is_sure {
        return None;
    }
    let words: Vec<&str> = free
        .iter()
        .filter(|&&index| (first..=last).contains(&index))
        .map(|&index| tokens[index].raw.as_str())
        .collect();
    // A key word in the middle would tear the text apart: "implement a search tree" searches nothing.
    let is_torn =
        free.iter().any(|index| (first..=last).contains(index) && !left.contains(index) && !tokens[*index].is_idle());
    if is_torn || words.len() > MAX_TEXT_WORDS {
        return None;
    }
    slots.text = Some(words.join(" "));
    let credit = if first == last { name_credit(&tokens[first]) } else { NAME };
    Some(Taken { credit, unexplained: 0, took_place: false })
}
