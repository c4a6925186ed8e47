//! A store in memory, for tests of runs.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::{
    log::{LogEntry, RunStatus},
    port::{NewRun, RunFacts, RunLog, RunStore, RunStoreError, RunSummary, StoredRun},
};

/// Keeps runs as long as it lives.
#[derive(Clone, Default)]
pub struct MemoryRuns {
    runs: Arc<Mutex<Vec<KeptRun>>>,
}

struct KeptRun {
    begin: NewRun,
    log: Vec<LogEntry>,
    is_taken: bool,
}

struct MemoryLog {
    runs: MemoryRuns,
    place: usize,
}

impl MemoryRuns {
    fn runs(&self) -> MutexGuard<'_, Vec<KeptRun>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn find(&self, id: &str) -> Result<usize, RunStoreError> {
        let found: Vec<usize> = (0..self.runs().len()).filter(|place| id_of(*place).starts_with(id)).collect();
        match found.as_slice() {
            [] => Err(RunStoreError::Unknown(id.to_owned())),
            [place] => Ok(*place),
            _ => Err(RunStoreError::Several(id.to_owned())),
        }
    }

    fn stored(&self, place: usize) -> StoredRun {
        let runs = self.runs();
        let kept = &runs[place];
        let status = match kept.log.last() {
            _ if kept.is_taken => RunStatus::Running,
            Some(LogEntry::Stopped { status }) => *status,
            _ => RunStatus::Interrupted,
        };
        let at = i64::try_from(place).unwrap_or_default();
        let (begin, log) = (kept.begin.clone(), kept.log.clone());
        StoredRun { id: id_of(place), begin, started_ms: at, changed_ms: at, status, log, is_cut: false }
    }
}

/// The first digits differ, so that the start of an id names one.
fn id_of(place: usize) -> String {
    format!("{place:04x}{:012x}", 0)
}

impl RunStore for MemoryRuns {
    fn create(&self, new: &NewRun) -> Result<(String, Box<dyn RunLog>), RunStoreError> {
        let mut runs = self.runs();
        runs.push(KeptRun { begin: new.clone(), log: Vec::new(), is_taken: true });
        let place = runs.len() - 1;
        Ok((id_of(place), Box::new(MemoryLog { runs: self.clone(), place })))
    }

    fn open(&self, id: &str) -> Result<(StoredRun, Box<dyn RunLog>), RunStoreError> {
        let place = self.find(id)?;
        let stored = self.stored(place);
        if std::mem::replace(&mut self.runs()[place].is_taken, true) {
            return Err(RunStoreError::InUse(stored.id));
        }
        Ok((stored, Box::new(MemoryLog { runs: self.clone(), place })))
    }

    fn read(&self, id: &str) -> Result<StoredRun, RunStoreError> {
        Ok(self.stored(self.find(id)?))
    }

    fn list(&self) -> Result<Vec<RunSummary>, RunStoreError> {
        let count = self.runs().len();
        let summary = |place| {
            let StoredRun { id, begin, started_ms, changed_ms, status, log, .. } = self.stored(place);
            let steps = log.iter().filter(|entry| matches!(entry, LogEntry::Finished { .. })).count() as u64;
            let NewRun { flow, file, .. } = begin;
            RunSummary { id, run: Ok(RunFacts { flow, file, started_ms, changed_ms, status, steps }) }
        };
        Ok((0..count).rev().map(summary).collect())
    }
}

impl RunLog for MemoryLog {
    fn append(&mut self, entry: &LogEntry) -> Result<LogEntry, RunStoreError> {
        self.runs.runs()[self.place].log.push(entry.clone());
        Ok(entry.clone())
    }
}

impl Drop for MemoryLog {
    fn drop(&mut self) {
        self.runs.runs()[self.place].is_taken = false;
    }
}
