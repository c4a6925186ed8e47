//! Reads off what was done in a project what may be worth remembering, by rules alone. Pure, except for what the store reads.

use std::path::Path;

use jiff::{ToSpan as _, Zoned};

use crate::{
    inbox::{NewProposal, Proposed},
    past::{
        period::Period,
        record::PastItem,
        store::{PastQuery, PastStore},
    },
    proposals::{self, Proposal},
    record::{LEAST_TRUST, Scope, Source},
};

/// Days of commands that are looked at.
const DAYS: i64 = 60;
/// Trust of what was read off commands.
const TRUST: f64 = 0.6;

/// What the commands of the last 60 days speak for in the project with this root. Commands of turns that had read text of strangers do not count.
///
/// # Errors
/// What was done cannot be read.
pub fn proposals<P: PastStore>(past: &P, root: &Path, now: &Zoned) -> Result<Vec<NewProposal>, P::Error> {
    let from = now.checked_sub(DAYS.days()).ok().map(|from| from.timestamp());
    let period = Some(Period { from, until: None });
    let query = PastQuery { period, folder: Some(root.to_owned()), has_succeeded: Some(true), ..PastQuery::default() };
    let found = past.search(&query)?;
    let lines = found.hits.iter().flat_map(|item| match item {
        PastItem::Line(line) => vec![(line.last.line.as_str(), line.runs)],
        PastItem::Turn(turn) if turn.turn.trust < LEAST_TRUST => Vec::new(),
        PastItem::Turn(turn) => turn.turn.commands.iter().map(|command| (command.line.as_str(), 1)).collect(),
    });
    let proposal = |Proposal { text, runs, .. }| NewProposal {
        what: Proposed::Fact { text },
        scope: Scope::Project(root.to_owned()),
        trust: TRUST,
        sources: vec![Source::Commands],
        evidence: format!("it went well {runs} times"),
        folder: root.to_owned(),
    };
    Ok(proposals::of(lines).into_iter().map(proposal).collect())
}
