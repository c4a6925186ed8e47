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

/// What a step is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepType {
    /// The question.
    UserMessage,
    /// A model was asked.
    ModelInference,
    /// A tool was called.
    ToolCall,
    /// What is remembered was changed.
    MemoryUpdate,
    /// cohab itself did or told something.
    System,
    /// The conversation was made shorter.
    Compaction,
}

/// How far a step is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepStatus {
    /// Planned; it waits for consent or for its turn.
    Pending,
    /// It was begun.
    Running,
    /// It is done.
    Completed,
    /// It came to nothing.
    Failed,
}

/// What else is known of a step.
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
    /// A few words: the command, the path; and how it went.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// How it went, in a few words.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub summary: String,
    /// It changes something, or may.
    #[serde(skip_serializing_if = "is_false")]
    pub has_effects: bool,
    /// Its result came after the daemon's end, from the client that had run it.
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
    /// How it ended; not known of one that an earlier release kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<StepResult>,
}

fn is_false(value: &bool) -> bool {
    !value
}

/// One step of a turn.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Step {
    /// Its own, unique; of a tool call the one that the client knows the command by. Hexadecimal digits.
    pub id: String,
    /// Name of the session.
    pub session: String,
    /// The turn's id.
    pub turn: String,
    /// In the turn, from 0, in the order of their beginnings.
    pub number: u32,
    /// When it began.
    #[serde(serialize_with = "as_text")]
    pub at: Timestamp,
    /// What it is.
    #[serde(rename = "type")]
    pub kind: StepType,
    /// What it was given: the question, the arguments of a call.
    pub input: Input,
    /// What came of it: text.
    pub output: Option<String>,
    /// How far it is.
    pub status: StepStatus,
    /// How long it took.
    pub duration_ms: Option<u64>,
    /// Why it failed.
    pub error: Option<String>,
    /// What else is known.
    pub metadata: Metadata,
}

/// Of a step what is counted.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct StepFacts {
    /// What it is.
    #[serde(rename = "type")]
    pub kind: StepType,
    /// How far it is.
    pub status: StepStatus,
    /// How long it took.
    pub duration_ms: Option<u64>,
    /// What else is known.
    pub metadata: Metadata,
}

/// What a turn is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentStatus {
    /// It was interrupted, and went on as another turn.
    #[default]
    Idle,
    /// It goes on; or its daemon has ended.
    Running,
    /// The user holds it.
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
    /// What it is doing.
    pub status: AgentStatus,
    /// Steps so far.
    pub steps: u32,
    /// Messages of the conversation.
    pub messages: u32,
    /// Tokens sent in this turn.
    pub sent_tokens: u64,
    /// Tokens received in this turn.
    pub received_tokens: u64,
    /// What is known of the cost, in millionths of a US dollar.
    pub cost_microusd: u64,
}

/// A turn as it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Turn {
    /// Its id.
    pub turn: String,
    /// Name of the session.
    pub session: String,
    /// When it began.
    #[serde(serialize_with = "as_text")]
    pub started: Timestamp,
    /// When something happened last.
    #[serde(serialize_with = "as_text")]
    pub last_activity: Timestamp,
    /// What was asked, one line.
    pub question: String,
    /// The interrupted turn that this one goes on with.
    pub resumed_from: Option<String>,
    /// Process id of its daemon.
    pub pid: u32,
    /// What the agent was doing then.
    pub state: AgentState,
    /// How it ended, in a word.
    pub ended: Option<String>,
    /// Why it failed.
    pub error: Option<String>,
}

/// Whether a process has ended and only waits for its parent to notice. Not known where there is no `/proc`.
fn has_ended(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, state)| state.starts_with(['Z', 'X']))
}

impl Turn {
    /// Whether the daemon that it runs in lives.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        let pid = i32::try_from(self.pid).ok().and_then(rustix::process::Pid::from_raw);
        pid.is_some_and(|pid| rustix::process::test_kill_process(pid).is_ok()) && !has_ended(self.pid)
    }

    /// From its beginning to what happened last.
    #[must_use]
    pub fn duration_ms(&self) -> u64 {
        u64::try_from(self.last_activity.as_millisecond() - self.started.as_millisecond()).unwrap_or(0)
    }

    /// It was interrupted and never goes on.
    #[must_use]
    pub fn given_up(mut self) -> Self {
        self.state.status = AgentStatus::Error;
        self.error = Some("the daemon ended in the middle".to_owned());
        self.ended = Some("interrupted".to_owned());
        self
    }

    /// It had its answer.
    #[must_use]
    pub fn answered(mut self) -> Self {
        self.state.status = AgentStatus::Completed;
        self.ended = Some("answered".to_owned());
        self
    }

    /// It goes on as another turn.
    #[must_use]
    pub fn went_on(mut self) -> Self {
        self.state.status = AgentStatus::Idle;
        self.ended = Some("resumed".to_owned());
        self
    }
}

/// What came of a turn.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExecutionResult {
    /// Whether it was answered.
    pub success: bool,
    /// Its steps in order.
    pub steps: Vec<Step>,
    /// The state that it was left in.
    pub final_state: AgentState,
    /// The last that the model said.
    pub output: Option<String>,
    /// Why it failed.
    pub error: Option<String>,
    /// From its beginning to what happened last.
    pub duration_ms: u64,
}

impl ExecutionResult {
    /// What came of this turn with these steps.
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

/// Something to be kept. What was kept of the same turn or step before gives way. Dropped for a session that is not there.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "what waits to be kept holds it in a box")]
pub enum Checkpoint {
    /// A turn.
    Turn(Turn),
    /// A step.
    Step(Step),
}

/// Keeps turns and steps. Names that are not there are no errors.
pub trait CheckpointStore {
    /// Keeps all of these in their order, or none; when this returns, a process that dies loses none of them.
    ///
    /// # Errors
    /// They cannot be written.
    fn checkpoint(&mut self, checkpoints: &[Checkpoint]) -> Result<(), StoreError>;

    /// The turns of a session, the newest first, so many at most.
    ///
    /// # Errors
    /// They cannot be read.
    fn turns(&self, key: &str, limit: usize) -> Result<Vec<Turn>, StoreError>;

    /// The steps of a turn in order.
    ///
    /// # Errors
    /// They cannot be read.
    fn steps(&self, key: &str, turn: &str) -> Result<Vec<Step>, StoreError>;

    /// The newest turn of each session whose newest turn has not ended, the newest first, so many at most.
    ///
    /// # Errors
    /// They cannot be read.
    fn unfinished(&self, limit: usize) -> Result<Vec<Turn>, StoreError>;

    /// Hands the turns that began since `since` to `take`, in the order of their beginnings, each with what is counted of its steps.
    /// Those of copies are those of their originals.
    ///
    /// # Errors
    /// They cannot be read.
    fn turns_since(&self, since: Timestamp, take: &mut dyn FnMut(Turn, Vec<StepFacts>)) -> Result<(), StoreError>;
}
