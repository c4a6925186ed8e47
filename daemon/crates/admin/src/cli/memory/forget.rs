//! Deletes facts, by their numbers or by their words.

use std::io::Write;

use cohab_memory::{
    inbox::{Inbox as _, ProposalId, Waiting},
    past::store::PastSelection,
    record::{Memory, MemoryId, Source},
    store::MemoryStore as _,
};
use cohab_store::memory::SqliteMemory;
use cohab_text::sanitize::one_line;

use super::{super::Failure, AnyId, AnySource, Caller, ForgetArgs, NOTHING, add::named, forget_past, list, store};

pub(super) fn forget(args: &ForgetArgs, caller: &mut Caller<'_>, output: &mut dyn Write) -> Result<(), Failure> {
    let selected = match (&args.source, &args.before) {
        (Some(AnySource::Facts(source)), _) => return revoke(source, args, caller, output),
        (Some(AnySource::Runs(source)), _) => Some(PastSelection::Source(*source)),
        (None, Some(when)) => Some(forget_past::before(when, caller)?),
        (None, None) => args.past.then_some(PastSelection::All),
    };
    if let Some(selected) = selected {
        return forget_past::forget(&selected, args.yes, caller, output);
    }
    let (mut facts, mut done) = (Vec::new(), Vec::new());
    for id in &args.ids {
        match id {
            AnyId::Fact(id) => facts.push(*id),
            AnyId::Past(id) => done.push(*id),
        }
    }
    if !done.is_empty() {
        forget_past::forget_ids(&done, caller, output)?;
        if facts.is_empty() {
            return Ok(());
        }
    }
    let Some(mut store) = store::open(caller.paths)? else {
        return match facts.first() {
            Some(id) => Err(store::unknown(*id)),
            None => Ok(writeln!(output, "{NOTHING}")?),
        };
    };
    let memories = match &args.query {
        None => named_by(&facts, &store, caller)?,
        Some(query) => {
            let (hits, words) = store::found(&store, query, args.all, caller)?;
            let has_all = hits.into_iter().filter(|hit| hit.words.len() == words.len());
            let memories: Vec<Memory> = has_all.map(|hit| hit.memory).collect();
            if memories.is_empty() {
                return Ok(writeln!(output, "{}", list::none_has(query, "all words of", args.all))?);
            }
            if memories.len() > 1 && !args.yes {
                agree(&memories, &format!("{} facts have these words", memories.len()), args, caller, output)?;
            }
            memories
        }
    };
    delete(&memories, &mut store, caller, output)
}

/// The facts with these numbers: all of them, or none.
fn named_by(ids: &[MemoryId], store: &SqliteMemory, caller: &Caller<'_>) -> Result<Vec<Memory>, Failure> {
    let mut ids = ids.to_vec();
    ids.sort_unstable();
    ids.dedup();
    let one = |id: MemoryId| store.get(id).map_err(store::unusable(caller.paths))?.ok_or_else(|| store::unknown(id));
    ids.into_iter().map(one).collect()
}

/// Deletes all facts and proposals that come from this source, directly or by way of other facts.
fn revoke(source: &Source, args: &ForgetArgs, caller: &mut Caller<'_>, output: &mut dyn Write) -> Result<(), Failure> {
    let Some(mut store) = store::open(caller.paths)? else { return Ok(writeln!(output, "{NOTHING}")?) };
    let unusable = store::unusable(caller.paths);
    let ids = store.derived_from(source).map_err(&unusable)?;
    let proposals = store.waiting(None).map_err(&unusable)?;
    let from_it = |one: &&Waiting| {
        let is_derived = |other: &Source| matches!(other, Source::Fact(id) if ids.contains(id));
        one.new.sources.iter().any(|other| other == source || is_derived(other))
    };
    let proposals: Vec<ProposalId> = proposals.iter().filter(from_it).map(|one| one.id).collect();
    if ids.is_empty() && proposals.is_empty() {
        let source = one_line(&source.to_string(), usize::MAX);
        return Ok(writeln!(output, "Nothing comes from {source}.")?);
    }
    // The newest version stands for all of a fact.
    let mut memories = named_by(&ids, &store, caller)?;
    memories.retain(|memory| memory.superseded_by.is_none_or(|newer| !ids.contains(&newer)));
    if !args.yes && !memories.is_empty() {
        let count =
            if memories.len() == 1 { "1 fact comes".to_owned() } else { format!("{} facts come", memories.len()) };
        agree(&memories, &format!("{count} from there"), args, caller, output)?;
    }
    store.withdraw(&proposals).map_err(&unusable)?;
    match proposals.len() {
        0 => {}
        1 => writeln!(output, "1 proposal was deleted.")?,
        count => writeln!(output, "{count} proposals were deleted.")?,
    }
    if memories.is_empty() { Ok(()) } else { delete(&memories, &mut store, caller, output) }
}

fn agree(
    memories: &[Memory],
    which: &str,
    args: &ForgetArgs,
    caller: &mut Caller<'_>,
    output: &mut dyn Write,
) -> Result<(), Failure> {
    output.write_all(list::table(memories, caller).as_bytes())?;
    let (count, id) = (memories.len(), memories.first().map_or(MemoryId(0), |memory| memory.id));
    if !caller.is_terminal {
        let hint = if args.at_prompt {
            format!("`? /forget {id}` deletes one by its number")
        } else {
            format!("`cohab memory forget {id}` deletes one by its number, `--yes` all of them")
        };
        return Err(Failure::Other(format!("{which}; nothing was deleted"), Some(hint)));
    }
    let these = if count == 1 { "this fact".to_owned() } else { format!("these {count} facts") };
    write!(output, "Delete {these}? [y/N] ")?;
    output.flush()?;
    let mut answer = String::new();
    caller.input.read_line(&mut answer)?;
    if matches!(answer.trim(), "y" | "Y" | "yes") {
        return Ok(());
    }
    writeln!(output, "Nothing was deleted. `cohab memory forget {id}` deletes one by its number.")?;
    Err(Failure::Told)
}

fn delete(
    memories: &[Memory],
    store: &mut SqliteMemory,
    caller: &Caller<'_>,
    output: &mut dyn Write,
) -> Result<(), Failure> {
    let ids: Vec<MemoryId> = memories.iter().map(|memory| memory.id).collect();
    let deleted = store.forget(&ids).map_err(store::unusable(caller.paths))?;
    for memory in memories {
        writeln!(output, "Deleted {}", named(memory, caller))?;
    }
    match deleted.saturating_sub(memories.len() as u64) {
        0 => {}
        1 => writeln!(output, "1 other version was deleted.")?,
        count => writeln!(output, "{count} other versions were deleted.")?,
    }
    let them = if memories.len() == 1 { "it" } else { "them" };
    Ok(writeln!(output, "Conversations that were given {them}, and backups of memory.db, still hold {them}.")?)
}
