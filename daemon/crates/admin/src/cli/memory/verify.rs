//! Reports the faults of the stores of facts and blocks, and of what was done.

use std::io::Write;

use cohab_memory::{
    blocks::store::BlockStore as _,
    knowledge::store::KnowledgeStore as _,
    past::store::PastStore as _,
    store::{MemoryFault, MemoryStore as _},
};

use super::{
    super::{Failure, record},
    Caller, NOTHING, documents, past, store,
};

pub(super) fn audit(caller: &Caller<'_>, output: &mut dyn Write) -> Result<(), Failure> {
    let of_documents = audit_documents(caller, output);
    let of_past = audit_past(caller, output);
    audit_facts(caller, output).and(of_past).and(of_documents)
}

/// Checks what was learned, if anything was.
fn audit_documents(caller: &Caller<'_>, output: &mut dyn Write) -> Result<(), Failure> {
    let Some(store) = documents::open(caller.paths)? else { return Ok(()) };
    let changed = store.changed().map_err(documents::unusable(caller.paths))?;
    if changed.is_empty() {
        return Ok(writeln!(output, "What was learned was checked, no fault was found.")?);
    }
    for path in &changed {
        writeln!(output, "What was learned of {} was changed by another program.", documents::shown(path, caller))?;
    }
    let hint = "`cohab memory unlearn PATH` deletes what was learned; `learn PATH` reads it again".to_owned();
    Err(Failure::Other(format!("{} records of what was learned were changed", changed.len()), Some(hint)))
}

/// Checks what was done, if anything is kept.
fn audit_past(caller: &Caller<'_>, output: &mut dyn Write) -> Result<(), Failure> {
    let Some(store) = past::open(caller.paths)? else { return Ok(()) };
    let changed = store.changed().map_err(past::unusable(caller.paths))?;
    if changed.is_empty() {
        return Ok(writeln!(output, "What was done was checked, no fault was found.")?);
    }
    for id in &changed {
        writeln!(output, "{id} was changed by another program.")?;
    }
    let hint = "`cohab memory forget ID` deletes one".to_owned();
    Err(Failure::Other(format!("{} records of what was done were changed", changed.len()), Some(hint)))
}

fn audit_facts(caller: &Caller<'_>, output: &mut dyn Write) -> Result<(), Failure> {
    let Some(store) = store::open(caller.paths)? else { return Ok(writeln!(output, "{NOTHING}")?) };
    let unusable = store::unusable(caller.paths);
    let faults = store.faults().map_err(&unusable)?;
    if faults.is_empty() {
        let (count, is) = match store.list(None).map_err(&unusable)?.len() {
            1 => ("1 fact".to_owned(), "was"),
            count => (format!("{count} facts"), "were"),
        };
        writeln!(output, "{count} {is} checked, no fault was found.")?;
        return match store.blocks(None).map_err(&unusable)?.len() {
            0 => Ok(()),
            1 => Ok(writeln!(output, "1 block was checked with its versions, no fault was found.")?),
            blocks => Ok(writeln!(output, "{blocks} blocks were checked with their versions, no fault was found.")?),
        };
    }
    for fault in &faults {
        writeln!(output, "{}", sentence(fault, caller))?;
    }
    let count = if faults.len() == 1 { "1 fault".to_owned() } else { format!("{} faults", faults.len()) };
    let is_of_block =
        |fault: &MemoryFault| matches!(fault, MemoryFault::ChangedBlock { .. } | MemoryFault::MissingBlock(_));
    let (what, hint) = if faults.iter().any(is_of_block) {
        (
            "blocks",
            "`cohab memory blocks history LABEL` lists the versions of a block, `cohab memory blocks rm LABEL` deletes it",
        )
    } else {
        ("facts", "`cohab memory show ID` shows a fact, `cohab memory forget ID` deletes one that you did not state")
    };
    Err(Failure::Other(format!("the {what} have {count}"), Some(hint.to_owned())))
}

fn sentence(fault: &MemoryFault, caller: &Caller<'_>) -> String {
    match fault {
        MemoryFault::Changed(id) => format!("Fact {id} was changed by another program."),
        MemoryFault::Proposal(id) => format!("Proposal {id} was changed by another program."),
        MemoryFault::Missing(id) => format!("Fact {id} is missing: another program deleted it."),
        MemoryFault::ChangedBlock { label, .. } => {
            format!("A version of the block {} was changed by another program.", record::visible(label))
        }
        MemoryFault::MissingBlock(version) => {
            format!("Version {version} of a block is missing: another program deleted it.")
        }
        MemoryFault::Journal(entry) => {
            format!("The journal of changes is incomplete or was changed, from entry {entry} on.")
        }
        MemoryFault::NoKey => {
            format!("There is no key to check the facts with in {}.", caller.paths.memory_key_dir().display())
        }
    }
}
