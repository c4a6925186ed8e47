//! Writes off everybody's way: a thread that lives as long as there is something to write.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};

use super::{file::StoreError, salvage};

/// Jobs that wait for the disk. Beyond, new ones are lost.
const MAX_JOBS: usize = 1_024;
/// The end of the daemon waits so long at most for what is not written yet.
const END_WAIT: Duration = Duration::from_secs(1);
/// Stack of the writing thread.
const STACK_BYTES: usize = 512 * 1024;

/// Does all of these jobs, or none, in the file at this path.
type Write<J> = Box<dyn Fn(&Path, &[J]) -> Result<(), StoreError> + Send + Sync>;

/// Takes jobs for one file.
pub(super) struct Worker<J> {
    shared: Arc<Shared<J>>,
}

struct Shared<J> {
    path: PathBuf,
    /// What is not kept if it cannot be written, as in "... is not kept".
    subject: &'static str,
    write: Write<J>,
    state: Mutex<State<J>>,
    became_idle: Condvar,
}

struct State<J> {
    jobs: Vec<J>,
    is_working: bool,
    has_complained: bool,
}

impl<J: Send + 'static> Worker<J> {
    /// A worker for this file, which need not exist. Nothing is touched before the first job.
    pub fn new(
        path: PathBuf,
        subject: &'static str,
        write: impl Fn(&Path, &[J]) -> Result<(), StoreError> + Send + Sync + 'static,
    ) -> Self {
        let state = State { jobs: Vec::new(), is_working: false, has_complained: false };
        let write: Write<J> = Box::new(write);
        let shared = Shared { path, subject, write, state: Mutex::new(state), became_idle: Condvar::new() };
        Self { shared: Arc::new(shared) }
    }

    /// Takes a job. Never waits.
    pub fn enqueue(&self, job: J) {
        let shared = &self.shared;
        let mut state = shared.state();
        if state.jobs.len() >= MAX_JOBS {
            drop(state);
            return shared.complain("too much waits for the disk");
        }
        state.jobs.push(job);
        if state.is_working {
            return;
        }
        let worker = Arc::clone(shared);
        let thread = thread::Builder::new().name("store".into()).stack_size(STACK_BYTES);
        match thread.spawn(move || worker.work()) {
            Ok(_) => state.is_working = true,
            Err(error) => {
                state.jobs.clear();
                drop(state);
                shared.complain(&error.to_string());
            }
        }
    }

    /// Whether the last jobs could not be done.
    #[cfg(test)]
    pub fn has_complained(&self) -> bool {
        self.shared.state().has_complained
    }
}

impl<J> Worker<J> {
    /// Waits until all is written, a second at most. Blocks.
    pub fn flush(&self) {
        let is_working = |state: &mut State<J>| state.is_working;
        let waited = self.shared.became_idle.wait_timeout_while(self.shared.state(), END_WAIT, is_working);
        drop(waited);
    }
}

impl<J> Drop for Worker<J> {
    fn drop(&mut self) {
        self.flush();
    }
}

impl<J> Shared<J> {
    fn state(&self) -> MutexGuard<'_, State<J>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
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
            match self.write(&jobs) {
                Ok(()) => self.state().has_complained = false,
                Err(error) => self.complain(&told(&error)),
            }
        }
    }

    fn write(&self, jobs: &[J]) -> Result<(), StoreError> {
        match (self.write)(&self.path, jobs) {
            Err(error) if error.is_corruption() => {
                tracing::warn!(%error, path = %self.path.display(), "the store is broken");
                salvage::move_aside(&self.path)?;
                (self.write)(&self.path, jobs)
            }
            result => result,
        }
    }

    /// One line in the log until something can be written again.
    fn complain(&self, reason: &str) {
        if !std::mem::replace(&mut self.state().has_complained, true) {
            tracing::warn!(reason, "{} is not kept", self.subject);
        }
    }
}

/// What is wrong, and what helps.
fn told(error: &StoreError) -> String {
    error.remedy().map_or_else(|| error.to_string(), |remedy| format!("{error}; {remedy}"))
}
