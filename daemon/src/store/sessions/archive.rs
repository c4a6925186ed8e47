//! The daemon's way to the store of sessions.

use std::{path::PathBuf, sync::Arc};

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
        let worker = Worker::new(path.clone(), "conversations", |path| {
            let mut store = SqliteStore::create(path)?;
            Ok(Box::new(move |entries| store.append(entries)))
        });
        Self { path, worker: Arc::new(worker) }
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
        self.flush();
        SqliteStore::open_existing(&self.path)?.map_or(Ok(Found::None), |store| store.find(id))
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
        self.flush();
        let Some(store) = SqliteStore::open_existing(&self.path)? else { return Ok(None) };
        let Some(session) = store.session(key)? else { return Ok(None) };
        let (conversation, left) = (store.conversation(key)?, store.left(key)?.unwrap_or_default());
        let tasks = store.tasks(key)?;
        Ok(Some(Stored { session, conversation, left, tasks }))
    }

    /// All events of a session.
    #[cfg(test)]
    pub fn events(&self, key: &str) -> Result<Vec<super::EventRow>, StoreError> {
        self.flush();
        SqliteStore::open_existing(&self.path)?.map_or(Ok(Vec::new()), |store| store.events(key, None))
    }
}
