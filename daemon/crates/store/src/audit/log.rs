//! The daemon's way to the records: a thread writes them.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::time::timeout;

use super::{Journal, Places, record::Note};
use crate::worker::{Hold, Worker};

/// Longest wait for a record that must be on disk before its action.
const WRITE_WAIT: Duration = Duration::from_secs(2);
/// The same after a wait that failed.
const SHORT_WAIT: Duration = Duration::from_millis(20);

/// How long records wait for others that belong to the same step. What the daemon's sudden end takes is at most this much, and never the
/// record of an action before it runs.
const GATHERS: Duration = Duration::from_millis(20);

/// Whether a record is on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// It is, with all records before it.
    Yes,
    /// It is not, nor was the one before it.
    StillNot,
    /// It could not be written in time, and is the first since a successful one.
    NoMore,
}

/// The daemon's access to the log: a thread writes the records.
#[derive(Clone)]
pub struct AuditLog {
    worker: Arc<Worker<Note>>,
    is_broken: Arc<AtomicBool>,
}

impl AuditLog {
    /// A log in these places, which need not exist. Nothing is touched before the first record.
    #[must_use]
    pub fn at(places: Places) -> Self {
        let folder = places.folder.clone();
        let worker = Worker::new(folder, "the audit log", GATHERS, move |_| {
            let mut journal = Journal::at(places.clone());
            Ok(Box::new(move |notes| Ok(journal.append(notes)?)))
        });
        Self { worker: Arc::new(worker), is_broken: Arc::default() }
    }

    /// Queues a record. Never waits.
    pub fn keep(&self, note: Note) {
        self.worker.enqueue(note);
    }

    /// Queues a record and waits until it is on disk.
    pub async fn keep_now(&self, note: Note) -> Kept {
        let was_broken = self.is_broken.load(Ordering::Relaxed);
        let wait = if was_broken { SHORT_WAIT } else { WRITE_WAIT };
        let is_kept = matches!(timeout(wait, self.worker.enqueue_acknowledged(note)).await, Ok(Ok(true)));
        self.is_broken.store(!is_kept, Ordering::Relaxed);
        match (is_kept, was_broken) {
            (true, _) => Kept::Yes,
            (false, true) => Kept::StillNot,
            (false, false) => Kept::NoMore,
        }
    }

    /// Keeps the writing thread alive as long as the result lives, for a series of records.
    #[must_use]
    pub fn hold(&self) -> Hold<Note> {
        self.worker.hold()
    }
}
