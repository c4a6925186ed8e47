//! Matches a question with intents, as a whole or clause by clause.

use std::{collections::HashSet, sync::LazyLock};

use super::{
    intent::Intent,
    pattern::Pattern,
    slots::{Slots, read_slots},
    topic,
    words::{Token, tokenize},
};

/// Most parts of a question that are answered one after the other.
const MAX_CLAUSES: usize = 4;
/// Score that a split into clauses must have beyond the score of the whole.
const SPLIT_COST: f32 = 3.5;
/// Number of intents that are proposed when none fits.
pub(super) const SUGGESTIONS: usize = 3;

/// An intent with its parsed patterns.
struct IntentEntry {
    intent: &'static Intent,
    patterns: Vec<Pattern>,
}

static ENTRIES: LazyLock<Vec<IntentEntry>> = LazyLock::new(|| {
    let read = |intent: &'static Intent| IntentEntry {
        intent,
        patterns: intent.patterns.iter().map(|notation| Pattern::parse(notation)).collect(),
    };
    topic::intents().map(read).collect()
});

/// A matched intent, with its values.
#[derive(Clone)]
pub(super) struct Meant {
    /// The intent.
    pub(super) intent: &'static Intent,
    /// Its values.
    pub(super) slots: Slots,
    score: f32,
}

/// Returns the intents of a question in order; empty if nothing is understood. A question is answered whole or not at all.
pub(super) fn understand(text: &str) -> Vec<Meant> {
    let tokens = tokenize(text);
    let whole = best(&tokens);
    let split = split_clauses(&tokens);
    match (whole, split) {
        (Some(whole), Some(clauses)) if whole.score + SPLIT_COST >= total(&clauses) => vec![whole],
        (_, Some(clauses)) => clauses,
        (Some(whole), None) => vec![whole],
        (None, None) => Vec::new(),
    }
}

/// The intents nearest to a question that none fits.
pub(super) fn nearest(text: &str) -> Vec<&'static Intent> {
    let tokens = tokenize(text);
    let mut ranked: Vec<(usize, &IntentEntry)> =
        ENTRIES.iter().map(|entry| (overlap(&tokens, entry), entry)).filter(|(shared, _)| *shared > 0).collect();
    ranked.sort_by_key(|(shared, _)| std::cmp::Reverse(*shared));
    ranked.into_iter().take(SUGGESTIONS).map(|(_, entry)| entry.intent).collect()
}

/// Number of words of the question that a pattern of the intent knows, or its example contains; significant ones count double.
fn overlap(tokens: &[Token], entry: &IntentEntry) -> usize {
    let shares = |pattern: &Pattern| {
        let concepts: Vec<&str> = pattern.concepts().collect();
        let is_shared = |token: &&Token| token.concept.is_some_and(|concept| concepts.contains(&concept));
        2 * tokens.iter().filter(is_shared).filter(|token| !token.is_idle()).count()
    };
    let example = tokenize(entry.intent.example);
    let is_in_example = |token: &&Token| !token.is_idle() && example.iter().any(|word| word.norm == token.norm);
    let by_example = tokens.iter().filter(is_in_example).count();
    entry.patterns.iter().map(shares).max().unwrap_or(0) + by_example
}

fn best(tokens: &[Token]) -> Option<Meant> {
    let (slots, marks) = read_slots(tokens);
    let words: HashSet<&str> = tokens
        .iter()
        .filter(|token| !token.is_name)
        .flat_map(|token| token.concept.into_iter().chain([token.norm.as_str()]))
        .collect();
    let mut best: Option<Meant> = None;
    for entry in ENTRIES.iter() {
        let hopeful = entry.patterns.iter().filter(|pattern| pattern.may_fit(&words));
        for fit in hopeful.filter_map(|pattern| pattern.fit(tokens, &marks, &slots)) {
            // The first of equals stays: the order of the table is the order of preference.
            if best.as_ref().is_none_or(|best| fit.score > best.score) {
                best = Some(Meant { intent: entry.intent, slots: fit.slots, score: fit.score });
            }
        }
    }
    best
}

fn split_clauses(tokens: &[Token]) -> Option<Vec<Meant>> {
    let mut clauses: Vec<Meant> = Vec::new();
    let mut start = 0;
    while start < tokens.len() {
        if clauses.len() == MAX_CLAUSES {
            return None;
        }
        // The longest clause would take the rest of the question, so the first boundary that leaves a meaningful clause wins.
        let (clause, next) =
            boundaries(tokens, start).find_map(|(end, next)| Some((best(&tokens[start..end])?, next)))?;
        clauses.push(clause);
        start = next;
    }
    (clauses.len() > 1).then_some(clauses)
}

/// Ends of clauses after `start`, each with the start of the next one.
fn boundaries(tokens: &[Token], start: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
    let is_joint = |token: &Token| {
        !token.is_quoted && ["and", "then", "und", "dann", "danach", "afterwards"].contains(&token.norm.as_str())
    };
    let skip = move |mut at: usize| {
        while tokens.get(at).is_some_and(is_joint) {
            at += 1;
        }
        at
    };
    (start + 1..=tokens.len())
        .filter(move |&end| end == tokens.len() || is_joint(&tokens[end]) || tokens[end - 1].ends_clause)
        .map(move |end| (end, skip(end)))
}

fn total(clauses: &[Meant]) -> f32 {
    clauses.iter().map(|clause| clause.score).sum()
}
