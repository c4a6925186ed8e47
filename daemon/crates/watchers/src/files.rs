//! The files of the watchers.

use std::path::PathBuf;

use cohab_store::{StoreError, watchers::WatcherStore};

/// The files of the watchers.
#[derive(Clone, Debug)]
pub struct WatcherFiles {
    /// The store.
    pub store: PathBuf,
    /// The signal that a daemon is needed, and that a command has changed something.
    pub signal: PathBuf,
}

impl WatcherFiles {
    /// Opens the store. `None` if there is none.
    ///
    /// # Errors
    /// It cannot be opened, read or changed.
    pub fn open(&self) -> Result<Option<WatcherStore>, StoreError> {
        WatcherStore::open_existing(&self.store, &self.signal)
    }
}
