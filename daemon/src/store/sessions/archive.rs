//! The daemon's way to the store of sessions.

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use jiff::Timestamp;

use super::{Entry, Found, Left, SessionRow, SqliteStore, StateStore};
use crate::{
    agent::port::Message,
    store::{StoreError, worker::Worker},
    tasks::Task,
};

/// Keeps sessions off everybody's way, and finds them again. No file is open while nothing is written or read.
#[derive(Clone)]
pub struct Archive {
    path: PathBuf,
    worker: Arc<Worker<Entry>>,
    /// Reading has shown that the file is broken; the next that writes sees to that.
    is_broken: Arc<AtomicBool>,
}

/// A session that goes on.
#[derive(Clone, Debug, PartialEq)]
pub struct Stored {
    /// Which.
    pub session: SessionRow,
    /// What the model would be sent.
    pub conversation: Vec<Message>,
    /// How its shell was left.
    pub left: Left,
    /// What it means to do.
    pub tasks: Vec<Task>,
}

impl Archive {
    /// Sessions in this file, which need not exist. Nothing is touched before the first use.
    #[must_use]
    pub fn at(path: PathBuf) -> Self {
        let is_broken = Arc::new(AtomicBool::new(false));
        let was_found_broken = Arc::clone(&is_broken);
        let worker = Worker::new(path.clone(), "conversations", move |path| {
            if was_found_broken.swap(false, Ordering::Relaxed) {
                return Err(StoreError::Broken);
            }
            let mut store = SqliteStore::create(path)?;
            Ok(Box::new(move |entries| store.append(entries)))
        });
        Self { path, worker: Arc::new(worker), is_broken }
    }

    fn read<T>(&self, read: impl FnOnce(SqliteStore) -> Result<T, StoreError>) -> Result<Option<T>, StoreError> {
        self.flush();
        let result = SqliteStore::open_existing(&self.path).and_then(|store| store.map(read).transpose());
        if result.as_ref().is_err_and(StoreError::is_corruption) {
            self.is_broken.store(true, Ordering::Relaxed);
        }
        result
    }

    /// Keeps this. Never waits.
    pub fn keep(&self, entry: Entry) {
        self.worker.enqueue(entry);
    }

    /// Waits until all is written, a second at most. Blocks.
    pub fn flush(&self) {
        self.worker.flush();
    }

    /// The session whose id begins so. Blocks.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn find(&self, id: &str) -> Result<Found, StoreError> {
        Ok(self.read(|store| store.find(id))?.unwrap_or(Found::None))
    }

    /// Copies the session of this name and gives the name of the copy. Blocks.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn fork(&self, key: &str) -> Result<String, StoreError> {
        self.flush();
        let copy = format!("shell:{}", uuid::Uuid::now_v7().as_simple());
        SqliteStore::create(&self.path)?.fork(key, &copy, Timestamp::now())?;
        Ok(copy)
    }

    /// The session of this name, to go on with. Blocks.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn load(&self, key: &str) -> Result<Option<Stored>, StoreError> {
        let stored = self.read(|store| {
            let Some(session) = store.session(key)? else { return Ok(None) };
            let (conversation, left) = (store.conversation(key)?, store.left(key)?.unwrap_or_default());
            let tasks = store.tasks(key)?;
            Ok(Some(Stored { session, conversation, left, tasks }))
        })?;
        Ok(stored.flatten())
    }

    /// All events of a session.
    #[cfg(test)]
    pub fn events(&self, key: &str) -> Result<Vec<super::EventRow>, StoreError> {
        Ok(self.read(|store| store.events(key, None))?.unwrap_or_default())
    }
}
