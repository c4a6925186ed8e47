//! What outlives the daemon: what model calls took and what they taught about their models, here; conversations, in
//! [`sessions`].
//!
//! Answers never wait for it. Jobs go to a thread that lives as long as there are some; what cannot be written is lost, with
//! one line in the log. What was learned is also in memory, and works without a file.

mod database;
mod file;
pub mod report;
pub mod row;
mod salvage;
pub mod sessions;
pub mod spool;
mod worker;

use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{sync::watch, time::timeout};

pub use database::Database;
pub use file::StoreError;
use row::{CallRow, ModelKey};
use worker::Worker;

use crate::context::learned::Learned;

/// A question waits so long at most for what was learned before, once in the daemon's life.
const LOAD_WAIT: Duration = Duration::from_millis(200);
/// The store of one user.
pub struct Store {
    /// Without a file everything stays in memory.
    worker: Option<Worker<Job>>,
    learned: Arc<Mutex<HashMap<ModelKey, Learned>>>,
    is_loaded: watch::Sender<bool>,
}

enum Job {
    Load,
    Call(Box<CallRow>),
    Learned(ModelKey, Learned),
}

impl Store {
    /// A store in this file, which need not exist. Nothing is touched before the first use.
    #[must_use]
    pub fn at(path: PathBuf) -> Self {
        let (learned, is_loaded) = (Arc::default(), watch::Sender::new(false));
        let (known, loaded) = (Arc::clone(&learned), is_loaded.clone());
        let worker = Worker::new(path, "what model calls take", move |path| {
            let database = Database::create(path);
            if database.is_err() {
                // Nobody waits for a file that cannot be read.
                loaded.send_replace(true);
            }
            let (mut database, known, loaded) = (database?, Arc::clone(&known), loaded.clone());
            Ok(Box::new(move |jobs| {
                let result = write(&mut database, jobs, &known);
                loaded.send_replace(true);
                result
            }))
        });
        Self { worker: Some(worker), learned, is_loaded }
    }

    /// A store that forgets everything at its end.
    #[must_use]
    pub fn in_memory() -> Self {
        Self { worker: None, learned: Arc::default(), is_loaded: watch::Sender::new(true) }
    }

    /// Waits until what was learned in earlier lives is known, a short time at most.
    pub async fn ready(&self) {
        let mut is_loaded = self.is_loaded.subscribe();
        if !*is_loaded.borrow() {
            self.enqueue(Job::Load);
            let loaded = is_loaded.wait_for(|is_loaded| *is_loaded);
            if timeout(LOAD_WAIT, loaded).await.is_err() {
                tracing::warn!("the store is slow; going on without it");
            }
        }
    }

    /// What is known of a model.
    #[must_use]
    pub fn learned(&self, key: &ModelKey) -> Learned {
        lock(&self.learned).get(key).copied().unwrap_or_default()
    }

    /// Changes what is known of a model.
    pub fn learn(&self, key: &ModelKey, change: impl FnOnce(&mut Learned)) {
        let learned = {
            let mut known = lock(&self.learned);
            let learned = known.entry(key.clone()).or_default();
            change(learned);
            *learned
        };
        self.enqueue(Job::Learned(key.clone(), learned));
    }

    /// Keeps what a model call took.
    pub fn record(&self, call: CallRow) {
        self.enqueue(Job::Call(Box::new(call)));
    }

    /// Waits until all is written, a second at most. Blocks.
    pub fn flush(&self) {
        if let Some(worker) = &self.worker {
            worker.flush();
        }
    }

    fn enqueue(&self, job: Job) {
        if let Some(worker) = &self.worker {
            worker.enqueue(job);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn write(database: &mut Database, jobs: &[Job], known: &Mutex<HashMap<ModelKey, Learned>>) -> Result<(), StoreError> {
    if jobs.iter().any(|job| matches!(job, Job::Load)) {
        let stored = database.learned()?;
        let mut known = lock(known);
        for (key, learned) in stored {
            // What was learned in this life is newer.
            known.entry(key).or_insert(learned);
        }
    }
    database.write(|writer| {
        jobs.iter().try_for_each(|job| match job {
            Job::Load => Ok(()),
            Job::Call(call) => writer.call(call),
            Job::Learned(key, learned) => writer.learned(key, learned),
        })
    })
}

#[cfg(test)]
mod tests;
