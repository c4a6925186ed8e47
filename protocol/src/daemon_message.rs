//! Messages from the daemon to the client.

use serde::{Deserialize, Serialize};

use crate::{
    ApprovalId, ApprovalMode, ApprovalRequest, CallId, ContextReport, Interrupter, RequestId, SessionKey,
    SubagentProgress, TaskDetails, TaskEnded, TaskSummary, TurnId, WatcherFired, WireError, WirePath,
};

/// Daemon to client. Append variants at the end and raise `PROTOCOL_VERSION`; never change one in place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DaemonMessage {
    /// Answers `Hello`.
    Welcome(Welcome),
    /// Answers `UserQuery`: the turn exists and can be cancelled.
    TurnStarted {
        /// The turn.
        turn_id: TurnId,
    },
    /// A piece of the answer.
    AgentStreamChunk(AgentStreamChunk),
    /// A step of a turn begins.
    StepStarted(StepStarted),
    /// A step of a turn is over.
    StepFinished(StepFinished),
    /// Run this in the live shell. Answered by one `CommandExecutionResult`.
    ExecuteCommand(ExecuteCommand),
    /// Stop a command: SIGINT to its process group, then harder signals; a command that has not begun is given up. Its result still
    /// comes.
    InterruptCommand {
        /// The command.
        call_id: CallId,
        /// The party that interrupts it; never the user, whom the client knows.
        by: Interrupter,
    },
    /// Ask the user. Answered by one `ApprovalReply`.
    ApprovalRequest(ApprovalRequest),
    /// The turn is over; nothing about it follows.
    TurnEnded(TurnEnded),
    /// Answers `SessionRequest`.
    SessionReply(SessionReply),
    /// A notice for the user that is not part of the answer.
    Notice(Notice),
    /// A failure.
    Error(WireError),
    /// The daemon closes this connection.
    Goodbye {
        /// The reason, as a sentence.
        reason: String,
    },
    /// The usage of the turn so far.
    TurnProgress(TurnProgress),
    /// Follows `Attached` if the end of an earlier daemon interrupted a turn of the session; `ResumeTurn` continues it.
    TurnUnfinished(TurnUnfinished),
    /// The turn is paused, or continues.
    TurnPaused {
        /// The turn.
        turn_id: TurnId,
        /// Whether the turn is paused: no request goes to the model and no tool starts.
        is_paused: bool,
    },
    /// The used share of the user's tightest budget; sent after a model call, if there is a budget.
    BudgetUsed(BudgetUsed),
    /// Words that the user added to the turn are stored with it, and the model reads them with its next call.
    TurnExtended {
        /// The turn.
        turn_id: TurnId,
        /// Number of the last of them; those before it are reported as well.
        number: u32,
    },
    /// How far a subagent of the turn is; sent when it begins a step, and at its end.
    SubagentProgress(SubagentProgress),
    /// A background task of the session is over.
    TaskEnded(TaskEnded),
    /// A watcher has fired. Answered by `FiringShown`; a later firing of it is sent only then, and stands for all until then.
    WatcherFired(WatcherFired),
    /// How far the running step is, in a few words. It stands until the step is over, or another one comes.
    StepProgress {
        /// The turn.
        turn_id: TurnId,
        /// One line: `40 %, reading files`.
        text: String,
    },
}

/// A turn that can be continued.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnUnfinished {
    /// The question, one line.
    pub question: String,
    /// Completed steps, which are not repeated.
    pub steps_done: u32,
    /// Actions that were begun and may have been completed, in short lines; they are not repeated automatically.
    pub unknown: Vec<String>,
}

/// The daemon introduces itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Welcome {
    /// `PROTOCOL_VERSION` of the daemon.
    pub protocol_version: u32,
    /// `SCHEMA_HASH` of the daemon.
    pub schema_hash: u64,
    /// Release of the daemon.
    pub build: String,
    /// Process id of the daemon.
    pub pid: u32,
}

/// A piece of an answer. `seq` counts the chunks of a turn from 0 without gaps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentStreamChunk {
    /// The turn.
    pub turn_id: TurnId,
    /// Position in the turn.
    pub seq: u64,
    /// The addition.
    pub delta: ChunkDelta,
}

/// The addition of a chunk. Markdown, as the model wrote it: the client sanitises before it shows anything.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ChunkDelta {
    /// Text of the answer.
    Text(String),
    /// The model's visible reasoning, if it sends any.
    Reasoning(String),
    /// The text since the last step is void: the request is repeated after a failure and will send it again.
    Reset,
}

/// A step begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepStarted {
    /// The turn.
    pub turn_id: TurnId,
    /// Number of the step in the turn, from 0. Tool calls of one batch have a number each.
    pub step: u32,
    /// The activity of the step.
    pub activity: StepActivity,
}

/// The activity of a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StepActivity {
    /// Waiting for the model.
    ModelCall {
        /// `provider/model`.
        model: String,
    },
    /// A tool runs.
    ToolCall {
        /// The tool's name.
        tool: String,
        /// The tool's main argument in one line: the command, the path, the pattern.
        argument: String,
    },
    /// The shell is shared: programs elsewhere may call at any time.
    Shared,
    /// The conversation is made shorter.
    Compaction,
    /// A file or folder that the question names is read, for the model to have it with the question.
    Attachment {
        /// The path in one line, as the user wrote it.
        path: String,
    },
}

/// A step is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepFinished {
    /// The turn.
    pub turn_id: TurnId,
    /// Number of the step.
    pub step: u32,
    /// The outcome of the step.
    pub outcome: StepOutcome,
    /// The result in one short line (`12 lines`, `exit 1`, `3 files`); may be empty.
    pub summary: String,
    /// Duration in milliseconds.
    pub elapsed_ms: u64,
    /// What the user should see of it, if the step line is not enough.
    pub detail: Option<StepDetail>,
    /// Whether the step could only read: its failure means little for the outcome of the turn.
    pub only_reads: bool,
}

/// More about a finished step, for the user's screen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StepDetail {
    /// The step has changed a file.
    Change(FileDiff),
    /// The end of the output of a command that has failed; at most `MAX_STEP_OUTPUT_BYTES`. The live shell has shown it already.
    Output(String),
    /// So many lines of a result; the user sees none of them, unless the live shell has shown them. A shorter result has no detail.
    Lines(u32),
}

/// A change to a file as text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileDiff {
    /// The start of the unified diff, without the two lines that name the file: whole lines, at most `MAX_STEP_DIFF_BYTES`.
    pub diff: String,
    /// Lines of the diff that follow and are left out.
    pub left_out_lines: u32,
}

/// The outcome of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StepOutcome {
    /// The step was carried out as asked.
    Done,
    /// The tool answered with an error; the model sees it.
    Failed,
    /// The user or the policy said no.
    Refused,
    /// The turn was cancelled meanwhile.
    Cancelled,
}

/// A command for the live shell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExecuteCommand {
    /// The turn it belongs to.
    pub turn_id: TurnId,
    /// Chosen by the daemon; a repeat is not run but answered with the result of the first run, at its end if it still runs.
    pub call_id: CallId,
    /// The exact text, at most `MAX_COMMAND_BYTES`.
    pub command: String,
    /// After this long without an end the result is `StillRunning`; the command is not killed.
    pub timeout_ms: u64,
    /// The user's consent to exactly this text, if it was needed. The client checks it against its own record.
    pub approval_id: Option<ApprovalId>,
}

/// The usage of a turn so far; sent after each model call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnProgress {
    /// The turn.
    pub turn_id: TurnId,
    /// The sum over its model calls until now.
    pub usage: Usage,
}

/// The used share of a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BudgetUsed {
    /// The turn that is reported on.
    pub turn_id: TurnId,
    /// The budget.
    pub budget: BudgetKind,
    /// The used share in percent; over 100 if more was used.
    pub percent: u16,
}

/// The kinds of budgets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum BudgetKind {
    /// Tokens of one turn.
    TurnTokens,
    /// Tokens of a day, over all terminals.
    DayTokens,
    /// Money of a day, over all terminals.
    DayCost,
    /// Time of one turn.
    TurnTime,
}

/// The end of a turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnEnded {
    /// The turn.
    pub turn_id: TurnId,
    /// The reason for its end.
    pub reason: TurnEndReason,
    /// The usage of the turn.
    pub usage: Usage,
    /// Number of chunks sent: the `seq` of a further chunk.
    pub chunks: u64,
}

/// The reason for the end of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TurnEndReason {
    /// The model gave its answer.
    Answered,
    /// The user stopped it.
    Cancelled,
    /// The turn used up its steps.
    StepLimit,
    /// The model refused, or a filter stopped it.
    Refused,
    /// The answer was cut by the model's length limit.
    Length,
    /// The turn failed; an `Error` about it came before.
    Failed,
}

/// Tokens and money, as the provider counted them. An absent value is unknown, not zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens sent, without those from or to the cache.
    pub input_tokens: Option<u64>,
    /// Tokens received.
    pub output_tokens: Option<u64>,
    /// Tokens read from the provider's cache.
    pub cache_read_tokens: Option<u64>,
    /// Tokens written to the provider's cache.
    pub cache_write_tokens: Option<u64>,
    /// Tokens of reasoning, part of the output if the provider counts so.
    pub reasoning_tokens: Option<u64>,
    /// The cost in millionths of a US dollar, as reported by the provider or by the user's own prices.
    pub cost_microusd: Option<u64>,
    /// Whether an unknown further amount was spent.
    pub is_cost_partial: bool,
}

/// Answers a `SessionRequest`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionReply {
    /// The request.
    pub request_id: RequestId,
    /// The answer.
    pub answer: SessionAnswer,
}

/// Answers, by kind of request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SessionAnswer {
    /// Answers `Attach`.
    Attached(Attached),
    /// Answers `Status`.
    Status(DaemonStatus),
    /// Answers `Clear` and `SetApproval`.
    Done,
    /// Answers `Context`.
    Context(ContextReport),
    /// Answers `Compact`: estimated tokens of the conversation.
    Compacted {
        /// Tokens before.
        before_tokens: u64,
        /// Tokens after.
        after_tokens: u64,
    },
    /// Answers `Usage`.
    Usage(Usage),
    /// Answers `Rewind`: the question of the turn that is forgotten; absent if there was none.
    Rewound {
        /// The question as the user asked it.
        question: Option<String>,
    },
    /// Answers `StartTask` and `RetryTask`: the task waits or works.
    TaskStarted {
        /// Its number.
        id: u32,
    },
    /// Answers `Tasks`: the newest first.
    Tasks(Vec<TaskSummary>),
    /// Answers `Task`.
    Task(Box<TaskDetails>),
    /// Answers `Commands`: at most [`MAX_NAMED_COMMANDS`], each name once.
    Commands(Vec<NamedCommand>),
}

/// Most names in the answer to `Commands`.
pub const MAX_NAMED_COMMANDS: usize = 100;

/// A skill or a command that the user can call by its name, as `/name`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedCommand {
    /// Its name, without the slash.
    pub name: String,
    /// What may follow; empty if its author does not say.
    pub hint: String,
    /// What it is for, one line.
    pub meaning: String,
    /// Whether it came with the project.
    pub is_of_project: bool,
}

/// The session as it is after `Attach`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attached {
    /// The session.
    pub session: SessionKey,
    /// The model that will answer.
    pub model: ModelIdentity,
    /// The actions that need no question, as the client requested.
    pub approval: ApprovalMode,
    /// Whether the turn of [`Attach::resume`](crate::Attach::resume) continues here: its rest, or its end, follows.
    pub is_resumed: bool,
    /// Title of the conversation, if it is an older one that is resumed.
    pub title: Option<String>,
    /// The state in which the last shell of an older conversation was left.
    pub left: Option<LeftState>,
    /// Its last turn, for the user who returns to it.
    pub recap: Option<Box<Recap>>,
}

/// The end of an older conversation. Each text is one short line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recap {
    /// The last question.
    pub question: String,
    /// The last lines of its answer, two at most.
    pub answer_end: Vec<String>,
    /// Tasks that are not done.
    pub open_tasks: Vec<String>,
    /// Files that the last turn changed by `write` and `edit`.
    pub changed_files: Vec<String>,
}

/// The state of a shell when its conversation was left.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftState {
    /// The shell's folder.
    pub cwd: WirePath,
    /// Exported variables that the assistant's commands had set, except those that look secret.
    pub environment: Vec<crate::EnvSetting>,
}

/// The model that answers, and the reason for its choice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelIdentity {
    /// Wire or provider name: `anthropic`, `openai-chat`, `offline`, ...
    pub provider: String,
    /// Model name as sent to the provider.
    pub model: String,
    /// The origin of the choice, for people: `config.toml`, `ANTHROPIC_API_KEY`, `found on 127.0.0.1:11434`, ...
    pub origin: String,
    /// True for the built-in assistant without a language model.
    pub is_offline: bool,
}

/// The daemon's state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DaemonStatus {
    /// Process id.
    pub pid: u32,
    /// Release.
    pub build: String,
    /// Time since its start, in milliseconds.
    pub uptime_ms: u64,
    /// Connected clients, this one included.
    pub clients: u32,
    /// Sessions in memory.
    pub sessions: u32,
    /// Turns running now.
    pub turns_running: u32,
    /// Commands that have a live shell now.
    pub commands_running: u32,
    /// Commands that wait for a live shell.
    pub commands_waiting: u32,
    /// Folder of its log files.
    pub log_dir: WirePath,
    /// The settings file, which need not exist.
    pub config_path: WirePath,
}

/// Something the user should see.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// The turn it belongs to, if any.
    pub turn_id: Option<TurnId>,
    /// The kind of notice.
    pub kind: NoticeKind,
    /// One sentence.
    pub text: String,
}

/// Kinds of notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum NoticeKind {
    /// Good to know.
    Info,
    /// Needs attention, nothing failed.
    Warning,
    /// A request is repeated after a wait; the client may count down.
    Retry {
        /// The wait in milliseconds.
        after_ms: u64,
    },
}
