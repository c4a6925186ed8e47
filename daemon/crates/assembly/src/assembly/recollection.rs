//! Looks up the remembered facts that are relevant to a question, and the memory blocks.

use std::path::Path;

use cohab_context::workspace::root_of;
use cohab_memory::{
    blocks::{operations, record::Block, store::BlockStore as _},
    record::Memory,
    relevance,
    store::MemoryStore as _,
    words,
};
use cohab_protocol::Paths;
use cohab_store::{StoreError, memory::SqliteMemory};

/// The facts for this question in this folder, the most relevant first; none if memory is off or cannot be read. Blocks.
pub(super) fn relevant(paths: &Paths, question: &str, folder: &Path) -> Vec<Memory> {
    if !is_used(paths) {
        return Vec::new();
    }
    search(paths, question, folder).unwrap_or_else(|error| {
        tracing::warn!(%error, "remembered facts cannot be read");
        Vec::new()
    })
}

/// The memory blocks that hold in this folder; `None` if memory is off or cannot be read. Blocks.
pub(super) fn blocks(paths: &Paths, folder: &Path, home: &Path) -> Option<Vec<Block>> {
    if !is_used(paths) {
        return None;
    }
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let root = root_of(&folder, home);
    let stored = SqliteMemory::open_existing(&paths.memory_file(), &paths.memory_key_dir())
        .and_then(|store| store.map_or(Ok(Vec::new()), |store| store.blocks(Some(&root))));
    match stored {
        Ok(mut stored) => {
            stored.retain(Block::is_sound);
            Some(operations::visible(stored, &root))
        }
        Err(error) => {
            tracing::warn!(%error, "memory blocks cannot be read");
            None
        }
    }
}

/// Whether memory is on and has a store. Most users have none: then the settings are not opened.
fn is_used(paths: &Paths) -> bool {
    paths.memory_file().exists() && cohab_config::load(paths).is_ok_and(|settings| settings.memory.enabled)
}

fn search(paths: &Paths, question: &str, folder: &Path) -> Result<Vec<Memory>, StoreError> {
    let words = words::content(question);
    // A fact names its project without links.
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let Some(store) = SqliteMemory::open_existing(&paths.memory_file(), &paths.memory_key_dir())? else {
        return Ok(Vec::new());
    };
    Ok(relevance::chosen(&words, store.search(&words, Some(&folder))?))
}
