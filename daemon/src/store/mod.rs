//! What outlives the daemon: what model calls took, and what they taught about their models.
//!
//! Answers never wait for it. Jobs go to a thread that lives as long as there are some; what cannot be written is lost, with
//! one line in the log. What was learned is also in memory, and works without a file.

mod database;
pub mod report;
pub mod row;

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};

use tokio::{sync::watch, time::timeout};

pub use database::{Database, StoreError};
use row::{CallRow, ModelKey};

use crate::context::learned::Learned;

/// Jobs that wait for the disk. Beyond, new ones are lost.
const MAX_JOBS: usize = 1_024;
/// A question waits so long at most for what was learned before, once in the daemon's life.
const LOAD_WAIT: Duration = Duration::from_millis(200);
/// The end of the daemon waits so long at most for what is not written yet.
const END_WAIT: Duration = Duration::from_secs(1);
/// Stack of the writing thread.
const STACK_BYTES: usize = 512 * 1024;

/// The store of one user.
pub struct Store {
    shared: Arc<Shared>,
}

struct Shared {
    /// The file; without one everything stays in memory.
    path: Option<PathBuf>,
    state: Mutex<State>,
    became_idle: Condvar,
    is_loaded: watch::Sender<bool>,
}

#[derive(Default)]
struct State {
    jobs: Vec<Job>,
    is_working: bool,
    has_complained: bool,
    learned: HashMap<ModelKey, Learned>,
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
        Self::new(Some(path))
    }

    /// A store that forgets everything at its end.
    #[must_use]
    pub fn in_memory() -> Self {
        Self::new(None)
    }

    fn new(path: Option<PathBuf>) -> Self {
        let is_loaded = watch::Sender::new(path.is_none());
        let shared = Shared { path, state: Mutex::default(), became_idle: Condvar::new(), is_loaded };
        Self { shared: Arc::new(shared) }
    }

    /// Waits until what was learned in earlier lives is known, a short time at most.
    pub async fn ready(&self) {
        let mut is_loaded = self.shared.is_loaded.subscribe();
        if !*is_loaded.borrow() {
            self.shared.enqueue(Job::Load);
            let loaded = is_loaded.wait_for(|is_loaded| *is_loaded);
            if timeout(LOAD_WAIT, loaded).await.is_err() {
                tracing::warn!("the store is slow; going on without it");
            }
        }
    }

    /// What is known of a model.
    #[must_use]
    pub fn learned(&self, key: &ModelKey) -> Learned {
        self.shared.state().learned.get(key).copied().unwrap_or_default()
    }

    /// Changes what is known of a model.
    pub fn learn(&self, key: &ModelKey, change: impl FnOnce(&mut Learned)) {
        let learned = {
            let mut state = self.shared.state();
            let learned = state.learned.entry(key.clone()).or_default();
            change(learned);
            *learned
        };
        self.shared.enqueue(Job::Learned(key.clone(), learned));
    }

    /// Keeps what a model call took.
    pub fn record(&self, call: CallRow) {
        self.shared.enqueue(Job::Call(Box::new(call)));
    }

    /// Waits until all is written, a second at most. Blocks.
    pub fn flush(&self) {
        let is_working = |state: &mut State| state.is_working;
        let waited = self.shared.became_idle.wait_timeout_while(self.shared.state(), END_WAIT, is_working);
        drop(waited);
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        self.flush();
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enqueue(self: &Arc<Self>, job: Job) {
        if self.path.is_none() {
            return;
        }
        let mut state = self.state();
        if state.jobs.len() >= MAX_JOBS {
            drop(state);
            return self.complain("too many figures wait for the disk");
        }
        state.jobs.push(job);
        if state.is_working {
            return;
        }
        let shared = Arc::clone(self);
        let thread = thread::Builder::new().name("store".into()).stack_size(STACK_BYTES);
        match thread.spawn(move || shared.work()) {
            Ok(_) => state.is_working = true,
            Err(error) => {
                state.jobs.clear();
                drop(state);
                self.complain(&error.to_string());
            }
        }
    }

    /// Writes until there is nothing left to write. No connection outlives that, so an idle daemon holds no file.
    fn work(&self) {
        loop {
            let jobs = {
                let mut state = self.state();
                if state.jobs.is_empty() {
                    state.is_working = false;
                    self.became_idle.notify_all();
                    return;
                }
                std::mem::take(&mut state.jobs)
            };
            match self.path.as_ref().map_or(Ok(()), |path| self.write(path, &jobs)) {
                Ok(()) => self.state().has_complained = false,
                Err(error) => self.complain(&error.to_string()),
            }
            // Nobody waits for a file that cannot be read.
            self.is_loaded.send_replace(true);
        }
    }

    fn write(&self, path: &Path, jobs: &[Job]) -> Result<(), StoreError> {
        match self.write_once(path, jobs) {
            Err(error) if error.is_corruption() => {
                let aside = database::move_aside(path)?;
                tracing::warn!(%error, aside = %aside.display(), "the store was broken; it was moved aside and begins anew");
                self.write_once(path, jobs)
            }
            result => result,
        }
    }

    fn write_once(&self, path: &Path, jobs: &[Job]) -> Result<(), StoreError> {
        let mut database = Database::create(path)?;
        if jobs.iter().any(|job| matches!(job, Job::Load)) {
            let known = database.learned()?;
            let mut state = self.state();
            for (key, learned) in known {
                // What was learned in this life is newer.
                state.learned.entry(key).or_insert(learned);
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

    /// One line in the log until something can be written again.
    fn complain(&self, reason: &str) {
        if !std::mem::replace(&mut self.state().has_complained, true) {
            tracing::warn!(reason, "what model calls take is not kept");
        }
    }
}

#[cfg(test)]
mod tests;
