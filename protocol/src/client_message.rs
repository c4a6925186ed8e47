//! Messages from the client to the daemon.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;

use crate::{ApprovalId, ApprovalMode, CallId, RequestId, SessionKey, TurnId, WirePath};

/// Client to daemon. Append variants at the end and raise `PROTOCOL_VERSION`; never change one in place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ClientMessage {
    /// The first message of a connection.
    Hello(Hello),
    /// Opens a turn. Answered by `TurnStarted`, any number of chunks and steps, then `TurnEnded`.
    UserQuery(UserQuery),
    /// Ends a turn early. Answered by `TurnEnded` with reason `Cancelled`, unless the turn ended meanwhile.
    CancelTurn {
        /// The turn to end.
        turn_id: TurnId,
    },
    /// Output of a command that runs in the live shell. The first one is empty and means *started*: the daemon's timer
    /// starts here, not when it sent `ExecuteCommand`.
    CommandOutput {
        /// The command.
        call_id: CallId,
        /// Raw bytes as the terminal got them, at most `MAX_OUTPUT_CHUNK_BYTES`.
        bytes: ByteBuf,
    },
    /// Ends an `ExecuteCommand`, exactly once per call id.
    CommandExecutionResult(CommandExecutionResult),
    /// The user's answer to an `ApprovalRequest`.
    ApprovalReply(ApprovalReply),
    /// A command that the user ran. Not answered; kept as context for the next query.
    ShellEvent(ShellEvent),
    /// Anything about sessions and the daemon itself. Answered by `SessionReply` or `Error`.
    SessionRequest(SessionRequest),
    /// Asks the daemon to end: running turns are cancelled, every client gets `Goodbye`.
    Shutdown,
    /// A running command waits for the user (a password): its time stands still, the client's clock alone decides from here.
    CommandWaiting {
        /// The command.
        call_id: CallId,
    },
    /// Continues the turn that the end of an earlier daemon interrupted. Answered as `UserQuery`.
    ResumeTurn(ResumeTurn),
    /// Pauses a turn after its current action, or lets it continue. `TurnPaused` reports both changes.
    PauseTurn {
        /// The turn.
        turn_id: TurnId,
        /// Whether it is to hold.
        is_paused: bool,
    },
    /// Adds words of the user to a running turn: the model reads them with its next call. `TurnExtended` reports those that it will read;
    /// a turn that ends before that leaves the others to the client.
    ExtendTurn(ExtendTurn),
    /// Asks for what fires of the watchers that were made in this terminal, now and from now on, for as long as the connection lives.
    /// Answered by any number of `WatcherFired`.
    AwaitFirings {
        /// The terminal's name: that of the session which its shell began with.
        terminal: SessionKey,
    },
    /// The user can see what a `WatcherFired` said, and its question is asked.
    FiringShown {
        /// The watcher.
        watcher: u32,
        /// The firing.
        fired: u64,
    },
}

/// Words that the user adds to a running turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExtendTurn {
    /// The turn.
    pub turn_id: TurnId,
    /// Number of the addition in the turn, from 1. A number that is not higher than the last one is ignored, so that it can be sent again.
    pub number: u32,
    /// The words, at most `MAX_QUERY_BYTES`.
    pub text: String,
}

/// A request to continue an interrupted turn, as a separate turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResumeTurn {
    /// Chosen by the client.
    pub turn_id: TurnId,
    /// Working directory of the shell at this moment.
    pub cwd: WirePath,
}

/// The client introduces itself. Nothing else is read before this fits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// `PROTOCOL_VERSION` of the client.
    pub protocol_version: u32,
    /// `SCHEMA_HASH` of the client.
    pub schema_hash: u64,
    /// Release of the client, for messages to the user.
    pub build: String,
    /// Process id of the client, for logs.
    pub pid: u32,
}

/// A question, after the user pressed Enter on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserQuery {
    /// Chosen by the client.
    pub turn_id: TurnId,
    /// The question, without the `?` prefix.
    pub text: String,
    /// Working directory of the shell at this moment.
    pub cwd: WirePath,
    /// Width of the terminal in columns; 80 without a terminal.
    pub columns: u16,
    /// Text piped into `cohab ask`, as context; cut by the client to `MAX_PIPED_INPUT_BYTES`.
    pub piped_input: Option<String>,
    /// Whether nothing of the turn is to be stored. Such a question has a conversation of its own, which ends with the turn.
    pub is_private: bool,
}

/// The result of a relayed command. For `Refused` the fields about the run are empty.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandExecutionResult {
    /// The command.
    pub call_id: CallId,
    /// The reason for its end.
    pub ending: CommandEnding,
    /// Exit status as the shell reports it, 0 to 255; absent if it never ended or never ran.
    pub exit_code: Option<i32>,
    /// The output as text for the model: progress bars collapsed, colours gone, head and tail kept.
    pub output: String,
    /// Bytes the command wrote.
    pub total_bytes: u64,
    /// Bytes left out between head and tail.
    pub truncated_bytes: u64,
    /// Working directory afterwards.
    pub cwd: WirePath,
    /// Changes by the command in the shell's exported environment.
    pub env_delta: EnvDelta,
    /// Time from *started* to its end, in milliseconds.
    pub duration_ms: u64,
    /// The shell it ran in.
    pub mode: RunMode,
    /// The state of the shell now.
    pub state_after: StateAfter,
    /// How a first run with the lock failed, a clause. Present if the user let the command run once more without the lock; the rest is about
    /// that second run.
    pub first_run: Option<String>,
}

/// The state of a shell once the result of a command is reported.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StateAfter {
    /// The shell waits for the next command.
    Prompt,
    /// A program has the terminal; nothing else can run there.
    InFront {
        /// The program's name, one line.
        program: String,
        /// Whether it has the whole screen.
        is_full_screen: bool,
    },
    /// The shell has ended.
    Ended,
}

/// The reason for the end of a relayed command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CommandEnding {
    /// The command ended by itself.
    Exited,
    /// SIGINT, from the user or from `InterruptCommand`, ended the command.
    Interrupted {
        /// The party that interrupted it.
        by: Interrupter,
    },
    /// Stopped by Ctrl-Z; it is a job of the shell now.
    Stopped,
    /// The timeout passed; it still runs and was not killed.
    StillRunning,
    /// The command ended the shell itself.
    ShellExited,
    /// The command was not run.
    Refused {
        /// The reason, for programs: `shell_busy`, `nested`, `not_approved`, ... (`RelayError::code` of shell-relay).
        code: String,
        /// The reason, as a sentence for the model and the user.
        reason: String,
    },
}

/// The party that interrupted a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Interrupter {
    /// The user, with Ctrl-C in the command or by stopping the turn.
    User,
    /// cohab, because the turn ended without the user's doing.
    Turn,
    /// cohab, because a time limit had passed.
    TimeLimit,
}

/// The shell that ran a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RunMode {
    /// In the user's shell: `cd` and `export` stuck.
    Live,
    /// In a subshell of the user's shell, because the text could have ended the shell: nothing stuck.
    Subshell,
    /// In a separate shell: nothing stuck.
    Isolated,
}

/// Difference of the exported environment before and after a command, in order of name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnvDelta {
    /// Variables with a new value.
    pub set: Vec<EnvChange>,
    /// Names of unset variables.
    pub unset: Vec<String>,
}

/// One changed variable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnvChange {
    /// The variable's name.
    pub name: String,
    /// The variable's value; absent if it looks secret. The client masks it, the daemon never sees it.
    pub value: Option<String>,
}

/// The user's answer to a question for consent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalReply {
    /// The question.
    pub approval_id: ApprovalId,
    /// The answer.
    pub decision: ApprovalDecision,
}

/// The user's decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ApprovalDecision {
    /// Run it, this once.
    Once,
    /// Run it, and this exact action again without asking while the session lives.
    Session,
    /// Run this text instead.
    Edited {
        /// The command as the user changed it.
        command: String,
    },
    /// Do not run it. The model is informed and may continue.
    Refused {
        /// A note to the model; may be empty.
        note: String,
    },
    /// Do not run it, and end the turn.
    CancelTurn,
    /// Run it, and this exact command in this folder unasked from now on, in every shell, until the user takes it back.
    Folder,
    /// Run it, and this exact command unasked from now on, in every folder, until the user takes it back.
    Always,
}

/// A command that the user ran, as reported by its marks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShellEvent {
    /// The line, if the shell was asked for it.
    pub line: Option<String>,
    /// Exit status, 0 to 255.
    pub exit_code: i32,
    /// Working directory afterwards.
    pub cwd: WirePath,
    /// Wall time in milliseconds.
    pub duration_ms: u64,
    /// The end of the command's output as plain text, at most `MAX_OUTPUT_TAIL_BYTES`.
    pub output_tail: String,
    /// Bytes the command wrote.
    pub output_bytes: u64,
    /// Folder in which it began.
    pub ran_in: WirePath,
    /// Time at which it ended, in milliseconds since 1970.
    pub ended_ms: u64,
}

/// A request about sessions or the daemon.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionRequest {
    /// Chosen by the client.
    pub request_id: RequestId,
    /// The requested action.
    pub action: SessionAction,
}

/// The requests of a client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SessionAction {
    /// Binds this connection to a session, which is made if it does not exist. Needed before `UserQuery`.
    Attach(Attach),
    /// The daemon's state. Works without `Attach`.
    Status,
    /// Forgets the conversation of the attached session.
    Clear,
    /// Changes the actions that the attached session may take unasked.
    SetApproval {
        /// The new mode.
        mode: ApprovalMode,
    },
    /// Asks for the parts that the model would be sent with the next question. Answered by `Context`.
    Context,
    /// Shorten the conversation. Answered by `Compacted`; `Busy` while a turn runs.
    Compact,
    /// Asks for the usage of this session's turns. Answered by `Usage`.
    Usage,
    /// Forget the last turn, question and answer. Answered by `Rewound`; `Busy` while a turn runs.
    Rewind,
    /// Works on a question while the prompt of a session is free. Answered by `TaskStarted`. Works without `Attach`.
    StartTask(StartTask),
    /// Asks for all background tasks. Answered by `Tasks`. Works without `Attach`.
    Tasks,
    /// Asks for one background task. Answered by `Task`; `NotFound` without it. Works without `Attach`.
    Task {
        /// Its number.
        id: u32,
    },
    /// Stops a background task; `NotFound` if it does not wait or work. Works without `Attach`.
    CancelTask {
        /// Its number.
        id: u32,
    },
    /// Starts a background task that is over again, as a new one, in its session. Answered by `TaskStarted`. Works without `Attach`.
    RetryTask {
        /// Its number.
        id: u32,
    },
    /// Asks for the skills and commands that can be called by name in a folder. Answered by `Commands`.
    Commands {
        /// The folder.
        cwd: WirePath,
    },
}

/// A question that is to be worked on behind the prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartTask {
    /// The session whose conversation it continues, and whose client is told of its end; absent for the attached one.
    pub session: Option<SessionKey>,
    /// The question, at most `MAX_QUERY_BYTES`.
    pub text: String,
    /// The folder that it is asked in.
    pub cwd: WirePath,
    /// How often it is tried, each time in a copy of its own; the best attempt counts. From 1 to 5.
    pub attempts: u32,
}

/// A request to join a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attach {
    /// The session.
    pub session: SessionKey,
    /// The kind of live shell in which this client can run commands; absent without one.
    pub live_shell: Option<String>,
    /// The actions that need no question, by the command line, the environment and the settings of the user who attaches.
    pub approval: ApprovalMode,
    /// Whether a person can answer an `ApprovalRequest` here. If not, such actions are refused.
    pub can_approve: bool,
    /// Whether the programs of a command that runs unasked in the live shell are kept from writing.
    pub has_lock: bool,
    /// Settings from the client's environment (`COHAB_*`, keys, base URLs): the user's shell decides, not the shell that
    /// happened to start the daemon.
    pub settings: Vec<EnvSetting>,
    /// The client's environment without variables that look secret by name, for commands in a separate shell; at most
    /// `MAX_ENVIRONMENT_BYTES` together. If empty, such commands get the daemon's environment.
    pub environment: Vec<EnvSetting>,
    /// After a lost connection: replay this turn's chunks from here.
    pub resume: Option<ResumePoint>,
}

/// One variable of the client's environment. Its value may be a key: `Debug` never shows it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnvSetting {
    /// Name, for example `COHAB_MODEL`.
    pub name: String,
    /// Value.
    pub value: String,
}

impl fmt::Debug for EnvSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EnvSetting({}=<hidden>)", self.name)
    }
}

/// The first chunk of a turn that the client has not seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResumePoint {
    /// The turn.
    pub turn_id: TurnId,
    /// The next `seq` expected.
    pub next_seq: u64,
}
