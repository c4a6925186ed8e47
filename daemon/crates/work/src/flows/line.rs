//! The lines of a run's file. Pure.

use std::collections::BTreeMap;

use cohab_graph::{
    log::{LogEntry, NodeOutcome},
    port::NewRun,
};
use cohab_model_api::Secrets;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

/// The form of files that this release writes.
const FORM: u32 = 1;

/// The first line: what runs.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct HeadLine {
    form: u32,
    /// Begins with the time.
    pub key: String,
    pub at_ms: i64,
    pub flow: String,
    pub file: String,
    pub folder: String,
}

/// The second line: the flow.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SourceLine {
    pub text: String,
    pub parts: BTreeMap<String, String>,
}

/// Any other line: the time, the number of finished visits, the entry.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct EntryLine(pub i64, pub u64, pub LogEntry);

impl HeadLine {
    pub fn new(key: &str, at_ms: i64, new: &NewRun) -> Self {
        let NewRun { flow, file, folder, .. } = new.clone();
        Self { form: FORM, key: key.to_owned(), at_ms, flow, file, folder }
    }

    pub fn read(line: &[u8]) -> Result<Self, String> {
        let head: Self = read(line)?;
        match head.form {
            FORM => Ok(head),
            later => Err(format!("a later release of cohab wrote it (form {later})")),
        }
    }

    pub fn line(&self) -> String {
        line(self)
    }
}

impl SourceLine {
    pub fn read(line: &[u8]) -> Result<Self, String> {
        read(line)
    }

    pub fn line(&self) -> String {
        line(self)
    }
}

impl EntryLine {
    pub fn read(line: &[u8]) -> Result<Self, String> {
        read(line)
    }

    pub fn line(&self) -> String {
        line(self)
    }
}

fn read<T: DeserializeOwned>(line: &[u8]) -> Result<T, String> {
    serde_json::from_slice(line).map_err(|error| error.to_string())
}

/// JSON has no line ends in it.
fn line(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default() + "\n"
}

/// The entry without secrets. Names stay: they are those of the flow.
pub(super) fn scrubbed(mut entry: LogEntry, secrets: &Secrets) -> LogEntry {
    match &mut entry {
        LogEntry::Set { text, .. } => secrets.text(text),
        LogEntry::Finished { outcome, .. } => match outcome {
            NodeOutcome::Text(text) | NodeOutcome::Command { text, .. } | NodeOutcome::Failed(text) => {
                secrets.text(text);
            }
            NodeOutcome::Passed => {}
        },
        LogEntry::Began(_) | LogEntry::Repeated(_) | LogEntry::Stopped { .. } => {}
    }
    entry
}
