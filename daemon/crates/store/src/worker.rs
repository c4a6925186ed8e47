//! The worker writes on a separate thread, so that no caller waits. The thread lives as long as there are jobs or holds. Under a hold it
//! gathers jobs for a short time, so that one write takes what belongs to one step; a job that a caller waits for is written at once, with
//! all before it.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};

use cohab_system::process::memory;
use tokio::sync::oneshot;

use super::{error::StoreError, recovery};

/// Most waiting jobs. Beyond, new ones are lost.
const MAX_JOBS: usize = 1_024;
/// Longest wait of the daemon's end for unwritten jobs.
const END_WAIT: Duration = Duration::from_secs(1);
/// Stack of the writing thread.
const STACK_BYTES: usize = 512 * 1024;

/// Writes all of these jobs, or none, into an open file. Without jobs no caller waits: a time for maintenance.
pub type Write<J> = Box<dyn FnMut(&[J]) -> Result<(), StoreError>>;
/// Opens the file at this path.
type Opener<J> = Box<dyn Fn(&Path) -> Result<Write<J>, StoreError> + Send + Sync>;

/// Takes jobs for one file.
pub struct Worker<J> {
    shared: Arc<Shared<J>>,
}

struct Shared<J> {
    path: PathBuf,
    /// The name of lost data, as in "... not kept".
    subject: &'static str,
    open: Opener<J>,
    /// How long jobs wait for others while there are holders.
    gathers: Duration,
    state: Mutex<WorkerState<J>>,
    /// There are jobs, or the last holder has gone.
    has_changed: Condvar,
    /// Nothing is left to be written.
    became_idle: Condvar,
}

struct WorkerState<J> {
    jobs: Vec<J>,
    /// Waiters for the jobs so far.
    waiting: Vec<oneshot::Sender<bool>>,
    /// Whether the thread is running.
    is_working: bool,
    is_writing: bool,
    /// Whether a caller waits for the jobs so far.
    is_urgent: bool,
    /// Number of holders, which are about to write more.
    holders: usize,
    has_complained: bool,
    /// The trouble with the file, until it is reported to the user.
    trouble: Option<String>,
}

impl<J> WorkerState<J> {
    fn is_busy(&self) -> bool {
        !self.jobs.is_empty() || self.is_writing || (self.is_working && self.holders == 0)
    }
}

/// Keeps the file open as long as it lives, for a series of jobs.
pub struct Hold<J>(Arc<Shared<J>>);

impl<J> Drop for Hold<J> {
    fn drop(&mut self) {
        self.0.state().holders -= 1;
        self.0.has_changed.notify_all();
    }
}

impl<J: Send + 'static> Worker<J> {
    /// A worker for this file, which need not exist. Nothing is touched before the first job. While there are holders, jobs wait up to
    /// `gathers` for others.
    pub fn new(
        path: PathBuf,
        subject: &'static str,
        gathers: Duration,
        open: impl Fn(&Path) -> Result<Write<J>, StoreError> + Send + Sync + 'static,
    ) -> Self {
        let state = WorkerState {
            jobs: Vec::new(),
            waiting: Vec::new(),
            is_working: false,
            is_writing: false,
            is_urgent: false,
            holders: 0,
            has_complained: false,
            trouble: None,
        };
        let shared = Shared {
            path,
            subject,
            open: Box::new(open),
            gathers,
            state: Mutex::new(state),
            has_changed: Condvar::new(),
            became_idle: Condvar::new(),
        };
        Self { shared: Arc::new(shared) }
    }

    /// Queues a job. Never waits.
    pub fn enqueue(&self, job: J) {
        self.add(job, None);
    }

    /// Queues a job, and reports when it and all before it are written: true, or false if it could not be. Never waits itself.
    pub fn enqueue_acknowledged(&self, job: J) -> oneshot::Receiver<bool> {
        let (written, receiver) = oneshot::channel();
        self.add(job, Some(written));
        receiver
    }

    /// Keeps the file open from the next job on.
    pub fn hold(&self) -> Hold<J> {
        self.shared.state().holders += 1;
        Hold(Arc::clone(&self.shared))
    }

    fn add(&self, job: J, written: Option<oneshot::Sender<bool>>) {
        let shared = &self.shared;
        let mut state = shared.state();
        if state.jobs.len() >= MAX_JOBS {
            drop(state);
            return shared.complain("too much waits for the disk");
        }
        state.jobs.push(job);
        state.is_urgent |= written.is_some();
        state.waiting.extend(written);
        if state.is_working {
            // The thread knows that there are jobs, and waits for more or writes.
            if state.is_urgent || state.jobs.len() == 1 || state.jobs.len() == MAX_JOBS / 2 {
                shared.has_changed.notify_all();
            }
            return;
        }
        let worker = Arc::clone(shared);
        let thread = thread::Builder::new().name("store".into()).stack_size(STACK_BYTES);
        let work = move || {
            worker.work();
            // Nothing may follow for hours.
            memory::give_back();
        };
        match thread.spawn(work) {
            Ok(_) => state.is_working = true,
            Err(error) => {
                state.jobs.clear();
                state.waiting.clear();
                drop(state);
                shared.complain(&error.to_string());
            }
        }
    }

    /// The trouble with the file since the last call, as a sentence for the user.
    pub fn take_trouble(&self) -> Option<String> {
        self.shared.state().trouble.take()
    }

    /// Whether the last jobs failed.
    #[cfg(test)]
    pub fn has_complained(&self) -> bool {
        self.shared.state().has_complained
    }
}

impl<J> Worker<J> {
    /// Waits until all is written, a second at most. Blocks.
    pub fn flush(&self) {
        self.shared.state().is_urgent = true;
        self.shared.has_changed.notify_all();
        let is_busy = |state: &mut WorkerState<J>| state.is_busy();
        let waited = self.shared.became_idle.wait_timeout_while(self.shared.state(), END_WAIT, is_busy);
        drop(waited);
    }
}

impl<J> Drop for Worker<J> {
    fn drop(&mut self) {
        self.flush();
    }
}

impl<J> Shared<J> {
    fn state(&self) -> MutexGuard<'_, WorkerState<J>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes until no jobs are left. No connection outlives that, so an idle daemon holds no file.
    fn work(&self) {
        let mut open = None;
        while let Some((jobs, waiting)) = self.next(&mut open) {
            let result = self.write(&mut open, &jobs);
            let mut state = self.state();
            state.is_writing = false;
            if result.is_ok() {
                state.has_complained = false;
            }
            if !state.is_busy() {
                self.became_idle.notify_all();
            }
            drop(state);
            if let Err(error) = &result {
                open = None;
                self.complain(&told(error));
            }
            for written in waiting {
                // A caller that no longer waits needs no answer.
                let _ = written.send(result.is_ok());
            }
            self.tidy_up(open.as_mut());
        }
    }

    /// Does slow maintenance that can be delayed, unless there are jobs. A failure shows at the next job.
    fn tidy_up(&self, open: Option<&mut Write<J>>) {
        let Some(write) = open.filter(|_| self.state().jobs.is_empty()) else { return };
        if let Err(error) = write(&[]) {
            tracing::debug!(%error, path = %self.path.display(), "the store is not tidied up");
        }
    }

    /// The next jobs, waited for as long as there are holders; `None` at the end, when the file is closed.
    fn next(&self, open: &mut Option<Write<J>>) -> Option<(Vec<J>, Vec<oneshot::Sender<bool>>)> {
        let mut state = self.state();
        loop {
            if !state.jobs.is_empty() {
                state = self.gathered(state);
                state.is_urgent = false;
                state.is_writing = true;
                return Some((std::mem::take(&mut state.jobs), std::mem::take(&mut state.waiting)));
            }
            if state.holders > 0 {
                state = self.has_changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            } else if open.is_some() {
                // Closing writes, and no caller with a job may wait for that.
                drop(state);
                *open = None;
                state = self.state();
            } else {
                state.is_working = false;
                self.became_idle.notify_all();
                return None;
            }
        }
    }

    /// Waits for more jobs as long as none is urgent and more are likely.
    fn gathered<'a>(&'a self, state: MutexGuard<'a, WorkerState<J>>) -> MutexGuard<'a, WorkerState<J>> {
        let may_wait =
            |state: &mut WorkerState<J>| !state.is_urgent && state.holders > 0 && state.jobs.len() < MAX_JOBS / 2;
        let waited = self.has_changed.wait_timeout_while(state, self.gathers, may_wait);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    fn write(&self, open: &mut Option<Write<J>>, jobs: &[J]) -> Result<(), StoreError> {
        match self.try_write(open, jobs) {
            Err(error) if error.is_corruption() => {
                *open = None;
                tracing::warn!(%error, path = %self.path.display(), "the store is broken");
                recovery::move_aside(&self.path)?;
                self.try_write(open, jobs)?;
                let path = self.path.display();
                self.state().trouble = Some(format!(
                    "{path} was damaged. A new file has everything that could be read; the damaged file is kept next \
                     to it as `.broken`."
                ));
                Ok(())
            }
            result => result,
        }
    }

    fn try_write(&self, open: &mut Option<Write<J>>, jobs: &[J]) -> Result<(), StoreError> {
        match open {
            Some(write) => write(jobs),
            None => open.insert((self.open)(&self.path)?)(jobs),
        }
    }

    /// One line in the log until something can be written again.
    fn complain(&self, reason: &str) {
        let mut state = self.state();
        if !std::mem::replace(&mut state.has_complained, true) {
            tracing::warn!(reason, "{} not kept", self.subject);
            let (first, rest) = self.subject.split_at(1);
            let subject = first.to_uppercase() + rest;
            state.trouble = Some(format!("{subject} not kept: {}: {reason}.", self.path.display()));
        }
    }
}

/// The error with its remedy.
fn told(error: &StoreError) -> String {
    error.remedy().map_or_else(|| error.to_string(), |remedy| format!("{error}; {remedy}"))
}

#[cfg(test)]
#[path = "worker_tests.rs"]
mod tests;
