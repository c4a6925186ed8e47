//! The archive is the daemon's access to the session store.

use std::{
    collections::{BTreeSet, HashSet},
    path::PathBuf,
    sync::{
        Arc, Mutex, PoisonError,
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
    event::Event,
    steps::{
        CheckpointStore,
        recover::{Recovered, Unfinished, recover},
    },
};
use crate::{
    StoreError,
    worker::{Hold, Worker},
};

/// Longest chain of continued turns that is followed.
const MAX_CHAIN: usize = 64;
/// Most interrupted turns that are read.
const MAX_INTERRUPTED: usize = 64;
/// Longest wait for an entry that must be on disk before its action.
const WRITE_WAIT: Duration = Duration::from_secs(2);
/// How long entries wait for others of the same step. What the daemon's sudden end takes is at most this much, and never the intent of
/// an action; the client still has the result of a command, and is asked for it.
const GATHERS: Duration = Duration::from_millis(20);

/// Stores sessions without delaying callers, and finds them again. No file is open while nothing is written or read.
#[derive(Clone)]
pub struct Archive {
    path: PathBuf,
    worker: Arc<Worker<Entry>>,
    /// Reading has shown that the file is broken; the next writer handles that.
    is_broken: Arc<AtomicBool>,
    /// Sessions of which messages were dropped because the ones before them are not stored.
    gaps: Arc<Mutex<BTreeSet<String>>>,
}

/// A stored session to continue.
#[derive(Clone, Debug, PartialEq)]
pub struct Stored {
    /// Its row.
    pub session: SessionRow,
    /// The messages for the model: complete, every call has a result.
    pub conversation: Vec<Message>,
    /// The last state of its shell.
    pub left: Left,
    /// Its interrupted turn; the last message only says that it was interrupted.
    pub unfinished: Option<Unfinished>,
    /// Its tasks.
    pub tasks: Vec<Task>,
}

impl Archive {
    /// An archive of this file, which need not exist. Nothing is touched before the first use.
    #[must_use]
    pub fn at(path: PathBuf) -> Self {
        Self::without(path, Arc::default())
    }

    /// The same with the given secrets, so that placeholders agree with those elsewhere.
    #[must_use]
    pub fn without(path: PathBuf, secrets: Arc<Secrets>) -> Self {
        let is_broken = Arc::new(AtomicBool::new(false));
        let was_found_broken = Arc::clone(&is_broken);
        let gaps = Arc::<Mutex<BTreeSet<String>>>::default();
        let found = Arc::clone(&gaps);
        let worker = Worker::new(path.clone(), "conversations are", GATHERS, move |path| {
            let (was_found_broken, found) = (Arc::clone(&was_found_broken), Arc::clone(&found));
            let check =
                move || if was_found_broken.swap(false, Ordering::Relaxed) { Err(StoreError::Broken) } else { Ok(()) };
            // Checked before opening, too: that may fail for the same reason.
            check()?;
            let mut store = SqliteStore::create(path)?;
            let secrets = Arc::clone(&secrets);
            Ok(Box::new(move |entries| {
                check()?;
                if entries.is_empty() {
                    return store.settle();
                }
                let last = still_valid(entries).into_iter();
                let appended = store.append_each(last.map(|entry| secrets.scrubbed(entry.clone())));
                let gaps = match &appended {
                    Ok(appended) => appended.gaps.clone(),
                    Err(_) => entries.iter().filter_map(conversed).map(str::to_owned).collect(),
                };
                found.lock().unwrap_or_else(PoisonError::into_inner).extend(gaps);
                appended.map(|_| ())
            }))
        });
        Self { path, worker: Arc::new(worker), is_broken, gaps }
    }

    fn read<T>(&self, read: impl FnOnce(SqliteStore) -> Result<T, StoreError>) -> Result<Option<T>, StoreError> {
        self.flush();
        let result = SqliteStore::open_existing(&self.path).and_then(|store| store.map(read).transpose());
        if result.as_ref().is_err_and(StoreError::is_corruption) {
            self.is_broken.store(true, Ordering::Relaxed);
        }
        result
    }

    /// Queues an entry. Never waits.
    pub fn keep(&self, entry: Entry) {
        self.worker.enqueue(entry);
    }

    /// Queues an entry and waits until it and all before it are written. False if it could not be written in time.
    pub async fn keep_now(&self, entry: Entry) -> bool {
        written(self.keep_telling(entry)).await
    }

    /// Queues an entry, and reports when it and all before it are written. Never waits itself.
    pub fn keep_telling(&self, entry: Entry) -> oneshot::Receiver<bool> {
        self.worker.enqueue_acknowledged(entry)
    }

    /// Keeps the file open as long as the result lives, for a series of writes.
    #[must_use]
    pub fn hold(&self) -> Hold<Entry> {
        self.worker.hold()
    }

    /// Whether messages of this session were dropped since the last call, because the ones before them are not stored: it was removed,
    /// say, or the disk was full.
    #[must_use]
    pub fn take_gap(&self, session: &str) -> bool {
        self.gaps.lock().unwrap_or_else(PoisonError::into_inner).remove(session)
    }

    /// Waits until all is written, a second at most. Blocks.
    pub fn flush(&self) {
        self.worker.flush();
    }

    /// The trouble with the file since the last call, as a sentence for the user.
    #[must_use]
    pub fn take_trouble(&self) -> Option<String> {
        self.worker.take_trouble()
    }

    /// Sessions with a newest turn that the end of a daemon interrupted, the newest first. Blocks.
    ///
    /// # Errors
    /// They cannot be read.
    pub fn interrupted(&self) -> Result<Vec<(SessionRow, Unfinished)>, StoreError> {
        Ok(self.read(|store| interrupted(&store, None))?.unwrap_or_default())
    }

    /// The session whose id begins with `id`. Blocks.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn find(&self, id: &str) -> Result<Found, StoreError> {
        Ok(self.read(|store| store.find(id))?.unwrap_or(Found::None))
    }

    /// Gives the session another name: the next turn under the old one begins a new session. Never waits.
    pub fn set_aside(&self, session: String) {
        self.keep(Entry::SetAside { session, under: format!("shell:{}", uuid::Uuid::now_v7().as_simple()) });
    }

    /// Copies the session of this name and returns the name of the copy. Blocks.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn fork(&self, key: &str) -> Result<String, StoreError> {
        self.flush();
        let copy = format!("shell:{}", uuid::Uuid::now_v7().as_simple());
        SqliteStore::create(&self.path)?.fork(key, &copy, Timestamp::now())?;
        Ok(copy)
    }

    /// The session of this name, to be continued. Blocks.
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

    /// The events of a session's newest turn, from its question on. Blocks.
    ///
    /// # Errors
    /// They cannot be read.
    pub fn last_turn(&self, key: &str) -> Result<Vec<Event>, StoreError> {
        let rows = self.read(|store| store.events(key, None))?.unwrap_or_default();
        let mut events: Vec<Event> = rows.into_iter().map(|row| row.event).collect();
        let start = events.iter().rposition(|event| matches!(event, Event::Question { .. }));
        Ok(start.map_or_else(Vec::new, |start| events.split_off(start)))
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

/// The session whose messages an entry stores.
fn conversed(entry: &Entry) -> Option<&str> {
    match entry {
        Entry::Conversation { session, .. } => Some(session),
        _ => None,
    }
}

/// The entries without the states of turns and steps that a later entry replaces.
fn still_valid(entries: &[Entry]) -> Vec<&Entry> {
    let mut later = HashSet::new();
    let mut valid: Vec<&Entry> = entries
        .iter()
        .rev()
        .filter(|entry| match entry {
            Entry::Checkpoint(checkpoint) => later.insert(checkpoint.place()),
            Entry::SetAside { .. } => {
                later.clear();
                true
            }
            _ => true,
        })
        .collect();
    valid.reverse();
    valid
}

/// Sessions with a newest turn that the end of a daemon interrupted, the newest first; with `wanted` only the one of this name.
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

/// Waits until it is written. False if it could not be written in time.
pub async fn written(told: oneshot::Receiver<bool>) -> bool {
    timeout(WRITE_WAIT, told).await.is_ok_and(|written| written == Ok(true))
}

/// The conversation of this name, completed, and the turn that it was interrupted in. If that turn continued others, their steps count
/// too: it may have been interrupted before it stored what it continued from.
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
