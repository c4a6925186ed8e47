//! Looks up the remembered facts that are relevant to a question, and the memory blocks.

use std::path::Path;

use cohab_context::workspace::root_of;
use cohab_memory::{
    blocks::{operations, record::Block, store::BlockStore as _},
    relevance,
    store::MemoryStore as _,
    words,
};
use cohab_protocol::Paths;
use cohab_session::Recollection;
use cohab_store::{StoreError, memory::SqliteMemory};

/// What is remembered for this question in this folder; nothing if it cannot be read. Blocks.
pub(super) fn look(paths: &Paths, question: &str, folder: &Path, home: &Path) -> Recollection {
    read(paths, question, folder, home).unwrap_or_else(|error| {
        tracing::warn!(%error, "what is remembered cannot be read");
        Recollection::default()
    })
}

fn read(paths: &Paths, question: &str, folder: &Path, home: &Path) -> Result<Recollection, StoreError> {
    let Some(store) = SqliteMemory::open_existing(&paths.memory_file(), &paths.memory_key_dir())? else {
        return Ok(Recollection::default());
    };
    // A fact names its project without links.
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let (words, root) = (words::content(question), root_of(&folder, home));
    let mut blocks = store.blocks(Some(&root))?;
    blocks.retain(Block::is_sound);
    Ok(Recollection {
        memories: relevance::chosen(&words, store.search(&words, Some(&folder))?),
        blocks: Some(operations::visible(blocks, &root)),
    })
}
