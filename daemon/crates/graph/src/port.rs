//! The ports of a run: what works for its nodes, and what keeps its log. This crate names no implementation of them.

use std::collections::BTreeMap;

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use crate::log::{LogEntry, RunStatus, Visited};

// --- work --------------------------------------------------------------------------------------------------------------

/// Works for nodes. Calls of branches come at the same time.
#[async_trait]
pub trait NodeWork: Send + Sync {
    /// Works for one visit of a node, to its end. Ends soon after `cancel` fires, with [`NodeAnswer::Cancelled`] if the work was not
    /// finished. Texts come back without secrets.
    async fn call(&self, visited: &Visited, call: NodeCall, cancel: &CancellationToken) -> NodeAnswer;
}

/// What a node needs.
#[derive(Clone, Debug, PartialEq)]
pub enum NodeCall {
    /// An answer of a model.
    Model {
        /// The question.
        prompt: String,
        /// The role whose model answers.
        role: Option<String>,
    },
    /// A command or a tool.
    Tool {
        /// What runs.
        request: ToolRequest,
        /// Whether values of the state are in it: these may be texts of others.
        holds_values: bool,
    },
    /// An answer of the user.
    Human(HumanQuestion),
    /// The outcome of a debate.
    Debate {
        /// The question.
        question: String,
    },
}

/// A command or a call of a tool.
#[derive(Clone, Debug, PartialEq)]
pub enum ToolRequest {
    /// A shell line.
    Line(String),
    /// The words of a command. Each is one word, whatever is in it.
    Words(Vec<String>),
    /// A tool.
    Tool {
        /// Its name.
        name: String,
        /// Its arguments.
        arguments: serde_json::Map<String, serde_json::Value>,
    },
}

/// A question for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HumanQuestion {
    /// The question.
    pub text: String,
    /// The only answers; any text for none.
    pub choices: Vec<String>,
    /// Whether it asks if a node may run again whose end is unknown.
    pub is_about_repeating: bool,
}

impl HumanQuestion {
    /// The answer as it counts: without blanks around it; of choices also in other case, or its first letters if no other choice has
    /// them.
    ///
    /// # Errors
    /// The text is no answer. A sentence.
    pub fn answer(&self, text: &str) -> Result<String, String> {
        let text = text.trim();
        if self.choices.is_empty() {
            return if text.is_empty() { Err("the answer is empty".to_owned()) } else { Ok(text.to_owned()) };
        }
        let lower = text.to_lowercase();
        if let Some(choice) = self.choices.iter().find(|choice| choice.to_lowercase() == lower) {
            return Ok(choice.clone());
        }
        let mut near = self.choices.iter().filter(|choice| choice.to_lowercase().starts_with(&lower));
        match (near.next(), near.next()) {
            (Some(choice), None) if !lower.is_empty() => Ok(choice.clone()),
            _ => Err(format!("the answer is one of: {}", self.choices.join(", "))),
        }
    }
}

/// What came of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeAnswer {
    /// A text.
    Text(String),
    /// The output and the exit status of a command.
    Command {
        /// The output.
        text: String,
        /// The status, 0 to 255.
        status: i32,
    },
    /// It failed, for this reason; a command that did not run, too.
    Failed(String),
    /// No user is there to answer. The run waits.
    Later,
    /// It was cancelled before it was finished.
    Cancelled,
}

// --- runs --------------------------------------------------------------------------------------------------------------

/// Keeps runs. Blocks. Several processes may use one store; one at a time has the log of a run.
pub trait RunStore {
    /// Keeps a new run and returns its id and its log.
    ///
    /// # Errors
    /// It cannot be written.
    fn create(&self, new: &NewRun) -> Result<(String, Box<dyn RunLog>), RunStoreError>;

    /// Opens the run whose id begins with `id`, to continue it.
    ///
    /// # Errors
    /// There is no such run, or several, or another process has it, or its log is broken.
    fn open(&self, id: &str) -> Result<(StoredRun, Box<dyn RunLog>), RunStoreError>;

    /// The run whose id begins with `id`.
    ///
    /// # Errors
    /// As [`open`](Self::open), but for another process that has it.
    fn read(&self, id: &str) -> Result<StoredRun, RunStoreError>;

    /// All runs, the newest first. A broken one is among them, with its fault.
    ///
    /// # Errors
    /// They cannot be listed.
    fn list(&self) -> Result<Vec<RunSummary>, RunStoreError>;
}

/// The log of a run that this process has. Dropping it lets others have it.
pub trait RunLog: Send {
    /// Adds an entry and returns it as it is kept, without secrets. It is on the disk when this returns.
    ///
    /// # Errors
    /// It cannot be written. Nothing more may be added then.
    fn append(&mut self, entry: &LogEntry) -> Result<LogEntry, RunStoreError>;
}

/// A run that begins: the flow as its files were.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewRun {
    /// The name of the flow.
    pub flow: String,
    /// The flow's file, absolute.
    pub file: String,
    /// Its text.
    pub text: String,
    /// The texts of other files by their names in the flow.
    pub parts: BTreeMap<String, String>,
    /// The folder in which its commands run, absolute.
    pub folder: String,
}

/// A run that is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRun {
    /// Its id: hexadecimal digits.
    pub id: String,
    /// How it began.
    pub begin: NewRun,
    /// When it began, in milliseconds since 1970.
    pub started_ms: i64,
    /// When it changed last, in the same.
    pub changed_ms: i64,
    /// Its state.
    pub status: RunStatus,
    /// Its log.
    pub log: Vec<LogEntry>,
    /// Whether the last entry was cut off, as by a full disk, and is not counted.
    pub is_cut: bool,
}

/// A run in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunSummary {
    /// Its id.
    pub id: String,
    /// The run, or why it cannot be read.
    pub run: Result<RunFacts, RunStoreError>,
}

/// What a list says about a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunFacts {
    /// The name of the flow.
    pub flow: String,
    /// The flow's file.
    pub file: String,
    /// When it began, in milliseconds since 1970.
    pub started_ms: i64,
    /// When it changed last, in the same.
    pub changed_ms: i64,
    /// Its state.
    pub status: RunStatus,
    /// Finished visits of nodes.
    pub steps: u64,
}

/// Why a run cannot be kept or read. `Display` is a sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunStoreError {
    /// No run has such an id.
    #[error("there is no run `{0}`")]
    Unknown(String),
    /// Several runs have.
    #[error("several runs begin with `{0}`")]
    Several(String),
    /// Another process has it.
    #[error("another process has the run `{0}`")]
    InUse(String),
    /// A line of its log cannot be read.
    #[error("the log of the run `{id}` is broken at line {line}: {reason}")]
    Broken {
        /// The run.
        id: String,
        /// From 1.
        line: usize,
        /// A phrase.
        reason: String,
    },
    /// A run has as many bytes as it may.
    #[error("the log of the run would be larger than {0} bytes")]
    Full(u64),
    /// The system says no.
    #[error("{0}")]
    System(String),
}

impl RunStoreError {
    /// What the user can do, a phrase.
    #[must_use]
    pub fn remedy(&self) -> Option<&'static str> {
        match self {
            Self::Unknown(_) => Some("`cohab flow list` lists the runs"),
            Self::Several(_) => Some("write more of its id"),
            Self::InUse(_) => Some("wait for its end, or stop it with Ctrl-C where it runs"),
            Self::Broken { .. } => Some("start the flow again; this run cannot continue"),
            Self::Full(_) => Some("start the flow again, with shorter results or fewer steps"),
            Self::System(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_one_of_the_choices() {
        let choices = ["Yes", "no", "never"].map(str::to_owned).into();
        let question = HumanQuestion { text: "ok?".into(), choices, is_about_repeating: false };
        for (text, answer) in [("yes ", "Yes"), ("Y", "Yes"), ("no", "no"), ("nev", "never")] {
            assert_eq!(question.answer(text).as_deref(), Ok(answer));
        }
        for text in ["", "n", "maybe", "yes please"] {
            assert_eq!(question.answer(text), Err("the answer is one of: Yes, no, never".into()), "{text}");
        }
        let free = HumanQuestion { choices: Vec::new(), ..question };
        assert_eq!((free.answer(" a b\n"), free.answer(" ").is_err()), (Ok("a b".into()), true));
    }
}
