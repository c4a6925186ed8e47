//! `cohab memory inbox` lists facts that the commands of this project speak for; the user accepts or rejects them.

use std::io::Write;

use clap::Args;
use cohab_context::workspace::root_of;
use cohab_memory::{
    past::{
        period::Period,
        record::PastItem,
        store::{PastQuery, PastStore as _},
    },
    proposals::{self, Proposal},
    record::{NewMemory, Origin, Scope},
    store::MemoryStore as _,
};
use cohab_store::{StoreError, memory::SqliteMemory};
use cohab_text::sanitize::{escaped_json, one_line};
use jiff::ToSpan as _;
use serde_json::{Value, json};

use super::{super::Failure, Caller, past, store};

/// Days of commands that are looked at.
const DAYS: i64 = 60;

/// How it is printed.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct InboxArgs {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Which proposals.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct ProposalArgs {
    /// Numbers of the inbox; without them, all
    #[arg(value_name = "N")]
    pub numbers: Vec<usize>,
}

pub(super) fn inbox(args: &InboxArgs, caller: &Caller<'_>, output: &mut dyn Write) -> Result<(), Failure> {
    let waiting = waiting(caller)?;
    if args.json {
        let rows: Vec<Value> = waiting.iter().enumerate().map(|(at, proposal)| as_json(at + 1, proposal)).collect();
        return Ok(writeln!(output, "{}", escaped_json(&json!({"proposals": rows}).to_string()))?);
    }
    if waiting.is_empty() {
        return Ok(writeln!(output, "Nothing is proposed for this project.")?);
    }
    for (at, Proposal { text, runs, .. }) in waiting.iter().enumerate() {
        writeln!(output, "{}  {} · it went well {runs} times", at + 1, one_line(text, usize::MAX))?;
    }
    Ok(writeln!(output, "`cohab memory accept N` makes one a fact, `reject N` drops it for good.")?)
}

/// How many proposals wait, as a sentence; `None` if none do.
pub(super) fn note(caller: &Caller<'_>) -> Result<Option<String>, Failure> {
    let proposals = match waiting(caller)?.len() {
        0 => return Ok(None),
        1 => "1 fact is proposed".to_owned(),
        count => format!("{count} facts are proposed"),
    };
    Ok(Some(format!("{proposals} for this project: `cohab memory inbox` lists them.")))
}

/// Makes these proposals facts.
pub(super) fn accept(args: &ProposalArgs, caller: &Caller<'_>, output: &mut dyn Write) -> Result<(), Failure> {
    decide(args, caller, output, |facts, text| {
        let (text, scope, folder) = (text.to_owned(), scope(caller), caller.folder.clone());
        // By accepting it, the user states it.
        let new = NewMemory { text, scope, origin: Origin::CommandLine, folder };
        facts.remember(&new, caller.now.timestamp()).map(|_| "Remembered")
    })
}

/// Never proposes these again.
pub(super) fn reject(args: &ProposalArgs, caller: &Caller<'_>, output: &mut dyn Write) -> Result<(), Failure> {
    decide(args, caller, output, |facts, text| facts.reject(text, &scope(caller)).map(|()| "Rejected"))
}

fn decide(
    args: &ProposalArgs,
    caller: &Caller<'_>,
    output: &mut dyn Write,
    mut decision: impl FnMut(&mut SqliteMemory, &str) -> Result<&'static str, StoreError>,
) -> Result<(), Failure> {
    let waiting = waiting(caller)?;
    if let Some(number) = args.numbers.iter().find(|number| **number == 0 || **number > waiting.len()) {
        let hint = "`cohab memory inbox` lists the proposals".to_owned();
        return Err(Failure::Other(format!("there is no proposal {number}"), Some(hint)));
    }
    if waiting.is_empty() {
        return Ok(writeln!(output, "Nothing is proposed for this project.")?);
    }
    let mut facts = store::create(caller.paths)?;
    for (at, Proposal { text, .. }) in waiting.iter().enumerate() {
        if args.numbers.is_empty() || args.numbers.contains(&(at + 1)) {
            let done = decision(&mut facts, text).map_err(store::unusable(caller.paths))?;
            writeln!(output, "{done}: {}", one_line(text, usize::MAX))?;
        }
    }
    Ok(())
}

fn scope(caller: &Caller<'_>) -> Scope {
    Scope::Project(root_of(&caller.folder, &caller.home))
}

/// The proposals for the project around the current folder that are neither facts nor rejected.
fn waiting(caller: &Caller<'_>) -> Result<Vec<Proposal>, Failure> {
    let Some(done) = past::open(caller.paths)? else { return Ok(Vec::new()) };
    let root = root_of(&caller.folder, &caller.home);
    let from = caller.now.checked_sub(DAYS.days()).ok().map(|from| from.timestamp());
    let period = Some(Period { from, until: None });
    let query = PastQuery { period, folder: Some(root), has_succeeded: Some(true), ..PastQuery::default() };
    let found = done.search(&query).map_err(past::unusable(caller.paths))?;
    let lines = found.hits.iter().flat_map(|item| match item {
        PastItem::Line(line) => vec![(line.last.line.as_str(), line.runs)],
        PastItem::Turn(turn) => turn.turn.commands.iter().map(|command| (command.line.as_str(), 1)).collect(),
    });
    let mut proposals = proposals::of(lines);
    if let Some(facts) = store::open(caller.paths)? {
        let unusable = store::unusable(caller.paths);
        let known = facts.list(Some(&caller.folder)).map_err(&unusable)?;
        proposals.retain(|proposal| known.iter().all(|fact| fact.text != proposal.text));
        let mut left = Vec::new();
        for proposal in proposals {
            if !facts.is_rejected(&proposal.text, &scope(caller)).map_err(&unusable)? {
                left.push(proposal);
            }
        }
        proposals = left;
    }
    Ok(proposals)
}

fn as_json(number: usize, proposal: &Proposal) -> Value {
    json!({"number": number, "text": proposal.text, "line": proposal.line, "runs": proposal.runs})
}
