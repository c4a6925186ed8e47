//! Deletes what was done: single records, those of a source, those before a time.

use std::io::Write;

use cohab_memory::past::{
    period,
    record::{PastId, RunSource},
    store::{PastSelection, PastStore as _},
};

use super::{
    super::{Failure, record},
    Caller, past,
};

/// Deletes these records: all of them, or none.
pub(super) fn forget_ids(ids: &[PastId], caller: &Caller<'_>, output: &mut dyn Write) -> Result<(), Failure> {
    let unknown = |id: &PastId| {
        let hint = "`cohab memory past` lists them with their ids".to_owned();
        Failure::Other(format!("there is no {id}"), Some(hint))
    };
    let Some(mut store) = past::open(caller.paths)? else { return ids.first().map_or(Ok(()), |id| Err(unknown(id))) };
    let unusable = past::unusable(caller.paths);
    for id in ids {
        store.get(*id).map_err(&unusable)?.ok_or_else(|| unknown(id))?;
    }
    let deleted = store.forget(&PastSelection::Ids(ids.to_vec())).map_err(&unusable)?;
    report(deleted, output)
}

/// Deletes all that this selects, once the user has agreed.
pub(super) fn forget(
    what: &PastSelection,
    is_agreed: bool,
    caller: &mut Caller<'_>,
    output: &mut dyn Write,
) -> Result<(), Failure> {
    let Some(mut store) = past::open(caller.paths)? else { return Ok(writeln!(output, "Nothing is kept.")?) };
    if !is_agreed && !caller.is_terminal {
        let hint = "`--yes` deletes without a question".to_owned();
        return Err(Failure::Other("nothing was deleted".to_owned(), Some(hint)));
    }
    if !is_agreed {
        write!(output, "Delete {}? [y/N] ", described(what, caller))?;
        output.flush()?;
        let mut answer = String::new();
        caller.input.read_line(&mut answer)?;
        if !matches!(answer.trim(), "y" | "Y" | "yes") {
            return Ok(writeln!(output, "Nothing was deleted.")?);
        }
    }
    let deleted = store.forget(what).map_err(past::unusable(caller.paths))?;
    report(deleted, output)
}

/// What `--before` selects.
pub(super) fn before(when: &str, caller: &Caller<'_>) -> Result<PastSelection, Failure> {
    let found = period::find(&format!("before {when}"), &caller.now).and_then(|(period, _)| period.until);
    let at = found.ok_or_else(|| past::unknown_time(when))?;
    Ok(PastSelection::Before { at, timeless: false })
}

fn described(what: &PastSelection, caller: &Caller<'_>) -> String {
    match what {
        PastSelection::Ids(ids) => format!("{} records", ids.len()),
        PastSelection::Source(RunSource::Shell) => "all commands that ran in cohab shells".to_owned(),
        PastSelection::Source(source) => format!("all commands from the history of {}", source.word()),
        PastSelection::Before { at, .. } => {
            let at = at.to_zoned(caller.now.time_zone().clone());
            format!("all commands and questions before {}", record::time::clock(at.timestamp(), at.time_zone()))
        }
        PastSelection::All => "all commands and questions that are kept".to_owned(),
    }
}

fn report(deleted: u64, output: &mut dyn Write) -> Result<(), Failure> {
    let what = if deleted == 1 { "1 record was".to_owned() } else { format!("{deleted} records were") };
    Ok(writeln!(
        output,
        "{what} deleted. Conversations, the history of your shell and backups of past.db may still hold them."
    )?)
}
