//! The runs of flows: a file for each, which only grows and is locked by the process that has the run.
//!
//! - [`FlowRuns`] implements [`RunStore`].
//! - The first line of a file says what runs, the second holds the flow's text, each further one is an entry with its time and the number
//!   of finished visits. So a list needs only the ends of a file.
//!
//! Invariants: an entry is on the disk when it was added; half an entry at the end, as a full disk or a power cut leaves it, is not
//! counted and is cut off by the next writer; no line holds a secret.
//!
//! This module does not know what the nodes of a flow are.

mod line;

use std::{
    fs::{self, File},
    io::{self, Read, Seek as _, SeekFrom, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    sync::Arc,
    thread,
    time::Duration,
};

use cohab_graph::{
    log::{LogEntry, RunStatus},
    port::{NewRun, RunFacts, RunLog, RunStore, RunStoreError, RunSummary, StoredRun},
};
use cohab_model_api::Secrets;
use jiff::Timestamp;
use rustix::{
    fs::{FlockOperation, flock},
    io::Errno,
};
use uuid::Uuid;

use self::line::{EntryLine, HeadLine, SourceLine, scrubbed};
use cohab_store::sessions::id;
use cohab_system::files::{existing, make_folder, options};

/// Largest file, in bytes.
pub const RUN_MAX_BYTES: u64 = 64 * 1024 * 1024;
/// Largest text of a flow with its parts, in bytes.
const SOURCE_MAX_BYTES: usize = 8 * 1024 * 1024;
/// Runs that are over and kept; the oldest goes first. Others are kept until they are over.
const MAX_ENDED_RUNS: usize = 200;
/// Longest first line, in bytes.
const HEAD_MAX_BYTES: u64 = 64 * 1024;
/// Longest entry, in bytes: texts are cut before, and some grow as JSON.
const ENTRY_MAX_BYTES: u64 = 1024 * 1024;
/// Readers look for a moment whether a run is locked.
const LOCK_TRIES: u32 = 5;
const LOCK_PAUSE: Duration = Duration::from_millis(5);
/// Ends the names of the files.
const SUFFIX: &str = ".jsonl";

/// The runs in a folder.
#[derive(Clone, Debug)]
pub struct FlowRuns {
    folder: PathBuf,
    secrets: Arc<Secrets>,
    max_bytes: u64,
}

/// The log of a run that this process has.
struct RunFile {
    file: File,
    path: PathBuf,
    secrets: Arc<Secrets>,
    bytes: u64,
    max_bytes: u64,
    steps: u64,
    is_failed: bool,
}

impl FlowRuns {
    /// Kept below `state_dir`, without `secrets`.
    #[must_use]
    pub fn at(state_dir: &Path, secrets: Arc<Secrets>) -> Self {
        Self { folder: state_dir.join("flows"), secrets, max_bytes: RUN_MAX_BYTES }
    }

    fn path(&self, id: &str) -> PathBuf {
        self.folder.join(format!("{id}{SUFFIX}"))
    }

    /// The ids of all files.
    fn ids(&self) -> Result<Vec<String>, RunStoreError> {
        let entries = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(|error| system(&self.folder, &error))?,
        };
        let id = |name: &str| {
            name.strip_suffix(SUFFIX).filter(|id| id.len() == id::DIGITS && id::is_prefix(id)).map(str::to_owned)
        };
        Ok(entries.flatten().filter_map(|entry| id(entry.file_name().to_str()?)).collect())
    }

    fn find(&self, start: &str) -> Result<String, RunStoreError> {
        let unknown = || RunStoreError::Unknown(start.to_owned());
        if !start.is_empty() && !id::is_prefix(start) {
            return Err(unknown());
        }
        let lower = start.to_ascii_lowercase();
        let mut found = self.ids()?.into_iter().filter(|id| id.starts_with(&lower));
        match (found.next(), found.next()) {
            (None, _) => Err(unknown()),
            (Some(id), None) => Ok(id),
            (Some(_), Some(_)) => Err(RunStoreError::Several(start.to_owned())),
        }
    }

    fn file(&self, id: &str) -> Result<File, RunStoreError> {
        let path = self.path(id);
        let file = existing(&path, options().read(true).append(true)).map_err(|error| system(&path, &error))?;
        file.ok_or_else(|| RunStoreError::Unknown(id.to_owned()))
    }

    /// All of a run, as if no process had it. Returns also the length of its whole lines and of the file.
    fn stored(&self, id: &str, file: &mut File) -> Result<(StoredRun, u64, u64), RunStoreError> {
        let broken = |line: usize, reason: String| RunStoreError::Broken { id: id.to_owned(), line, reason };
        let mut bytes = Vec::new();
        let read = Read::by_ref(file).take(self.max_bytes + 1).read_to_end(&mut bytes);
        read.map_err(|error| system(&self.path(id), &error))?;
        if bytes.len() as u64 > self.max_bytes {
            return Err(broken(1, format!("the file is larger than {} bytes", self.max_bytes)));
        }
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let mut lines = (1..).zip(bytes[..whole].split_inclusive(|byte| *byte == b'\n'));
        let mut next = || lines.next().ok_or_else(|| broken(1, "the beginning is missing".to_owned()));
        let head = next().and_then(|(number, line)| HeadLine::read(line).map_err(|reason| broken(number, reason)))?;
        let source =
            next().and_then(|(number, line)| SourceLine::read(line).map_err(|reason| broken(number, reason)))?;
        let (mut log, mut changed_ms) = (Vec::new(), head.at_ms);
        for (number, line) in lines {
            let EntryLine(at_ms, _, entry) = EntryLine::read(line).map_err(|reason| broken(number, reason))?;
            changed_ms = at_ms;
            log.push(entry);
        }
        let status = stopped(log.last());
        let begin =
            NewRun { flow: head.flow, file: head.file, folder: head.folder, text: source.text, parts: source.parts };
        let is_cut = whole < bytes.len();
        let stored = StoredRun { id: id.to_owned(), begin, started_ms: head.at_ms, changed_ms, status, log, is_cut };
        Ok((stored, whole as u64, bytes.len() as u64))
    }

    /// What a list says about a run, and its key, by which runs are in order. Reads only the ends of the file.
    fn facts(&self, id: &str) -> Result<(String, RunFacts), RunStoreError> {
        let broken = |line: usize, reason: String| RunStoreError::Broken { id: id.to_owned(), line, reason };
        let mut file = self.file(id)?;
        let read = ends(&mut file).map_err(|error| system(&self.path(id), &error))?;
        let (first, last) = read.ok_or_else(|| broken(1, "the beginning is missing".to_owned()))?;
        let head = HeadLine::read(&first).map_err(|reason| broken(1, reason))?;
        // The second line has another form; a run without an entry ends with it.
        let last = last.and_then(|line| EntryLine::read(&line).ok());
        let (changed_ms, steps) = last.as_ref().map_or((head.at_ms, 0), |EntryLine(at_ms, steps, _)| (*at_ms, *steps));
        let status = status(&file, last.as_ref().map(|EntryLine(.., entry)| entry));
        let HeadLine { key, at_ms: started_ms, flow, file, .. } = head;
        Ok((key, RunFacts { flow, file, started_ms, changed_ms, status, steps }))
    }

    /// Removes the oldest runs that are over. One that cannot be removed stays, and one that cannot be read: it may just begin.
    fn prune(&self) -> Result<(), RunStoreError> {
        let runs = self.list()?.into_iter();
        let ended = runs.filter(|run| run.run.as_ref().is_ok_and(|facts| facts.status.is_over()));
        for run in ended.skip(MAX_ENDED_RUNS) {
            if let Err(error) = fs::remove_file(self.path(&run.id)) {
                tracing::warn!(%error, run = run.id, "an old run of a flow could not be removed");
            }
        }
        Ok(())
    }

    fn begin(&self, id: &str, key: &str, new: &NewRun) -> Result<RunFile, RunStoreError> {
        let size = new.text.len() + new.parts.values().map(String::len).sum::<usize>();
        if size > SOURCE_MAX_BYTES {
            return Err(RunStoreError::System(format!(
                "the flow and its parts are larger than {SOURCE_MAX_BYTES} bytes"
            )));
        }
        // A flow with placeholders in it would be another one.
        if std::iter::once(&new.text).chain(new.parts.values()).any(|text| self.secrets.are_in(text)) {
            let reason = "the flow's file holds a secret, and runs are kept on the disk; read it from a variable or a file instead";
            return Err(RunStoreError::System(reason.to_owned()));
        }
        let path = self.path(id);
        let file = options().read(true).append(true).create_new(true).mode(0o600).open(&path);
        let file = file.map_err(|error| system(&path, &error))?;
        lock(&file, id)?;
        let secrets = Arc::clone(&self.secrets);
        let mut run = RunFile { file, path, secrets, bytes: 0, max_bytes: self.max_bytes, steps: 0, is_failed: false };
        run.write(&HeadLine::new(key, now_ms(), new).line())?;
        run.write(&SourceLine { text: new.text.clone(), parts: new.parts.clone() }.line())?;
        let folder = File::open(&self.folder).and_then(|folder| folder.sync_all());
        folder.map_err(|error| system(&self.folder, &error))?;
        Ok(run)
    }
}

impl RunStore for FlowRuns {
    fn create(&self, new: &NewRun) -> Result<(String, Box<dyn RunLog>), RunStoreError> {
        make_folder(&self.folder).map_err(|error| system(&self.folder, &error))?;
        self.prune()?;
        let key = Uuid::now_v7().simple().to_string();
        let id = id::of_key(&key);
        let run = self.begin(&id, &key, new)?;
        Ok((id, Box::new(run)))
    }

    fn open(&self, start: &str) -> Result<(StoredRun, Box<dyn RunLog>), RunStoreError> {
        let id = self.find(start)?;
        let mut file = self.file(&id)?;
        lock(&file, &id)?;
        let (stored, whole, length) = self.stored(&id, &mut file)?;
        let path = self.path(&id);
        if whole < length {
            file.set_len(whole).map_err(|error| system(&path, &error))?;
        }
        let steps = stored.log.iter().filter(|entry| matches!(entry, LogEntry::Finished { .. })).count() as u64;
        let secrets = Arc::clone(&self.secrets);
        let run = RunFile { file, path, secrets, bytes: whole, max_bytes: self.max_bytes, steps, is_failed: false };
        Ok((stored, Box::new(run)))
    }

    fn read(&self, start: &str) -> Result<StoredRun, RunStoreError> {
        let id = self.find(start)?;
        let mut file = self.file(&id)?;
        let (mut stored, ..) = self.stored(&id, &mut file)?;
        stored.status = status(&file, stored.log.last());
        Ok(stored)
    }

    fn list(&self) -> Result<Vec<RunSummary>, RunStoreError> {
        let facts = self.ids()?.into_iter().map(|id| (self.facts(&id), id));
        let mut runs: Vec<(String, RunSummary)> = facts
            .map(|(facts, id)| match facts {
                Ok((key, facts)) => (key, RunSummary { id, run: Ok(facts) }),
                Err(error) => (String::new(), RunSummary { id, run: Err(error) }),
            })
            .collect();
        // Keys begin with their time.
        runs.sort_by(|(one, _), (other, _)| other.cmp(one));
        Ok(runs.into_iter().map(|(_, run)| run).collect())
    }
}

impl RunLog for RunFile {
    fn append(&mut self, entry: &LogEntry) -> Result<LogEntry, RunStoreError> {
        let entry = scrubbed(entry.clone(), &self.secrets);
        let steps = self.steps + u64::from(matches!(entry, LogEntry::Finished { .. }));
        let kept = EntryLine(now_ms(), steps, entry);
        self.write(&kept.line())?;
        self.steps = steps;
        Ok(kept.2)
    }
}

impl RunFile {
    fn write(&mut self, line: &str) -> Result<(), RunStoreError> {
        if self.is_failed {
            return Err(system(&self.path, &io::Error::other("an entry before could not be written")));
        }
        let bytes = self.bytes + line.len() as u64;
        if bytes > self.max_bytes {
            return Err(RunStoreError::Full(self.max_bytes));
        }
        let written = self.file.write_all(line.as_bytes()).and_then(|()| self.file.sync_data());
        if let Err(error) = written {
            self.is_failed = true;
            // If this fails, too, half an entry stays, which the next writer cuts off.
            let _ = self.file.set_len(self.bytes);
            return Err(system(&self.path, &error));
        }
        self.bytes = bytes;
        Ok(())
    }
}

/// The first line of a file, and the last whole one if it is another.
type Ends = (Vec<u8>, Option<Vec<u8>>);

/// Reads the ends of a file. `None` if it has no whole line.
fn ends(file: &mut File) -> io::Result<Option<Ends>> {
    let length = file.metadata()?.len();
    let mut start = Vec::new();
    Read::by_ref(file).take(HEAD_MAX_BYTES).read_to_end(&mut start)?;
    let Some(first_end) = start.iter().position(|byte| *byte == b'\n') else { return Ok(None) };
    start.truncate(first_end + 1);
    let from = length.saturating_sub(2 * ENTRY_MAX_BYTES).max(start.len() as u64);
    file.seek(SeekFrom::Start(from))?;
    let mut end = Vec::new();
    Read::by_ref(file).take(2 * ENTRY_MAX_BYTES).read_to_end(&mut end)?;
    end.truncate(end.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1));
    let last = end.split_inclusive(|byte| *byte == b'\n').next_back().map(<[u8]>::to_vec);
    Ok(Some((start, last)))
}

/// The state of a run whose file no process has locked.
fn stopped(last: Option<&LogEntry>) -> RunStatus {
    match last {
        Some(LogEntry::Stopped { status }) => *status,
        _ => RunStatus::Interrupted,
    }
}

/// The same, unless a process has it. `file` must not be the one that holds the lock: its lock would go.
fn status(file: &File, last: Option<&LogEntry>) -> RunStatus {
    match flock(file, FlockOperation::NonBlockingLockShared) {
        Err(Errno::WOULDBLOCK) => RunStatus::Running,
        // The lock goes with the file, or at once: another process may want the run.
        Ok(()) => {
            let _ = flock(file, FlockOperation::Unlock);
            stopped(last)
        }
        Err(_) => stopped(last),
    }
}

/// Takes the run for this process, until the file is closed.
fn lock(file: &File, id: &str) -> Result<(), RunStoreError> {
    for _ in 0..LOCK_TRIES {
        match flock(file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(()),
            Err(Errno::WOULDBLOCK) => thread::sleep(LOCK_PAUSE),
            Err(error) => return Err(RunStoreError::System(io::Error::from(error).to_string())),
        }
    }
    Err(RunStoreError::InUse(id.to_owned()))
}

fn now_ms() -> i64 {
    Timestamp::now().as_millisecond()
}

fn system(path: &Path, error: &io::Error) -> RunStoreError {
    RunStoreError::System(format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod kill_tests;
#[cfg(test)]
mod tests;
