//! The store of usage: what model calls took, and what answers taught about their models.
//!
//! Answers never wait for the store. Jobs go to a thread that lives as long as there are jobs; a failed write is lost, with one line in
//! the log. Learned facts are also in memory, and work without a file.

use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use cohab_model_api::calibration::Learned;
use jiff::{Timestamp, Zoned, civil::Date, tz::TimeZone};
use tokio::{sync::watch, time::timeout};

use crate::{
    Database, StoreError,
    daily_spend::{Spent, Today},
    row::{CallRow, ModelKey},
    worker::{Hold, Worker},
};

/// Longest wait of a question for the stored facts, once in the daemon's life.
const LOAD_WAIT: Duration = Duration::from_millis(200);
/// How long figures of a turn wait for others. The daemon's sudden end takes them; sums in memory have them at once.
const GATHERS: Duration = Duration::from_millis(250);

/// The store of one user.
pub struct Store {
    /// Without a file everything stays in memory.
    worker: Option<Worker<Job>>,
    learned: Arc<Mutex<HashMap<ModelKey, Learned>>>,
    today: Arc<Mutex<Today>>,
    is_loaded: watch::Sender<bool>,
}

/// Keeps the file of a [`Store`] open.
pub struct UsageHold(#[expect(dead_code, reason = "it lives")] Hold<Job>);

enum Job {
    Load,
    Call(Box<CallRow>),
    Learned(ModelKey, Learned),
}

impl Store {
    /// A store in this file, which need not exist. Nothing is touched before the first use.
    #[must_use]
    pub fn at(path: PathBuf) -> Self {
        let (learned, today, is_loaded) = (Arc::default(), Arc::default(), watch::Sender::new(false));
        let (known, spent, loaded) = (Arc::clone(&learned), Arc::clone(&today), is_loaded.clone());
        let worker = Worker::new(path, "the count of tokens and cost is", GATHERS, move |path| {
            let database = Database::create(path);
            if database.is_err() {
                // No caller waits for a file that cannot be read.
                loaded.send_replace(true);
            }
            let (mut database, loaded) = (database?, loaded.clone());
            let (known, spent) = (Arc::clone(&known), Arc::clone(&spent));
            Ok(Box::new(move |jobs| {
                if jobs.is_empty() {
                    // So little is written that no maintenance is needed.
                    return Ok(());
                }
                let result = write(&mut database, jobs, &known, &spent);
                loaded.send_replace(true);
                result
            }))
        });
        Self { worker: Some(worker), learned, today, is_loaded }
    }

    /// A store in memory.
    #[must_use]
    pub fn in_memory() -> Self {
        Self { worker: None, learned: Arc::default(), today: Arc::default(), is_loaded: watch::Sender::new(true) }
    }

    /// Waits until the stored facts are loaded, a short time at most.
    pub async fn ready(&self) {
        let mut is_loaded = self.is_loaded.subscribe();
        if !*is_loaded.borrow() {
            if let Some(worker) = &self.worker {
                // Not behind others that may wait.
                drop(worker.enqueue_acknowledged(Job::Load));
            }
            let loaded = is_loaded.wait_for(|is_loaded| *is_loaded);
            if timeout(LOAD_WAIT, loaded).await.is_err() {
                tracing::warn!("the store is slow; continuing without it");
            }
        }
    }

    /// The facts learned about a model.
    #[must_use]
    pub fn learned(&self, key: &ModelKey) -> Learned {
        lock(&self.learned).get(key).copied().unwrap_or_default()
    }

    /// Changes the facts about a model.
    pub fn learn(&self, key: &ModelKey, change: impl FnOnce(&mut Learned)) {
        let learned = {
            let mut known = lock(&self.learned);
            let learned = known.entry(key.clone()).or_default();
            change(learned);
            *learned
        };
        self.enqueue(Job::Learned(key.clone(), learned));
    }

    /// Records the usage of a model call.
    pub fn record(&self, call: CallRow) {
        let date = call.at.to_zoned(TimeZone::system()).date();
        lock(&self.today).add(date, Spent::of(&call.usage));
        self.enqueue(Job::Call(Box::new(call)));
    }

    /// The usage of all model calls today: of this daemon, and of earlier ones as soon as the store is [`ready`](Store::ready).
    #[must_use]
    pub fn spent_on(&self, date: Date) -> Spent {
        lock(&self.today).on(date)
    }

    /// Waits until all is written, a second at most. Blocks.
    pub fn flush(&self) {
        if let Some(worker) = &self.worker {
            worker.flush();
        }
    }

    /// The trouble with the file since the last call, as a sentence for the user.
    #[must_use]
    pub fn take_trouble(&self) -> Option<String> {
        self.worker.as_ref()?.take_trouble()
    }

    /// Keeps the file open as long as the result lives, for the model calls of a turn.
    #[must_use]
    pub fn hold(&self) -> Option<UsageHold> {
        self.worker.as_ref().map(|worker| UsageHold(worker.hold()))
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

fn write(
    database: &mut Database,
    jobs: &[Job],
    known: &Mutex<HashMap<ModelKey, Learned>>,
    today: &Mutex<Today>,
) -> Result<(), StoreError> {
    if jobs.iter().any(|job| matches!(job, Job::Load)) {
        // The file holds no rows of this daemon yet: the first question waits for this before it is sent.
        let (date, mut spent) = (Zoned::now().date(), Spent::default());
        let start = date.to_zoned(TimeZone::system()).map_or(Timestamp::MAX, |start| start.timestamp());
        database.calls_since(start, |call| spent.add(Spent::of(&call.usage)))?;
        lock(today).load(date, spent);
        let stored = database.learned()?;
        let mut known = lock(known);
        for (key, learned) in stored {
            // Facts learned by this daemon are newer.
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
#[path = "usage_tests.rs"]
mod tests;
