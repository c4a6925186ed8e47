//! Changes the text of a block, and goes back to earlier versions.

use std::io::{Read as _, Write};

use cohab_memory::{
    blocks::{
        change::{BlockChange, BlockEdit},
        operations::{self, Changed, RollbackTarget},
        record::BlockLabel,
        store::BlockStore as _,
    },
    record::Scope,
};
use cohab_store::memory::SqliteMemory;

use super::{
    super::{super::Failure, Caller, past, store},
    BlockTextArgs, RollbackArgs, fault, stored,
};

/// Most bytes of the standard input that are read: any block has fewer characters.
const MAX_INPUT_BYTES: u64 = 1_000_000;

pub(super) fn text(
    change: impl FnOnce(String) -> BlockChange,
    args: &BlockTextArgs,
    caller: &mut Caller<'_>,
    output: &mut dyn Write,
) -> Result<(), Failure> {
    let text = if args.text == ["-"] { input(caller)? } else { args.text.join(" ") };
    apply(&args.label, &change(text), caller, output)
}

pub(super) fn replace(
    label: &BlockLabel,
    (old, new): (&str, &str),
    caller: &Caller<'_>,
    output: &mut dyn Write,
) -> Result<(), Failure> {
    apply(label, &BlockChange::Replace { old: old.to_owned(), new: new.to_owned() }, caller, output)
}

pub(super) fn clear(label: &BlockLabel, caller: &Caller<'_>, output: &mut dyn Write) -> Result<(), Failure> {
    apply(label, &BlockChange::Clear, caller, output)
}

pub(super) fn roll_back(args: &RollbackArgs, caller: &Caller<'_>, output: &mut dyn Write) -> Result<(), Failure> {
    let label = &args.label;
    let target = match &args.to {
        Some(when) => RollbackTarget::Time(past::since(when, caller)?),
        None => RollbackTarget::Steps(usize::try_from(args.steps).unwrap_or(usize::MAX)),
    };
    // Without the block no store is made.
    stored::named(label, caller)?;
    let mut store = store::create(caller.paths)?;
    let restored = operations::roll_back(&mut store, (label, &stored::root(caller)), target, caller.now.timestamp());
    report(&restored.map_err(|error| fault::failure(error, label, caller))?, &store, caller, output)
}

/// Makes the change that was proposed, and says what became of it.
pub(in super::super) fn accept(
    edit: &BlockEdit,
    scope: &Scope,
    store: &mut SqliteMemory,
    caller: &Caller<'_>,
) -> Result<String, Failure> {
    let root = match scope {
        Scope::Project(root) => root.clone(),
        Scope::Everywhere => stored::root(caller),
    };
    let BlockEdit { label, change } = edit;
    let now = caller.now.timestamp();
    let changed = operations::change(store, (label, &root), change, &stored::secret_finder(), now);
    let (Changed::Written(block) | Changed::Unchanged(block)) =
        changed.map_err(|error| fault::failure(error, label, caller))?;
    Ok(format!("{label} has {} now.", block.fill_level()))
}

fn apply(label: &BlockLabel, change: &BlockChange, caller: &Caller<'_>, output: &mut dyn Write) -> Result<(), Failure> {
    let has_secret = stored::secret_finder();
    // What would be refused makes no store.
    let block = stored::named(label, caller)?;
    change.applied(&block, &has_secret).map_err(|fault| fault::refused(&fault, label))?;
    let mut store = store::create(caller.paths)?;
    let place = (label, stored::root(caller));
    let changed = operations::change(&mut store, (place.0, &place.1), change, &has_secret, caller.now.timestamp());
    report(&changed.map_err(|error| fault::failure(error, label, caller))?, &store, caller, output)
}

fn report(changed: &Changed, store: &SqliteMemory, caller: &Caller<'_>, output: &mut dyn Write) -> Result<(), Failure> {
    let block = match changed {
        Changed::Unchanged(block) => return Ok(writeln!(output, "{} is unchanged.", block.key.label)?),
        Changed::Written(block) => block,
    };
    let label = &block.key.label;
    match block.chars() {
        0 => writeln!(output, "{label} is empty now.")?,
        _ => writeln!(output, "{label} has {} now.", block.fill_level())?,
    }
    let versions = store.block_versions(&block.key).map_err(store::unusable(caller.paths))?.len();
    let back =
        if versions > 1 { format!("rollback {label}` takes this back") } else { format!("clear {label}` empties it") };
    Ok(writeln!(output, "`cohab memory blocks {back}.")?)
}

/// The text of the standard input.
fn input(caller: &mut Caller<'_>) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    let unread = |message: String| Failure::Other(format!("the standard input cannot be used: {message}"), None);
    let read = (&mut *caller.input).take(MAX_INPUT_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(|error| unread(error.to_string()))?;
    if bytes.len() as u64 > MAX_INPUT_BYTES {
        return Err(unread("it is larger than 1 MB".to_owned()));
    }
    String::from_utf8(bytes).map_err(|_| unread("it is not UTF-8 text".to_owned()))
}
