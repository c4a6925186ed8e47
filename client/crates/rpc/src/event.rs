//! The events of a turn as JSON objects, for `cohab ask --json` and `cohab rpc`. The field `type` says what an event is; more types and
//! fields may come, so readers skip what they don't know.

use cohab_protocol::{
    ApprovalSubject, ChunkDelta, DaemonMessage, NoticeKind, ProposedChange, ProposedCommand, StepActivity, StepOutcome,
    SubagentState, TurnEndReason, Usage, WireError, WireErrorKind,
};
use schemars::JsonSchema;
use serde::Serialize;

/// An event of a turn.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[schemars(rename = "Event")]
pub enum JsonEvent {
    /// The turn exists.
    TurnStarted {
        /// Its id.
        turn_id: String,
    },
    /// A piece of the answer: markdown, as it comes.
    Text {
        /// The addition.
        delta: String,
    },
    /// A piece of the model's visible reasoning.
    Reasoning {
        /// The addition.
        delta: String,
    },
    /// The text since the last step is void.
    Reset {},
    /// A step begins.
    StepStarted {
        /// Its number in the turn, from 0.
        step: u32,
        /// What it does.
        #[serde(flatten)]
        activity: EventActivity,
    },
    /// How far the running step is, as it says.
    StepProgress {
        /// A few words, one line: `40 %, reading files`.
        text: String,
    },
    /// A step is over.
    StepFinished {
        /// Its number in the turn.
        step: u32,
        /// How it ended.
        outcome: EventOutcome,
        /// The result in a few words.
        summary: String,
        /// Its duration in milliseconds.
        elapsed_ms: u64,
    },
    /// A subagent begins a step, or is over.
    Subagent {
        /// Its number in the turn, from 1.
        number: u32,
        /// Its kind.
        kind: String,
        /// Its task in one line.
        label: String,
        /// How it ended; `null` while it works.
        outcome: Option<EventOutcome>,
        /// Tokens that it took so far.
        tokens: u64,
        /// Milliseconds since it began.
        elapsed_ms: u64,
    },
    /// A question for consent.
    Approval(EventQuestion),
    /// A notice that is not part of the answer.
    Notice {
        /// Its kind.
        kind: EventNotice,
        /// The notice, a sentence.
        text: String,
        /// Milliseconds until a request is repeated.
        #[serde(skip_serializing_if = "Option::is_none")]
        after_ms: Option<u64>,
    },
    /// A failure.
    Error(EventError),
    /// The turn is over.
    TurnEnded(EventEnd),
}

/// What a step does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "activity", rename_all = "snake_case")]
pub enum EventActivity {
    /// It waits for a model.
    Model {
        /// `provider/model`.
        model: String,
    },
    /// It runs a tool.
    Tool {
        /// The tool's name.
        tool: String,
        /// Its main argument in one line.
        argument: String,
    },
    /// It reads what the question names.
    Attachment {
        /// The path as the question names it.
        path: String,
    },
    /// It makes the conversation shorter.
    Compaction {},
    /// The shell is shared: programs elsewhere may call.
    Shared {},
}

/// How a step or a subagent ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EventOutcome {
    /// It did what was asked.
    Done,
    /// The tool or the model failed.
    Failed,
    /// The user or the policy said no.
    Refused,
    /// The turn was cancelled meanwhile.
    Cancelled,
}

/// What a question for consent asks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct EventQuestion {
    /// What would be done.
    pub subject: EventSubject,
    /// Whether it is known to do harm.
    pub dangerous: bool,
    /// Why it is asked, a short sentence each.
    pub reasons: Vec<String>,
}

/// What would be done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum EventSubject {
    /// A command runs.
    Command(EventCommand),
    /// A file is written.
    FileChange(EventChange),
    /// A file is read that may hold secrets.
    FileRead {
        /// The tool that would read it.
        tool: String,
        /// The file.
        path: String,
    },
    /// Files are searched that may hold secrets.
    Search {
        /// The tool that would search.
        tool: String,
        /// The file or folder.
        path: String,
        /// The pattern that is searched for.
        pattern: String,
    },
    /// Several commands run.
    Commands {
        /// The commands, in order.
        commands: Vec<EventCommand>,
    },
    /// Several files are written.
    FileChanges {
        /// The changes, in order.
        changes: Vec<EventChange>,
    },
    /// Questions go to a model server that was found on this machine.
    LocalServer {
        /// Its base URL.
        url: String,
        /// The kind of server.
        server: String,
        /// The model.
        model: String,
    },
    /// The turn continues, although there is a reason to stop.
    GoOn {
        /// The reason, a sentence.
        what: String,
    },
    /// Another program than cohab wants to know something. `edited` has a value in the place of `value`.
    Input {
        /// Who asks.
        by: String,
        /// What the program says.
        message: String,
        /// What is asked for.
        label: String,
        /// The value that `once` sends; absent if a yes or a no is the answer.
        value: Option<String>,
    },
    /// Another program than cohab acts.
    Foreign {
        /// Who would act.
        by: String,
        /// The name of the action.
        action: String,
        /// Its arguments as text.
        details: String,
    },
}

/// A command that would run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct EventCommand {
    /// The exact text.
    pub command: String,
    /// The folder.
    pub cwd: String,
}

/// A file that would be written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct EventChange {
    /// `write` or `edit`.
    pub tool: String,
    /// The file.
    pub path: String,
    /// The change as a unified diff.
    pub diff: String,
}

/// Kinds of notices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EventNotice {
    /// Something to know.
    Info,
    /// Something that is wrong.
    Warning,
    /// A request will be repeated.
    Retry,
}

/// A failure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct EventError {
    /// Its kind.
    pub kind: EventErrorKind,
    /// What happened, a sentence.
    pub message: String,
    /// What the user can do.
    pub hint: Option<String>,
}

/// Kinds of failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EventErrorKind {
    /// Client and daemon are of different releases.
    Version,
    /// A message broke the protocol.
    Protocol,
    /// The settings are wrong.
    Settings,
    /// The model service failed.
    Provider,
    /// Something else is running.
    Busy,
    /// Something does not exist.
    NotFound,
    /// A mistake in cohab.
    Internal,
}

/// The end of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct EventEnd {
    /// Why it ended.
    pub reason: EventEndReason,
    /// What it took.
    pub usage: EventUsage,
}

/// Why a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EventEndReason {
    /// The model gave its answer.
    Answered,
    /// It was cancelled.
    Cancelled,
    /// It used up its steps.
    StepLimit,
    /// The model refused.
    Refused,
    /// The answer was cut by the model's length limit.
    Length,
    /// It failed; an error came before.
    Failed,
}

/// Tokens and money; `null` is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct EventUsage {
    /// Tokens sent, without those of the cache.
    pub input_tokens: Option<u64>,
    /// Tokens received.
    pub output_tokens: Option<u64>,
    /// Tokens read from the service's cache.
    pub cache_read_tokens: Option<u64>,
    /// Tokens written to the service's cache.
    pub cache_write_tokens: Option<u64>,
    /// Tokens of reasoning.
    pub reasoning_tokens: Option<u64>,
    /// The cost in US dollars.
    pub cost_usd: Option<f64>,
    /// Whether an unknown further amount was spent.
    pub is_cost_partial: bool,
}

impl JsonEvent {
    /// The event that a message of the daemon is; `None` for messages that concern only the two programs.
    #[must_use]
    pub fn of(message: &DaemonMessage) -> Option<Self> {
        Some(match message {
            DaemonMessage::TurnStarted { turn_id } => Self::TurnStarted { turn_id: turn_id.to_string() },
            DaemonMessage::AgentStreamChunk(chunk) => match &chunk.delta {
                ChunkDelta::Text(delta) => Self::Text { delta: delta.clone() },
                ChunkDelta::Reasoning(delta) => Self::Reasoning { delta: delta.clone() },
                ChunkDelta::Reset => Self::Reset {},
            },
            DaemonMessage::StepStarted(started) => {
                Self::StepStarted { step: started.step, activity: activity(&started.activity) }
            }
            DaemonMessage::StepProgress { text, .. } => Self::StepProgress { text: text.clone() },
            DaemonMessage::StepFinished(finished) => Self::StepFinished {
                step: finished.step,
                outcome: finished.outcome.into(),
                summary: finished.summary.clone(),
                elapsed_ms: finished.elapsed_ms,
            },
            DaemonMessage::SubagentProgress(progress) => Self::Subagent {
                number: progress.number,
                kind: progress.kind.clone(),
                label: progress.label.clone(),
                outcome: match progress.state {
                    SubagentState::Working(_) => None,
                    SubagentState::Ended(ended) => Some(ended.into()),
                },
                tokens: progress.tokens,
                elapsed_ms: progress.elapsed_ms,
            },
            DaemonMessage::ApprovalRequest(request) => Self::Approval(EventQuestion {
                subject: EventSubject::of(&request.subject),
                dangerous: request.is_dangerous,
                reasons: request.reasons.clone(),
            }),
            DaemonMessage::Notice(notice) => {
                let (kind, after_ms) = match notice.kind {
                    NoticeKind::Info => (EventNotice::Info, None),
                    NoticeKind::Warning => (EventNotice::Warning, None),
                    NoticeKind::Retry { after_ms } => (EventNotice::Retry, Some(after_ms)),
                };
                Self::Notice { kind, text: notice.text.clone(), after_ms }
            }
            DaemonMessage::Error(error) => Self::Error(error.into()),
            DaemonMessage::Goodbye { reason } => {
                Self::Error(EventError { kind: EventErrorKind::NotFound, message: reason.clone(), hint: None })
            }
            DaemonMessage::TurnEnded(ended) => {
                Self::TurnEnded(EventEnd { reason: ended.reason.into(), usage: ended.usage.into() })
            }
            DaemonMessage::Welcome(_)
            | DaemonMessage::TurnProgress(_)
            | DaemonMessage::TurnUnfinished(_)
            | DaemonMessage::TurnPaused { .. }
            | DaemonMessage::BudgetUsed(_)
            | DaemonMessage::TurnExtended { .. }
            | DaemonMessage::TaskEnded(_)
            | DaemonMessage::WatcherFired(_)
            | DaemonMessage::SessionReply(_)
            | DaemonMessage::ExecuteCommand(_)
            | DaemonMessage::InterruptCommand { .. } => return None,
        })
    }
}

fn activity(activity: &StepActivity) -> EventActivity {
    match activity {
        StepActivity::ModelCall { model } => EventActivity::Model { model: model.clone() },
        StepActivity::ToolCall { tool, argument } => {
            EventActivity::Tool { tool: tool.clone(), argument: argument.clone() }
        }
        StepActivity::Attachment { path } => EventActivity::Attachment { path: path.clone() },
        StepActivity::Compaction => EventActivity::Compaction {},
        StepActivity::Shared => EventActivity::Shared {},
    }
}

impl EventSubject {
    /// The same of a question of the daemon.
    #[must_use]
    pub fn of(subject: &ApprovalSubject) -> Self {
        match subject {
            ApprovalSubject::Command { command, cwd, .. } => {
                Self::Command(EventCommand { command: command.clone(), cwd: cwd.to_string() })
            }
            ApprovalSubject::FileChange { tool, path, diff } => {
                Self::FileChange(EventChange { tool: tool.clone(), path: path.to_string(), diff: diff.clone() })
            }
            ApprovalSubject::FileRead { tool, path } => Self::FileRead { tool: tool.clone(), path: path.to_string() },
            ApprovalSubject::Search { tool, path, pattern } => {
                Self::Search { tool: tool.clone(), path: path.to_string(), pattern: pattern.clone() }
            }
            ApprovalSubject::Commands(commands) => {
                let one =
                    |one: &ProposedCommand| EventCommand { command: one.command.clone(), cwd: one.cwd.to_string() };
                Self::Commands { commands: commands.iter().map(one).collect() }
            }
            ApprovalSubject::FileChanges(changes) => {
                let one = |one: &ProposedChange| EventChange {
                    tool: one.tool.clone(),
                    path: one.path.to_string(),
                    diff: one.diff.clone(),
                };
                Self::FileChanges { changes: changes.iter().map(one).collect() }
            }
            ApprovalSubject::LocalServer { url, server, model } => {
                Self::LocalServer { url: url.clone(), server: server.clone(), model: model.clone() }
            }
            ApprovalSubject::GoOn { what } => Self::GoOn { what: what.clone() },
            ApprovalSubject::Input { by, message, label, value } => {
                Self::Input { by: by.clone(), message: message.clone(), label: label.clone(), value: value.clone() }
            }
            ApprovalSubject::Foreign { by, action, details } => {
                Self::Foreign { by: by.clone(), action: action.clone(), details: details.clone() }
            }
        }
    }
}

impl From<StepOutcome> for EventOutcome {
    fn from(outcome: StepOutcome) -> Self {
        match outcome {
            StepOutcome::Done => Self::Done,
            StepOutcome::Failed => Self::Failed,
            StepOutcome::Refused => Self::Refused,
            StepOutcome::Cancelled => Self::Cancelled,
        }
    }
}

impl From<&WireError> for EventError {
    fn from(error: &WireError) -> Self {
        Self { kind: error.kind.into(), message: error.message.clone(), hint: error.hint.clone() }
    }
}

impl From<WireErrorKind> for EventErrorKind {
    fn from(kind: WireErrorKind) -> Self {
        match kind {
            WireErrorKind::Version => Self::Version,
            WireErrorKind::Protocol => Self::Protocol,
            WireErrorKind::Settings => Self::Settings,
            WireErrorKind::Provider => Self::Provider,
            WireErrorKind::Busy => Self::Busy,
            WireErrorKind::NotFound => Self::NotFound,
            WireErrorKind::Internal => Self::Internal,
        }
    }
}

impl From<TurnEndReason> for EventEndReason {
    fn from(reason: TurnEndReason) -> Self {
        match reason {
            TurnEndReason::Answered => Self::Answered,
            TurnEndReason::Cancelled => Self::Cancelled,
            TurnEndReason::StepLimit => Self::StepLimit,
            TurnEndReason::Refused => Self::Refused,
            TurnEndReason::Length => Self::Length,
            TurnEndReason::Failed => Self::Failed,
        }
    }
}

impl From<Usage> for EventUsage {
    fn from(usage: Usage) -> Self {
        Self {
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
            cache_read_tokens: usage.cache_read_tokens,
            cache_write_tokens: usage.cache_write_tokens,
            reasoning_tokens: usage.reasoning_tokens,
            cost_usd: usage.cost_microusd.map(|cost| cost as f64 / 1e6),
            is_cost_partial: usage.is_cost_partial,
        }
    }
}

#[cfg(test)]
mod tests {
    use cohab_protocol::{AgentStreamChunk, CallId, Interrupter, StepStarted, TurnEnded, TurnId};
    use serde_json::{Value, json};

    use super::*;

    fn of(message: &DaemonMessage) -> Value {
        serde_json::to_value(JsonEvent::of(message).unwrap()).unwrap()
    }

    #[test]
    fn events_have_the_documented_fields() {
        let turn_id = TurnId(uuid::Uuid::nil());
        let chunk = |delta| DaemonMessage::AgentStreamChunk(AgentStreamChunk { turn_id, seq: 0, delta });
        assert_eq!(of(&chunk(ChunkDelta::Text("a".into()))), json!({"type": "text", "delta": "a"}));
        assert_eq!(of(&chunk(ChunkDelta::Reset)), json!({"type": "reset"}));
        let activity = StepActivity::ToolCall { tool: "bash".into(), argument: "ls".into() };
        let started = DaemonMessage::StepStarted(StepStarted { turn_id, step: 2, activity });
        let expected = r#"{"type":"step_started","step":2,"activity":"tool","tool":"bash","argument":"ls"}"#;
        assert_eq!(serde_json::to_string(&JsonEvent::of(&started)).unwrap(), expected);
    }

    #[test]
    fn unknown_usage_is_null_and_not_zero() {
        let usage = Usage { output_tokens: Some(3), cost_microusd: Some(12_345), ..Usage::default() };
        let ended = TurnEnded { turn_id: TurnId(uuid::Uuid::nil()), reason: TurnEndReason::Answered, usage, chunks: 1 };
        let event = of(&DaemonMessage::TurnEnded(ended));
        assert_eq!(event["usage"]["input_tokens"], Value::Null);
        assert_eq!(event["usage"]["output_tokens"], 3);
        assert_eq!(event["usage"]["cost_usd"], 0.012_345);
        assert_eq!(event["reason"], "answered");
    }

    #[test]
    fn what_concerns_only_the_two_programs_is_no_event() {
        let interrupt = DaemonMessage::InterruptCommand { call_id: CallId(uuid::Uuid::nil()), by: Interrupter::Turn };
        assert_eq!(JsonEvent::of(&interrupt), None);
    }
}
