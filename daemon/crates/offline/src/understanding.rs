//! Decides how a question is understood: by the patterns in code, or by the tables of intents. Both read it; a pattern counts where the
//! tables think first of the same.

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

/// Most telling words of a question that a pattern alone explains, and of one that it explains if a table thinks of the same.
const SHORT: usize = 2;
const MIDDLE: usize = 6;
/// The same for what no table does, and for several requests in one.
const LONG: usize = 9;

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
    let is_table = requests.first().is_some_and(|first| !is_agreed(first) && is_clear(first));
    // The longer a question is, the more it says that a pattern does not see.
    let words = tokenize(text).iter().filter(|token| !token.is_idle()).count();
    let place = requests.iter().take(PROPOSALS).position(is_agreed);
    let is_supported = match place {
        _ if meant.len() > 1 || meant.iter().all(is_alone) => words <= LONG,
        Some(0) => words <= MIDDLE || requests[0].is_supportive(),
        Some(_) | None => words <= SHORT,
    };
    match (is_table, meant.is_empty() || !is_supported) {
        (true, _) => Understood::Table(requests.swap_remove(0)),
        (false, true) => Understood::Unsure(requests),
        (false, false) => Understood::Patterns(meant),
    }
}

/// Whether the tables have nothing that does the same as a pattern.
fn is_alone(clause: &Meant) -> bool {
    AGREEMENT.get(clause.intent.name).is_none_or(|tables| tables.first() == Some(&"-"))
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
