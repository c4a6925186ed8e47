//! Makes and deletes blocks.

use std::io::Write;

use cohab_memory::{
    blocks::{
        operations,
        record::{Block, BlockKey, BlockLabel},
        store::BlockStore as _,
    },
    record::Scope,
};

use super::{
    super::{super::Failure, Caller, store},
    NewBlockArgs, fault, stored,
};

pub(super) fn new(args: &NewBlockArgs, caller: &Caller<'_>, output: &mut dyn Write) -> Result<(), Failure> {
    let label = &args.label;
    let scope = if args.project { Scope::Project(stored::root(caller)) } else { Scope::Everywhere };
    let block = Block {
        key: BlockKey { label: label.clone(), scope },
        description: args.description.clone(),
        max_chars: usize::try_from(args.limit).unwrap_or(usize::MAX),
        template: args.template.clone(),
        value: String::new(),
        version: None,
    };
    let mut store = store::create(caller.paths)?;
    let made = operations::create(&mut store, &block, &stored::secret_finder(), caller.now.timestamp());
    let made = made.map_err(|error| fault::failure(error, label, caller))?;
    let place = store::place(&made.key.scope, caller);
    let holds = if place.is_empty() { "everywhere".to_owned() } else { place };
    writeln!(output, "Made {label}, which holds {holds} and has {}.", made.fill_level())?;
    Ok(writeln!(output, "`cohab memory blocks append {label} TEXT` adds to it.")?)
}

/// Deletes a block with all its versions.
pub(super) fn remove(label: &BlockLabel, caller: &Caller<'_>, output: &mut dyn Write) -> Result<(), Failure> {
    let block = stored::named(label, caller)?;
    forget(&block, None, caller, output)
}

/// Deletes all versions of a block; the block itself stays.
pub(super) fn clear_with_history(
    label: &BlockLabel,
    caller: &Caller<'_>,
    output: &mut dyn Write,
) -> Result<(), Failure> {
    let block = stored::named(label, caller)?;
    let root = stored::root(caller);
    let is_delivered = operations::named(label, Vec::new(), &root).is_ok_and(|delivered| delivered.key == block.key);
    let emptied = Block { value: block.template.clone(), ..block.clone() };
    forget(&block, Some(&emptied).filter(|_| !is_delivered), caller, output)
}

fn forget(
    block: &Block,
    replacement: Option<&Block>,
    caller: &Caller<'_>,
    output: &mut dyn Write,
) -> Result<(), Failure> {
    let label = &block.key.label;
    let Some(mut store) = store::open(caller.paths)?.filter(|_| block.version.is_some()) else {
        return Ok(writeln!(output, "{label} was never changed.")?);
    };
    let forgotten = store.forget_block(&block.key, replacement, caller.now.timestamp());
    let versions = match forgotten.map_err(store::unusable(caller.paths))? {
        1 => "1 version".to_owned(),
        count => format!("{count} versions"),
    };
    writeln!(output, "Deleted {versions} of {label}.")?;
    Ok(writeln!(output, "Conversations that were given them, and backups of memory.db, still hold them.")?)
}
