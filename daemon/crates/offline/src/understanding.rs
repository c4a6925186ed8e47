//! Decides how a question is understood: by the patterns in code, or by the tables of intents. Both read it; a pattern counts where the
//! tables think first of the same.

use cohab_memory::past::about_past::is_about_past;

use super::{
    agreement::{agree, is_alone},
    matching::{self, Meant},
    table::{self, Request},
    words::tokenize,
};

/// Intents of the tables that may speak for a pattern.
const PROPOSALS: usize = 3;

/// Most telling words of a question that a pattern alone explains, and of one that it explains if a table thinks of the same.
const SHORT: usize = 3;
const MIDDLE: usize = 6;
/// The same for what no table does, and for several requests in one.
const LONG: usize = 9;

/// Patterns that look at the past where it is kept: the last lines of this shell, changed files, what is stashed or installed.
const OF_PAST: [&str; 9] = [
    "failures.history",
    "failures.explain",
    "files.by-name",
    "files.changed",
    "files.details",
    "files.find",
    "git.file-history",
    "git.stashes",
    "packages.where",
];

/// A question, understood.
pub(super) enum Understood {
    /// By patterns: one intent for each clause.
    Patterns(Vec<Meant>),
    /// By the tables.
    Table(Request),
    /// It asks what was done before.
    Past,
    /// Not surely: what it may mean, the most probable first.
    Unsure(Vec<Request>),
}

/// Understands a question.
pub(super) fn understand(text: &str) -> Understood {
    let mut requests = table::understand(text);
    let meant = matching::understand(text);
    let is_agreed = |request: &Request| meant.iter().any(|clause| agree(clause.intent.name, request.name()));
    // The longer a question is, the more it says that a pattern does not see.
    let words = tokenize(text).iter().filter(|token| !token.is_idle()).count();
    let is_split = meant.len() > 1;
    // In a long request, and in one of several parts, a pointer points into the request.
    let is_complete =
        (is_split || words > SHORT) && requests.first().is_some_and(|first| first.is_sure() && !first.lacks_value());
    // Only plans in code know what an earlier answer was about.
    if !meant.is_empty() && is_follow_up(text) && !is_complete {
        return Understood::Patterns(meant);
    }
    let is_clear = |request: &Request| if is_split { request.is_certain() } else { request.is_sure() };
    let is_table = requests.first().is_some_and(|first| (is_split || !is_agreed(first)) && is_clear(first));
    let place = requests.iter().take(PROPOSALS).position(is_agreed);
    let is_supported = match place {
        _ if is_split => words <= LONG && has_joint(text),
        _ if meant.iter().all(|clause| is_alone(clause.intent.name)) => words <= LONG,
        Some(0) => words <= MIDDLE || requests[0].is_supportive(),
        Some(_) | None => words <= SHORT,
    };
    let is_of_past = meant.iter().all(|clause| OF_PAST.contains(&clause.intent.name)) && !meant.is_empty();
    let is_kept_elsewhere =
        requests.first().is_some_and(|first| first.is_sure() && first.tells_past()) || is_of_past && is_supported;
    match (is_table, meant.is_empty() || !is_supported) {
        _ if is_about_past(text) && !is_kept_elsewhere => Understood::Past,
        (true, _) => Understood::Table(requests.swap_remove(0)),
        (false, true) => Understood::Unsure(requests),
        (false, false) => Understood::Patterns(meant),
    }
}

/// Whether a question may ask for several things.
fn has_joint(text: &str) -> bool {
    tokenize(text).iter().any(|token| !token.is_quoted && ["and", "then", "und", "dann"].contains(&token.norm.as_str()))
}

/// Whether a question is about what an earlier answer named.
fn is_follow_up(text: &str) -> bool {
    const POINTERS: [&str; 9] = ["it", "them", "those", "these", "both", "ones", "one", "its", "es"];
    tokenize(text).iter().any(|token| !token.is_quoted && POINTERS.contains(&token.norm.as_str()))
}
