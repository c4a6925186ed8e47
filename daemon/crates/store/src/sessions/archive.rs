//! The archive is the daemon's access to the session store.

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use cohab_agent::tasks::Task;
use cohab_model_api::{Message, Secrets};
use jiff::Timestamp;
use tokio::{sync::oneshot, time::timeout};

use super::{
    Entry, Found, Left, SessionRow, SqliteStore, StateStore,
    steps::{
        CheckpointStore,
        recover::{Recovered, Unfinished, recover},
    },
};
use crate::{
    StoreError,
    worker::{Hold, Worker},
};

/// A turn that went on so often has no steps before.
const MAX_CHAIN: usize = 64;
/// Interrupted turns that are looked at.
const MAX_INTERRUPTED: usize = 64;
/// So long is waited at most until something is on disk that must be there before it happens.
const WRITE_WAIT: Duration = Duration::from_secs(2);

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
    /// What the model would be sent: complete, every call has a result.
    pub conversation: Vec<Message>,
    /// How its shell was left.
    pub left: Left,
    /// The turn that it was interrupted in; the last message says that, and no more.
    pub unfinished: Option<Unfinished>,
    /// What it means to do.
    pub tasks: Vec<Task>,
}

impl Archive {
    /// Sessions in this file, which need not exist. Nothing is touched before the first use.
    #[must_use]
    pub fn at(path: PathBuf) -> Self {
        Self::without(path, Arc::default())
    }

    /// The same; secrets that are numbered elsewhere, too, have the same placeholders here.
    #[must_use]
    pub fn without(path: PathBuf, secrets: Arc<Secrets>) -> Self {
        let is_broken = Arc::new(AtomicBool::new(false));
        let was_found_broken = Arc::clone(&is_broken);
        let worker = Worker::new(path.clone(), "conversations are", move |path| {
            let was_found_broken = Arc::clone(&was_found_broken);
            let check =
                move || if was_found_broken.swap(false, Ordering::Relaxed) { Err(StoreError::Broken) } else { Ok(()) };
            // Also before it is opened: that may fail for the same reason.
            check()?;
            let mut store = SqliteStore::create(path)?;
            let secrets = Arc::clone(&secrets);
            Ok(Box::new(move |entries| {
                check()?;
                if entries.is_empty() {
                    return store.settle();
                }
                store.append_each(entries.iter().cloned().map(|entry| secrets.scrubbed(entry)))
            }))
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

    /// Keeps this and waits until it is written, with all before it. False if it could not be, or not soon.
    pub async fn keep_now(&self, entry: Entry) -> bool {
        written(self.keep_telling(entry)).await
    }

    /// Keeps this, and tells when it is written, with all before it. Never waits itself.
    pub fn keep_telling(&self, entry: Entry) -> oneshot::Receiver<bool> {
        self.worker.enqueue_acknowledged(entry)
    }

    /// Keeps the file open as long as the result lives: much will be written.
    #[must_use]
    pub fn hold(&self) -> Hold<Entry> {
        self.worker.hold()
    }

    /// Waits until all is written, a second at most. Blocks.
    pub fn flush(&self) {
        self.worker.flush();
    }

    /// What has gone wrong with the file since this was asked last, as a sentence for the user.
    #[must_use]
    pub fn take_trouble(&self) -> Option<String> {
        self.worker.take_trouble()
    }

    /// Sessions whose newest turn the end of a daemon interrupted, the newest first. Blocks.
    ///
    /// # Errors
    /// They cannot be read.
    pub fn interrupted(&self) -> Result<Vec<(SessionRow, Unfinished)>, StoreError> {
        Ok(self.read(|store| interrupted(&store, None))?.unwrap_or_default())
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
            let Recovered { conversation, unfinished } = recovered(&store, key)?;
            let left = store.left(key)?.unwrap_or_default();
            let tasks = store.tasks(key)?;
            Ok(Some(Stored { session, conversation, left, unfinished, tasks }))
        })?;
        Ok(stored.flatten())
    }

    /// All events of a session, for tests.
    ///
    /// # Errors
    /// They cannot be read.
    #[cfg(any(test, feature = "testing"))]
    pub fn events(&self, key: &str) -> Result<Vec<super::EventRow>, StoreError> {
        Ok(self.read(|store| store.events(key, None))?.unwrap_or_default())
    }
}

/// Sessions whose newest turn the end of a daemon interrupted, the newest first; with `wanted` only the one of this name.
///
/// # Errors
/// They cannot be read.
pub fn interrupted(
    store: &(impl StateStore + CheckpointStore),
    wanted: Option<&str>,
) -> Result<Vec<(SessionRow, Unfinished)>, StoreError> {
    let mut found = Vec::new();
    for turn in store.unfinished(MAX_INTERRUPTED)? {
        if turn.is_alive() || wanted.is_some_and(|wanted| wanted != turn.session) {
            continue;
        }
        found.extend(store.session(&turn.session)?.zip(recovered(store, &turn.session)?.unfinished));
    }
    Ok(found)
}

/// Waits until it is written. False if it could not be, or not soon.
pub async fn written(told: oneshot::Receiver<bool>) -> bool {
    timeout(WRITE_WAIT, told).await.is_ok_and(|written| written == Ok(true))
}

/// The conversation of this name, completed, and the turn that it was interrupted in. If that turn went on from others, their steps
/// count too: it may have been interrupted before it wrote down what it went on from.
///
/// # Errors
/// It cannot be read.
pub fn recovered(store: &(impl StateStore + CheckpointStore), key: &str) -> Result<Recovered, StoreError> {
    let turns = store.turns(key, MAX_CHAIN)?;
    let mut wanted = turns.first().map(|turn| &turn.turn);
    let mut steps = Vec::new();
    for turn in &turns {
        if wanted == Some(&turn.turn) {
            let later = std::mem::replace(&mut steps, store.steps(key, &turn.turn)?);
            steps.extend(later);
            wanted = turn.resumed_from.as_ref();
        }
    }
    Ok(recover(store.conversation(key)?, turns.into_iter().next(), &steps))
}
