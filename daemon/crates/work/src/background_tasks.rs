//! Background tasks: one file each, so that what one task did is never lost with another one.

use std::{
    ffi::OsStr,
    fs, io,
    path::{Path, PathBuf},
};

use cohab_model_api::{Scrub, Secrets};
use cohab_system::files::{Expected, FileError, make_folder, read_regular, replace};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Most tasks that are kept; the oldest that are over go first.
const MAX_KEPT: usize = 200;
/// Longest file, in bytes.
const MAX_FILE_BYTES: u64 = 1024 * 1024;
/// Most numbers that are tried for a new task while other daemons take them.
const MAX_TRIES: u32 = 100;

/// A question that is worked on behind the prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackgroundTask {
    /// Its number, from 1.
    pub id: u32,
    /// The user's words.
    pub question: String,
    /// The folder that it was asked in.
    pub folder: PathBuf,
    /// How often it is tried; the best attempt counts.
    #[serde(default = "once")]
    pub attempts: u32,
    /// Name of the session that it was asked in.
    pub session: String,
    /// When it was asked, in milliseconds of Unix time.
    pub created_ms: i64,
    /// When it was over, in milliseconds of Unix time.
    pub ended_ms: Option<i64>,
    /// How far it is.
    pub state: TaskState,
    /// The answer; empty until it is over.
    pub answer: String,
    /// Its steps, one line each.
    pub steps: Vec<String>,
    /// The file with the diff of what it changed in its copy of the repository.
    pub diff: Option<PathBuf>,
    /// Whether that file lacks what looks like a secret, so that it cannot be applied.
    #[serde(default)]
    pub has_secrets_left_out: bool,
    /// Tokens that it took.
    pub tokens: u64,
}

impl BackgroundTask {
    /// A task that waits, without a number and a time.
    #[must_use]
    pub fn new(question: String, folder: PathBuf, session: String) -> Self {
        Self {
            id: 0,
            question,
            folder,
            attempts: once(),
            session,
            created_ms: 0,
            ended_ms: None,
            state: TaskState::Queued,
            answer: String::new(),
            steps: Vec::new(),
            diff: None,
            has_secrets_left_out: false,
            tokens: 0,
        }
    }
}

fn once() -> u32 {
    1
}

/// How far a background task is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "is", content = "error")]
pub enum TaskState {
    /// It waits for its turn.
    Queued,
    /// It works.
    Running,
    /// It ended with an answer.
    Done,
    /// It stopped at a limit.
    Limit,
    /// The model refused.
    Refused,
    /// It failed with this error.
    Failed(String),
    /// The user stopped it.
    Cancelled,
    /// The daemon ended while it worked.
    Interrupted,
}

impl TaskState {
    /// Whether nothing more happens.
    #[must_use]
    pub fn is_over(&self) -> bool {
        !matches!(self, Self::Queued | Self::Running)
    }
}

impl Scrub for BackgroundTask {
    fn scrub(&mut self, secrets: &Secrets) {
        self.question.scrub(secrets);
        self.answer.scrub(secrets);
        self.steps.iter_mut().for_each(|step| step.scrub(secrets));
        if let TaskState::Failed(error) = &mut self.state {
            error.scrub(secrets);
        }
    }
}

/// The files of the tasks.
#[derive(Clone, Debug)]
pub struct BackgroundTasks {
    folder: PathBuf,
    /// Takes secrets out of what is stored.
    secrets: std::sync::Arc<Secrets>,
}

impl BackgroundTasks {
    /// Below `state_dir`, which need not exist.
    #[must_use]
    pub fn at(state_dir: &Path, secrets: std::sync::Arc<Secrets>) -> Self {
        Self { folder: state_dir.join("tasks"), secrets }
    }

    /// Stores a task under the next number and returns it. Blocks.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn add(&self, mut task: BackgroundTask) -> io::Result<BackgroundTask> {
        make_folder(&self.folder)?;
        let tasks = self.all();
        self.forget_old(&tasks);
        let last = tasks.iter().map(|task| task.id).max().unwrap_or(0);
        for id in (last + 1)..=(last + MAX_TRIES) {
            task.id = id;
            match replace(&self.path(id), &self.bytes(&task)?, Expected::Absent, None) {
                Ok(()) => return Ok(task),
                Err(FileError::Changed) => {}
                Err(error) => return Err(io::Error::other(error.to_string())),
            }
        }
        Err(io::Error::other("too many tasks begin at the same time"))
    }

    /// Stores a task as it is now. Blocks.
    ///
    /// # Errors
    /// The disk refuses, or the file is gone.
    pub fn update(&self, task: &BackgroundTask) -> io::Result<()> {
        let path = self.path(task.id);
        let old = fs::symlink_metadata(&path)?;
        let replaced = replace(&path, &self.bytes(task)?, Expected::Same(&old), None);
        replaced.map_err(|error| io::Error::other(error.to_string()))
    }

    /// Stores the diff of a task without secrets. Returns its file, and whether that holds the diff to the byte. Blocks.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn keep_diff(&self, id: u32, diff: &str) -> io::Result<(PathBuf, bool)> {
        let path = self.folder.join(format!("{id}.diff"));
        let clean = self.secrets.scrubbed(diff.to_owned());
        let is_exact = *clean == diff;
        let kept = replace(&path, clean.as_bytes(), Expected::Absent, None);
        kept.map(|()| (path, is_exact)).map_err(|error| io::Error::other(error.to_string()))
    }

    /// The task with this number. Blocks.
    #[must_use]
    pub fn find(&self, id: u32) -> Option<BackgroundTask> {
        read(&self.path(id))
    }

    /// All tasks by number; a file that is no task is left out with a line in the log. Blocks.
    #[must_use]
    pub fn all(&self) -> Vec<BackgroundTask> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let files = entries.filter(|path| path.extension() == Some(OsStr::new("json")));
        let mut tasks: Vec<BackgroundTask> = files.filter_map(|path| read(&path)).collect();
        tasks.sort_by_key(|task| task.id);
        tasks
    }

    /// Marks all tasks that are not over as interrupted: no daemon works on them. Blocks.
    pub fn interrupt(&self) {
        for mut task in self.all().into_iter().filter(|task| !task.state.is_over()) {
            task.state = TaskState::Interrupted;
            task.ended_ms = Some(Timestamp::now().as_millisecond());
            if let Err(error) = self.update(&task) {
                tracing::warn!(%error, task = task.id, "a task could not be marked as interrupted");
            }
        }
    }

    fn forget_old(&self, tasks: &[BackgroundTask]) {
        let over = tasks.iter().filter(|task| task.state.is_over());
        let many = (tasks.len() + 1).saturating_sub(MAX_KEPT);
        for task in over.take(many) {
            let _ = fs::remove_file(self.path(task.id));
            let _ = fs::remove_file(self.folder.join(format!("{}.diff", task.id)));
        }
    }

    fn bytes(&self, task: &BackgroundTask) -> io::Result<Vec<u8>> {
        Ok(serde_json::to_vec_pretty(&*self.secrets.scrubbed(task.clone()))?)
    }

    fn path(&self, id: u32) -> PathBuf {
        self.folder.join(format!("{id}.json"))
    }
}

fn read(path: &Path) -> Option<BackgroundTask> {
    let (bytes, _) = match read_regular(path, MAX_FILE_BYTES) {
        Err(FileError::Missing) => return None,
        read => {
            read.inspect_err(|error| tracing::warn!(path = %path.display(), %error, "a task cannot be read")).ok()?
        }
    };
    let task = serde_json::from_slice::<BackgroundTask>(&bytes);
    let task = task.inspect_err(|error| tracing::warn!(path = %path.display(), %error, "a file is no task")).ok()?;
    // Its name is what people and programs call it by.
    (path.file_stem()? == OsStr::new(&task.id.to_string())).then_some(task)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(question: &str) -> BackgroundTask {
        BackgroundTask::new(question.into(), "/w".into(), "shell:1".into())
    }

    fn tasks(folder: &Path) -> BackgroundTasks {
        BackgroundTasks::at(folder, std::sync::Arc::default())
    }

    #[test]
    fn tasks_have_numbers_and_stay_as_they_were_stored() {
        let folder = tempfile::tempdir().unwrap();
        let tasks = tasks(folder.path());
        let mut first = tasks.add(task("one")).unwrap();
        let second = tasks.add(task("two")).unwrap();
        assert_eq!((first.id, second.id), (1, 2));
        first.state = TaskState::Failed("no".into());
        tasks.update(&first).unwrap();
        assert_eq!(tasks.all(), [first, second.clone()]);
        tasks.interrupt();
        assert_eq!(tasks.find(2).unwrap().state, TaskState::Interrupted);
        assert_eq!(tasks.find(1).unwrap().state, TaskState::Failed("no".into()), "what is over stays as it is");
        assert_eq!(tasks.find(3), None);
        assert!(
            tasks.update(&BackgroundTask { id: 3, ..second }).is_err(),
            "a task that was forgotten does not come back"
        );
    }

    #[test]
    fn a_broken_file_hides_no_other_task() {
        let folder = tempfile::tempdir().unwrap();
        let tasks = tasks(folder.path());
        let kept = tasks.add(task("one")).unwrap();
        for (name, text) in [("2.json", "{"), ("3.json", ""), ("x.json", "{}"), ("4.txt", "x")] {
            fs::write(folder.path().join("tasks").join(name), text).unwrap();
        }
        fs::copy(folder.path().join("tasks/1.json"), folder.path().join("tasks/9.json")).unwrap();
        assert_eq!(tasks.all(), [kept]);
    }

    #[test]
    fn a_diff_says_whether_a_secret_was_left_out_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let tasks = tasks(folder.path());
        let id = tasks.add(task("one")).unwrap().id;
        let (file, is_exact) = tasks.keep_diff(id, "+one\n").unwrap();
        assert!(is_exact && fs::read_to_string(file).unwrap() == "+one\n");
        let id = tasks.add(task("two")).unwrap().id;
        let (file, is_exact) = tasks.keep_diff(id, "+password=hunter2hunter2\n").unwrap();
        assert!(!is_exact && !fs::read_to_string(file).unwrap().contains("hunter2"));
    }

    #[test]
    fn old_tasks_go_and_secrets_are_not_stored() {
        let folder = tempfile::tempdir().unwrap();
        let tasks = tasks(folder.path());
        for number in 0..210 {
            let mut one = tasks.add(task(&format!("{number} password=hunter2hunter2"))).unwrap();
            one.state = TaskState::Done;
            tasks.update(&one).unwrap();
        }
        let all = tasks.all();
        assert_eq!(all.len(), MAX_KEPT);
        assert_eq!(all[0].id, 11);
        assert!(!all.iter().any(|task| task.question.contains("hunter2")), "{}", all[0].question);
    }
}
