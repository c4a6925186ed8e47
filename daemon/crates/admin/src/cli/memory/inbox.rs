//! `cohab memory inbox` lists what the assistant proposes to remember; the user accepts or rejects it.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
};

use clap::Args;
use cohab_config::{Settings, consolidate::Consolidate};
use cohab_context::{
    project_files,
    skills::{self, SKILL_FILE},
    workspace::{OWN_SKILLS, has_own_skill, root_of},
};
use cohab_memory::{
    consolidation,
    inbox::{Inbox as _, NewProposal, ProposalId, Proposed, Waiting},
    store::MemoryStore as _,
};
use cohab_store::memory::SqliteMemory;
use cohab_text::sanitize::{escaped_json, one_line, sanitize};
use serde_json::{Value, json};

use super::{
    super::{Failure, record},
    Caller, blocks, past, store,
};

const EMPTY: &str = "Nothing is proposed here.";

/// What is listed, and how.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct InboxArgs {
    /// Number of a proposal: show all of it
    #[arg(value_name = "N")]
    pub id: Option<ProposalId>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Which proposals.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct ProposalArgs {
    /// Numbers of the inbox; without them, all but those that strangers may have written
    #[arg(value_name = "N")]
    pub ids: Vec<ProposalId>,
}

pub(super) fn inbox(args: &InboxArgs, caller: &Caller<'_>, output: &mut dyn Write) -> Result<(), Failure> {
    look(caller)?;
    let mut waiting = waiting(caller)?;
    if let Some(id) = args.id {
        waiting.retain(|one| one.id == id);
        let one = waiting.first().ok_or_else(|| unknown(id))?;
        if !args.json {
            return Ok(output.write_all(whole(one, caller).as_bytes())?);
        }
    }
    if args.json {
        let rows: Vec<Value> = waiting.iter().map(as_json).collect();
        return Ok(writeln!(output, "{}", escaped_json(&json!({"proposals": rows}).to_string()))?);
    }
    if waiting.is_empty() {
        return Ok(writeln!(output, "{EMPTY}")?);
    }
    let digits = waiting.last().map_or(1, |one| one.id.to_string().len());
    let mut text = String::new();
    for one in &waiting {
        let head = format!("{:>digits$}  ", one.id.0);
        let indent = " ".repeat(head.len());
        record::paragraph((&head, &indent), &described(&one.new), caller.columns, &mut text);
    }
    text.push_str("`cohab memory accept N` takes one over, `reject N` drops it for good.\n");
    Ok(output.write_all(text.as_bytes())?)
}

/// How many proposals wait, as a sentence; `None` if none do.
pub(super) fn note(caller: &Caller<'_>) -> Result<Option<String>, Failure> {
    let count = waiting(caller)?.len();
    let wait = if count == 1 { "1 proposal waits".to_owned() } else { format!("{count} proposals wait") };
    Ok((count > 0).then(|| format!("{wait}: `cohab memory inbox` lists them.")))
}

/// Takes these proposals over.
pub(super) fn accept(args: &ProposalArgs, caller: &Caller<'_>, output: &mut dyn Write) -> Result<(), Failure> {
    let (mut facts, chosen) = chosen(args, caller)?;
    for one in &chosen {
        let done = match &one.new.what {
            Proposed::Fact { .. } => {
                let fact = one.new.accepted_fact();
                let remembered = fact.map(|fact| facts.remember(&fact, caller.now.timestamp())).transpose();
                remembered.map_err(store::unusable(caller.paths))?;
                format!("Remembered: {}", title(&one.new.what))
            }
            Proposed::Block(edit) => blocks::change::accept(edit, &one.new.scope, &mut facts, caller)?,
            Proposed::Procedure { name, text } => {
                let file = write_skill(&caller.paths.config_dir, name, text)?;
                format!("Wrote {}", record::folder(&file.to_string_lossy(), &caller.home))
            }
        };
        facts.withdraw(&[one.id]).map_err(store::unusable(caller.paths))?;
        writeln!(output, "{done}")?;
    }
    report_none(&chosen, caller, output)
}

/// Never proposes these again.
pub(super) fn reject(args: &ProposalArgs, caller: &Caller<'_>, output: &mut dyn Write) -> Result<(), Failure> {
    let (mut facts, chosen) = chosen(args, caller)?;
    for one in &chosen {
        facts.reject(one).map_err(store::unusable(caller.paths))?;
        writeln!(output, "Rejected: {}", title(&one.new.what))?;
    }
    report_none(&chosen, caller, output)
}

fn report_none(chosen: &[Waiting], caller: &Caller<'_>, output: &mut dyn Write) -> Result<(), Failure> {
    match (chosen.is_empty(), waiting(caller)?.len()) {
        (true, 0) => writeln!(output, "{EMPTY}")?,
        (true, _) => {
            let hint = "name one by its number, once you have read it: `cohab memory inbox`".to_owned();
            return Err(Failure::Other("strangers may have written what waits".to_owned(), Some(hint)));
        }
        (false, _) => {}
    }
    Ok(())
}

/// The store, and the proposals with these numbers: all of them, or none.
fn chosen(args: &ProposalArgs, caller: &Caller<'_>) -> Result<(SqliteMemory, Vec<Waiting>), Failure> {
    look(caller)?;
    let mut waiting = waiting(caller)?;
    if let Some(id) = args.ids.iter().find(|id| waiting.iter().all(|one| one.id != **id)) {
        return Err(unknown(*id));
    }
    waiting.retain(|one| if args.ids.is_empty() { !one.new.is_doubtful() } else { args.ids.contains(&one.id) });
    Ok((store::create(caller.paths)?, waiting))
}

fn unknown(id: ProposalId) -> Failure {
    let hint = "`cohab memory inbox` lists the proposals".to_owned();
    Failure::Other(format!("there is no proposal {id}"), Some(hint))
}

/// Puts into the inbox what the commands of the project speak for, unless that is off.
fn look(caller: &Caller<'_>) -> Result<(), Failure> {
    let is_off = |settings: Settings| settings.memory.consolidate == Consolidate::Off;
    if cohab_config::load(caller.paths).is_ok_and(is_off) {
        return Ok(());
    }
    let Some(done) = past::open(caller.paths)? else { return Ok(()) };
    let root = root_of(&caller.folder, &caller.home);
    let is_accepted = |skill: &str| has_own_skill(&caller.paths.config_dir, skill);
    let found = consolidation::proposals(&done, &root, &caller.now, project_files::reader(&root), is_accepted)
        .map_err(past::unusable(caller.paths))?;
    if found.is_empty() {
        return Ok(());
    }
    let mut facts = store::create(caller.paths)?;
    for proposal in &found {
        facts.propose(proposal, caller.now.timestamp()).map_err(store::unusable(caller.paths))?;
    }
    Ok(())
}

/// The proposals that hold in the current folder.
fn waiting(caller: &Caller<'_>) -> Result<Vec<Waiting>, Failure> {
    let facts = store::open(caller.paths)?;
    let waiting = facts.map(|facts| facts.waiting(Some(&caller.folder))).transpose();
    Ok(waiting.map_err(store::unusable(caller.paths))?.unwrap_or_default())
}

/// Writes a skill of the user's own, unless one of this name is there.
fn write_skill(config_dir: &Path, name: &str, text: &str) -> Result<PathBuf, Failure> {
    if !skills::is_name(name) {
        let hint = "`cohab memory reject N` drops it".to_owned();
        return Err(Failure::Other("a skill cannot have this name".to_owned(), Some(hint)));
    }
    let folder = config_dir.join(OWN_SKILLS).join(name);
    let file = folder.join(SKILL_FILE);
    let written = fs::create_dir_all(&folder)
        .and_then(|()| fs::File::create_new(&file))
        .and_then(|mut opened| opened.write_all(text.as_bytes()));
    match written {
        Ok(()) => Ok(file),
        Err(error) => {
            let hint = format!("read the proposal with `cohab memory inbox`, or move {} away", folder.display());
            Err(Failure::Other(format!("{} cannot be written: {error}", file.display()), Some(hint)))
        }
    }
}

/// What is proposed, in one line.
fn title(what: &Proposed) -> String {
    match what {
        Proposed::Fact { text } => one_line(text, usize::MAX),
        Proposed::Procedure { name, .. } => format!("skill {}", one_line(name, usize::MAX)),
        Proposed::Block(edit) => one_line(&edit.to_string(), usize::MAX),
    }
}

/// A proposal with what speaks for it, in one line.
fn described(new: &NewProposal) -> String {
    let mut parts = vec![title(&new.what), one_line(&new.evidence, usize::MAX)];
    if new.is_doubtful() {
        parts.push("strangers may have written it".to_owned());
    }
    parts.retain(|part| !part.is_empty());
    parts.join(" · ")
}

/// All of a proposal.
fn whole(one: &Waiting, caller: &Caller<'_>) -> String {
    let head = format!("{}  ", one.id);
    let indent = " ".repeat(head.len());
    let mut text = String::new();
    record::paragraph((&head, &indent), &described(&one.new), caller.columns, &mut text);
    let from: Vec<String> = one.new.sources.iter().map(|source| one_line(&source.to_string(), usize::MAX)).collect();
    let since = record::time::clock(one.at, caller.now.time_zone());
    let rows =
        [format!("proposed {since}"), format!("from {}", from.join(", ")), format!("trust {:.1} of 1", one.new.trust)];
    for row in rows.iter().filter(|row| *row != "from ") {
        record::paragraph((&indent, &indent), row, caller.columns, &mut text);
    }
    if let Proposed::Procedure { text: skill, .. } = &one.new.what {
        text.push('\n');
        text.push_str(&sanitize(skill));
    }
    text
}

fn as_json(one: &Waiting) -> Value {
    let Waiting { id, new, at } = one;
    json!({
        "id": id.0,
        "proposed": new.what,
        "scope": store::scope_json(&new.scope),
        "trust": new.trust,
        "sources": new.sources.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "evidence": new.evidence,
        "at": at.to_string(),
    })
}
