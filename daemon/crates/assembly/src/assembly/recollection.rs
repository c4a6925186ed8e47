//! Looks up the remembered facts that are relevant to a question.

use std::path::Path;

use cohab_memory::{record::Memory, relevance, store::MemoryStore as _, words};
use cohab_protocol::Paths;
use cohab_store::{StoreError, memory::SqliteMemory};

/// The facts for this question in this folder, the most relevant first; none if memory is off or cannot be read. Blocks.
pub(super) fn relevant(paths: &Paths, question: &str, folder: &Path) -> Vec<Memory> {
    // Most users state no facts: then neither the settings nor the store are opened.
    if !paths.memory_file().exists() || !cohab_config::load(paths).is_ok_and(|settings| settings.memory.enabled) {
        return Vec::new();
    }
    search(paths, question, folder).unwrap_or_else(|error| {
        tracing::warn!(%error, "remembered facts cannot be read");
        Vec::new()
    })
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
