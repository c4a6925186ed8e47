//! Reads off what was done in a project what may be worth remembering, by rules alone; [`episodes`] is for the pass of a model.
//! Pure, except for what the store and `read` read.

pub mod episodes;

use std::path::Path;

use cohab_secrets::holds_placeholder;
use jiff::{Timestamp, ToSpan as _, Zoned};

use crate::{
    inbox::{NewProposal, Proposed},
    past::{
        period::Period,
        record::PastItem,
        store::{PastQuery, PastStore},
    },
    procedures::{self, Draft, MAX_DEEDS},
    proposals::{self, Proposal},
    record::{LEAST_TRUST, Scope, Source},
};

/// Days of commands that are looked at.
const DAYS: i64 = 60;
/// Trust of what was read off commands.
const TRUST: f64 = 0.6;

/// What the commands of the last 60 days and the files in its root speak for in the project with this root: facts, and drafts of procedures.
/// Commands of turns that had read text of strangers do not count. `read` returns the beginning of a file in the root; a procedure that
/// `is_accepted` by its name is a skill already.
///
/// # Errors
/// What was done cannot be read.
pub fn proposals<P: PastStore>(
    past: &P,
    root: &Path,
    now: &Zoned,
    read: impl FnMut(&str) -> Option<String>,
    is_accepted: impl Fn(&str) -> bool,
) -> Result<Vec<NewProposal>, P::Error> {
    let from = now.checked_sub(DAYS.days()).ok().map(|from| from.timestamp());
    let period = Some(Period { from, until: None });
    let query = PastQuery { period, folder: Some(root.to_owned()), has_succeeded: Some(true), ..PastQuery::default() };
    let found = past.search(&query)?;
    let lines = found.hits.iter().flat_map(|item| match item {
        PastItem::Line(line) => vec![(line.last.line.as_str(), line.runs)],
        PastItem::Turn(turn) if turn.turn.trust < LEAST_TRUST => Vec::new(),
        PastItem::Turn(turn) => turn.turn.commands.iter().map(|command| (command.line.as_str(), 1)).collect(),
    });
    let fact = |proposal: Proposal| NewProposal {
        evidence: proposal.evidence(),
        sources: vec![if proposal.runs > 0 {
            Source::Commands
        } else {
            Source::File(root.join(&proposal.line).to_string_lossy().into_owned())
        }],
        what: Proposed::Fact { text: proposal.text },
        scope: Scope::Project(root.to_owned()),
        trust: TRUST,
        folder: root.to_owned(),
    };
    // A folder that was only looked into says nothing by its files.
    let lines: Vec<(&str, u64)> = lines.collect();
    let is_worked_in = lines.iter().map(|(_, runs)| runs).sum::<u64>() >= proposals::LEAST_RUNS;
    let facts = if is_worked_in { proposals::with_files(lines, read) } else { Vec::new() };
    let facts = facts.into_iter().map(fact);
    let deeds = past.deeds(root, from.unwrap_or(Timestamp::MIN), MAX_DEEDS)?;
    let is_clean = |line: &str| !holds_placeholder(line);
    let mut drafts = procedures::drafts(&deeds, root, now.time_zone(), &is_clean);
    drafts.retain(|draft| !is_accepted(&draft.name));
    let procedure = |draft: Draft| NewProposal {
        what: Proposed::Procedure { name: draft.name.clone(), text: draft.skill() },
        scope: Scope::Project(root.to_owned()),
        trust: draft.trust.min(TRUST),
        evidence: draft.evidence(),
        sources: draft.sources,
        folder: root.to_owned(),
    };
    Ok(facts.chain(drafts.into_iter().map(procedure)).collect())
}
