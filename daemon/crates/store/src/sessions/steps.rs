//! The stored form of turns and steps: begun steps, their results, and the state that continues an interrupted turn.
//!
//! A step with effects is written before it acts and again when it has a result. So after the daemon's sudden end a step is done, not
//! begun, or begun with an unknown end, and [`recover`](recover::recover) decides which.

mod input;
pub mod recover;

use jiff::Timestamp;
use serde::{Deserialize, Serialize, Serializer};

pub use input::Input;

use cohab_agent::port::StepResult;

use crate::StoreError;

/// The kind of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepType {
    /// The question.
    UserMessage,
    /// A model was asked.
    ModelInference,
    /// A tool was called.
    ToolCall,
    /// A stored memory was changed.
    MemoryUpdate,
    /// cohab itself acted or gave a notice.
    System,
    /// The conversation was shortened.
    Compaction,
}

/// The progress of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepStatus {
    /// Planned; it waits for consent or for its turn.
    Pending,
    /// It was begun.
    Running,
    /// It is done.
    Completed,
    /// It failed.
    Failed,
}

/// Further facts about a step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Metadata {
    /// Number of the model's step that asked for this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<u32>,
    /// `wire/model` of a model's step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Name of a tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The model's id of a tool call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// A few words: the command, the path; and its outcome.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// Its outcome, in a few words.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub summary: String,
    /// Whether it changes something, or may.
    #[serde(skip_serializing_if = "is_false")]
    pub has_effects: bool,
    /// Whether its result came after the daemon's end, from the client that had run it.
    #[serde(skip_serializing_if = "is_false")]
    pub is_claimed: bool,
    /// Tokens sent, cached ones included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sent_tokens: Option<u64>,
    /// Tokens received.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub received_tokens: Option<u64>,
    /// In millionths of a US dollar.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_microusd: Option<u64>,
    /// From the request to the first piece of text, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_token_ms: Option<u64>,
    /// Time that it waited for the user, in milliseconds: a call before it ran, a model's answer for a decision about all of its calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waited_ms: Option<u64>,
    /// Its outcome; unknown for one that an earlier release stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<StepResult>,
}

fn is_false(value: &bool) -> bool {
    !value
}

/// One step of a turn.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Step {
    /// Its unique id, in hexadecimal digits; for a tool call the id by which the client knows the command.
    pub id: String,
    /// Name of the session.
    pub session: String,
    /// The turn's id.
    pub turn: String,
    /// Its number in the turn, from 0, in the order of the beginnings.
    pub number: u32,
    /// When it began.
    #[serde(serialize_with = "as_text")]
    pub at: Timestamp,
    /// Its kind.
    #[serde(rename = "type")]
    pub kind: StepType,
    /// Its input: the question, the arguments of a call.
    pub input: Input,
    /// Its result: text.
    pub output: Option<String>,
    /// Its progress.
    pub status: StepStatus,
    /// Its duration.
    pub duration_ms: Option<u64>,
    /// The reason of a failure.
    pub error: Option<String>,
    /// Further facts.
    pub metadata: Metadata,
}

/// The counted facts of a step.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct StepFacts {
    /// Its kind.
    #[serde(rename = "type")]
    pub kind: StepType,
    /// Its progress.
    pub status: StepStatus,
    /// Its duration.
    pub duration_ms: Option<u64>,
    /// Further facts.
    pub metadata: Metadata,
}

/// The activity of a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentStatus {
    /// It was interrupted, and continued as another turn.
    #[default]
    Idle,
    /// It is running; or its daemon has ended.
    Running,
    /// The user paused it.
    Paused,
    /// It failed.
    Error,
    /// It is over.
    Completed,
}

/// The state of the agent in a turn.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentState {
    /// Its activity.
    pub status: AgentStatus,
    /// Steps so far.
    pub steps: u32,
    /// Messages of the conversation.
    pub messages: u32,
    /// Tokens sent in this turn.
    pub sent_tokens: u64,
    /// Tokens received in this turn.
    pub received_tokens: u64,
    /// The known cost, in millionths of a US dollar.
    pub cost_microusd: u64,
}

/// A stored turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Turn {
    /// Its id.
    pub turn: String,
    /// Name of the session.
    pub session: String,
    /// When it began.
    #[serde(serialize_with = "as_text")]
    pub started: Timestamp,
    /// Time of the last event.
    #[serde(serialize_with = "as_text")]
    pub last_activity: Timestamp,
    /// The question, one line.
    pub question: String,
    /// The interrupted turn that this one continues.
    pub resumed_from: Option<String>,
    /// Process id of its daemon.
    pub pid: u32,
    /// The state of the agent at that time.
    pub state: AgentState,
    /// Its end, in a word.
    pub ended: Option<String>,
    /// The reason of a failure.
    pub error: Option<String>,
}

/// Whether a process has ended and only waits for its parent to notice. Unknown without `/proc`.
fn has_ended(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, state)| state.starts_with(['Z', 'X']))
}

impl Turn {
    /// Whether its daemon is alive.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        let pid = i32::try_from(self.pid).ok().and_then(rustix::process::Pid::from_raw);
        pid.is_some_and(|pid| rustix::process::test_kill_process(pid).is_ok()) && !has_ended(self.pid)
    }

    /// From its beginning to the last event.
    #[must_use]
    pub fn duration_ms(&self) -> u64 {
        u64::try_from(self.last_activity.as_millisecond() - self.started.as_millisecond()).unwrap_or(0)
    }

    /// The turn as interrupted and never continued.
    #[must_use]
    pub fn given_up(mut self) -> Self {
        self.state.status = AgentStatus::Error;
        self.error = Some("the daemon ended in the middle".to_owned());
        self.ended = Some("interrupted".to_owned());
        self
    }

    /// The turn as answered.
    #[must_use]
    pub fn answered(mut self) -> Self {
        self.state.status = AgentStatus::Completed;
        self.ended = Some("answered".to_owned());
        self
    }

    /// The turn as continued by another one.
    #[must_use]
    pub fn went_on(mut self) -> Self {
        self.state.status = AgentStatus::Idle;
        self.ended = Some("resumed".to_owned());
        self
    }
}

/// The result of a turn.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExecutionResult {
    /// Whether it was answered.
    pub success: bool,
    /// Its steps in order.
    pub steps: Vec<Step>,
    /// Its last state.
    pub final_state: AgentState,
    /// The model's last text.
    pub output: Option<String>,
    /// The reason of a failure.
    pub error: Option<String>,
    /// From its beginning to the last event.
    pub duration_ms: u64,
}

impl ExecutionResult {
    /// The result of this turn with these steps.
    #[must_use]
    pub fn of(turn: &Turn, steps: Vec<Step>) -> Self {
        let said = |step: &&Step| step.kind == StepType::ModelInference && step.output.is_some();
        Self {
            success: turn.state.status == AgentStatus::Completed && turn.ended.as_deref() == Some("answered"),
            output: steps.iter().rev().find(said).and_then(|step| step.output.clone()),
            steps,
            final_state: turn.state.clone(),
            error: turn.error.clone(),
            duration_ms: turn.duration_ms(),
        }
    }
}

fn as_text<S: Serializer>(at: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(at)
}

/// An entry to store. It replaces the earlier one of the same turn or step. Dropped for a session that does not exist.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "what waits to be kept holds it in a box")]
pub enum Checkpoint {
    /// A turn.
    Turn(Turn),
    /// A step.
    Step(Step),
}

impl Checkpoint {
    /// The session, the turn and the number of the step: what a later state of the same replaces.
    #[must_use]
    pub fn place(&self) -> (&str, &str, Option<u32>) {
        match self {
            Self::Turn(turn) => (&turn.session, &turn.turn, None),
            Self::Step(step) => (&step.session, &step.turn, Some(step.number)),
        }
    }
}

/// Stores turns and steps. Unknown names are no errors.
pub trait CheckpointStore {
    /// Stores all of these in their order, or none; when this returns, a process that dies loses none of them.
    ///
    /// # Errors
    /// They cannot be written.
    fn checkpoint(&mut self, checkpoints: &[Checkpoint]) -> Result<(), StoreError>;

    /// The turns of a session, the newest first, at most `limit`.
    ///
    /// # Errors
    /// They cannot be read.
    fn turns(&self, key: &str, limit: usize) -> Result<Vec<Turn>, StoreError>;

    /// The steps of a turn in order.
    ///
    /// # Errors
    /// They cannot be read.
    fn steps(&self, key: &str, turn: &str) -> Result<Vec<Step>, StoreError>;

    /// The newest turn of each session whose newest turn has not ended, the newest first, at most `limit`.
    ///
    /// # Errors
    /// They cannot be read.
    fn unfinished(&self, limit: usize) -> Result<Vec<Turn>, StoreError>;

    /// Passes the turns that began since `since` to `take`, in the order of their beginnings, each with the counted facts of its steps.
    /// Turns of copies count for their originals.
    ///
    /// # Errors
    /// They cannot be read.
    fn turns_since(&self, since: Timestamp, take: &mut dyn FnMut(Turn, Vec<StepFacts>)) -> Result<(), StoreError>;
}
