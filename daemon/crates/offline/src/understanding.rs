//! Decides how a question is understood: by the patterns in code, or by the tables of intents. Both read it; if they disagree, the tables
//! decide if they are sure enough.

use std::{collections::HashMap, sync::LazyLock};

use super::{
    matching::{self, Meant},
    table::{self, Request},
    words::tokenize,
};

/// For each intent with patterns the table intents that mean the same: `files.tree: files.tree files.show_tree`.
static AGREEMENT: LazyLock<HashMap<&str, Vec<&str>>> = LazyLock::new(|| {
    let rows = include_str!("../intents/patterns.table").lines().filter_map(|line| line.split_once(": "));
    rows.map(|(pattern, tables)| (pattern, tables.split(' ').collect())).collect()
});

/// Intents of the tables that may speak for a pattern.
const PROPOSALS: usize = 3;

/// Most words of a question that a pattern alone explains.
const MOST_WORDS: usize = 8;

/// A question, understood.
pub(super) enum Understood {
    /// By patterns: one intent for each clause.
    Patterns(Vec<Meant>),
    /// By the tables.
    Table(Request),
    /// Not surely: what it may mean, the most probable first.
    Unsure(Vec<Request>),
}

/// Understands a question.
pub(super) fn understand(text: &str) -> Understood {
    let meant = matching::understand(text);
    let mut requests = table::understand(text);
    let is_agreed = |request: &Request| meant.iter().any(|clause| agree(clause.intent.name, request.name()));
    // Only plans in code know what an earlier answer was about.
    if !meant.is_empty() && is_follow_up(text) {
        return Understood::Patterns(meant);
    }
    let is_clear = |request: &Request| if meant.len() > 1 { request.is_certain() } else { request.is_sure() };
    let is_table = requests.first().is_some_and(|first| match requests.iter().take(PROPOSALS).position(is_agreed) {
        Some(0) => false,
        Some(_) => is_clear(first),
        // Nothing speaks for the pattern.
        None => is_clear(first) || meant.len() == 1 && first.is_likely(),
    });
    let is_supported = requests.iter().take(PROPOSALS).any(is_agreed);
    let names_word = |clause: &Meant| clause.slots.names.iter().any(|name| table::is_word(name));
    let is_long = text.split_whitespace().count() > MOST_WORDS;
    let is_doubtful = !is_supported && (is_long || meant.iter().any(names_word));
    match (is_table, meant.is_empty() || is_doubtful) {
        (true, _) => Understood::Table(requests.swap_remove(0)),
        (false, true) => Understood::Unsure(requests),
        (false, false) => Understood::Patterns(meant),
    }
}

/// Whether a question is about what an earlier answer named.
fn is_follow_up(text: &str) -> bool {
    const POINTERS: [&str; 9] = ["it", "them", "those", "these", "both", "ones", "one", "its", "es"];
    tokenize(text).iter().any(|token| !token.is_quoted && POINTERS.contains(&token.norm.as_str()))
}

/// Whether an intent with patterns and an intent of the tables mean the same.
pub(super) fn agree(pattern: &str, table: &str) -> bool {
    AGREEMENT.get(pattern).is_some_and(|tables| tables.contains(&table))
}
