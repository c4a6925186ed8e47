//! Reads the blocks that hold in the current folder, and looks for secrets in their texts.

use std::path::PathBuf;

use cohab_context::workspace::root_of;
use cohab_memory::blocks::{
    operations,
    record::{Block, BlockLabel},
    store::BlockStore as _,
};
use cohab_model_api::Secrets;

use super::{
    super::{super::Failure, Caller, store},
    fault,
};

/// The root of the project around the current folder.
pub(super) fn root(caller: &Caller<'_>) -> PathBuf {
    root_of(&caller.folder, &caller.home)
}

/// The blocks that were written and hold here; none if there is no store.
pub(super) fn here(caller: &Caller<'_>) -> Result<Vec<Block>, Failure> {
    match store::open(caller.paths)? {
        Some(store) => store.blocks(Some(&root(caller))).map_err(store::unusable(caller.paths)),
        None => Ok(Vec::new()),
    }
}

/// The block that a label means here.
pub(super) fn named(label: &BlockLabel, caller: &Caller<'_>) -> Result<Block, Failure> {
    operations::named(label, here(caller)?, &root(caller)).map_err(|fault| fault::refused(&fault, label))
}

/// Says whether a text holds a secret, with the secrets of this process known.
pub(super) fn secret_finder() -> impl Fn(&str) -> bool {
    let secrets = Secrets::of_this_process();
    move |text| secrets.are_in(text)
}
