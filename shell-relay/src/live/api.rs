//! Types of the input and output of a live shell.

use std::{fmt, path::PathBuf, time::Duration};

use cohab_shell_state::{
    shell::Shell,
    state::{Listing, StateChange},
};
use cohab_system::process::Signal;
use cohab_types::command::{CommandOutcome, RelayError};
use zeroize::Zeroizing;

/// The parts of a live shell.
#[derive(Clone, Debug)]
pub struct LiveSetup {
    /// The kind of shell.
    pub shell: Shell,
    /// 128 random bits, lower-case hex; as substituted into the integration script.
    pub nonce: String,
    /// The shell's process id, also its process group.
    pub child_pid: u32,
    /// The folder in which the shell started.
    pub initial_cwd: PathBuf,
}

/// The kernel's knowledge about the PTY. Asked only when a decision needs it, never for each chunk or key.
pub trait Probe {
    /// The foreground process group of the terminal.
    fn foreground_pgid(&self) -> Option<i32>;
    /// Whether the terminal echoes and edits lines itself.
    fn terminal_modes(&self) -> Option<TerminalModes>;
    /// The name of the foreground group's leader.
    fn foreground_name(&self) -> Option<String>;
    /// Whether another program runs under the shell's process id (`exec sh`).
    fn shell_replaced(&self) -> bool;
    /// Whether a program that the shell started runs in the shell's own process group.
    fn shell_shares_group(&self) -> bool {
        false
    }
    /// The process ids of living children of the shell that are in its own process group and have its terminal open.
    fn programs_at_terminal(&self) -> Vec<u32> {
        Vec::new()
    }
}

/// Two flags of the terminal's line discipline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TerminalModes {
    /// Typed characters are echoed.
    pub echo: bool,
    /// Input comes line by line; off in line editors and full-screen programs.
    pub canonical: bool,
}

/// The driver's tasks, in this order: write the command file, write `pty`, write `terminal`, send the signal, handle the events. Reused:
/// the driver empties it with [`Effects::clear`] after each round.
#[derive(Debug, Default)]
pub struct Effects {
    /// Bytes for the user's terminal.
    pub terminal: Vec<u8>,
    /// Bytes for the shell's PTY.
    pub pty: Vec<u8>,
    /// To be written before `pty`; if that fails, `pty` must not be written from `keys_from` on, and
    /// [`LiveShell::command_not_written`](super::LiveShell::command_not_written) is to be called.
    pub command_file: Option<CommandFile>,
    /// A signal to send.
    pub signal: Option<ForegroundSignal>,
    /// Events, in order.
    pub events: Vec<LiveEvent>,
}

impl Effects {
    /// Empties the effects, keeping their memory.
    pub fn clear(&mut self) {
        self.terminal.clear();
        self.pty.clear();
        self.command_file = None;
        self.signal = None;
        self.events.clear();
    }
}

/// The prefix of the ids of commands whose text holds old values of variables (hardly a UUID has it): bash shows such a text to no hook. The
/// shell leaves the user's pager to such a command, too.
pub const UNDO_PREFIX: &str = "00000000";

/// The text of a command on its way to the shell. It may hold a secret, and shows in no output.
#[derive(Clone, PartialEq, Eq)]
pub struct CommandFile {
    /// The command's id.
    pub id: String,
    /// The whole file: the id, LF, the text.
    pub content: Zeroizing<Vec<u8>>,
    /// The text that hooks of the shell's get in place of a private text.
    pub shown: Option<String>,
    /// Whether the shell is to report its state before and after: not if a subshell runs the text, which changes nothing of it.
    pub wants_env_delta: bool,
    /// The start of the keys in [`Effects::pty`] that are not to be sent without the file.
    pub keys_from: usize,
}

impl fmt::Debug for CommandFile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "CommandFile({})", self.id)
    }
}

/// A signal for the foreground process group; never the shell's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForegroundSignal {
    /// Process group.
    pub pgid: i32,
    /// The signal.
    pub signal: Signal,
}

/// The kind of a line typed at the prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineDecision {
    /// A command: Enter takes effect.
    Shell,
    /// A question: it never reaches the shell, but for its history.
    Assistant,
    /// A question that does not go into the shell's history either.
    Unrecorded,
}

/// The receiver of the keys during an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keyboard {
    /// The keys are held for the shell; Ctrl-C and Escape ask to cancel.
    #[default]
    Shell,
    /// The assistant, byte for byte.
    Assistant,
}

/// The input that a running command waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AwaitedInput {
    /// A password or another line that is not echoed.
    Password,
}

/// An event of the live shell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LiveEvent {
    /// A new primary prompt stands, outside an answer. The first such event means that the shell is integrated.
    PromptReady,
    /// Enter was pressed at the primary prompt; answered soon by [`LiveShell::decide_line`](super::LiveShell::decide_line); until then
    /// keys are held.
    LineEntered {
        /// The line.
        text: String,
        /// The cursor's place, in characters.
        cursor: usize,
        /// The shell's folder.
        cwd: PathBuf,
        /// Whether the shell knows the line's first word as a command; `None` if it did not report it.
        is_command: Option<bool>,
        /// Enter came by itself or in one piece with this line, not with other lines, as typed ahead or sent by a macro. If pastes are
        /// not marked, it came with the last few letters of the line at most.
        /// not marked, with the last few letters of the line at most.
        is_alone: bool,
    },
    /// The hotkey was pressed at the primary prompt. [`LiveShell::decide_line`](super::LiveShell::decide_line) answers it, too.
    HotkeyPressed {
        /// The line, which may be empty.
        text: String,
        /// The shell's folder.
        cwd: PathBuf,
        /// As in `LineEntered`.
        is_command: Option<bool>,
    },
    /// The shell is hidden, and the assistant may draw: at first with the cursor behind the prompt and its line empty, then after each
    /// command at the start of a row.
    /// command at the start of a row.
    AnswerReady,
    /// The answer could not begin; the line is unchanged.
    AnswerRefused(RelayError),
    /// The shell's new prompt stands, with the line if it was to be restored.
    AnswerEnded,
    /// The user wants the answer to stop.
    CancelRequested {
        /// Escape was pressed; otherwise Ctrl-C.
        is_escape: bool,
    },
    /// Ctrl-Z was pressed while the assistant has the terminal, nothing runs and nothing else was typed.
    PauseKeyPressed,
    /// The user has typed while the assistant has the terminal and nothing runs: the keys wait for the end of the answer. Reported once
    /// in an answer.
    KeysWait,
    /// The terminal reports whether it has the focus. Only after [`LiveShell::watch_focus`](super::LiveShell::watch_focus).
    FocusChanged(bool),
    /// Keys for the assistant, while it has the keyboard.
    AnswerKey(Vec<u8>),
    /// Whole lines of text and colours that background jobs wrote during an answer: to be shown above the assistant's drawing.
    BackgroundOutput(Vec<u8>),
    /// The command's own output begins; it has the keyboard. The command file may be removed.
    CommandStarted {
        /// The command's id.
        id: String,
    },
    /// The user pressed Escape while the command reads lines: it gets Ctrl-C.
    EscapeInterrupts {
        /// The command's id.
        id: String,
    },
    /// A piece of the command's output, raw except for the nonce.
    CommandOutput {
        /// The command's id.
        id: String,
        /// The bytes; not empty.
        bytes: Vec<u8>,
    },
    /// The changes in the shell by the command whose end is reported next. Only if its environment delta was asked for and the shell
    /// could report it; made by [`RelayDir::apply`](super::RelayDir::apply).
    ShellObserved {
        /// The command's id.
        id: String,
        /// Changes by the command.
        change: StateChange,
        /// The state of the shell after it.
        listing: Listing,
    },
    /// The command ended, or its time is up. `env_delta` is still empty: see [`RelayDir::apply`](super::RelayDir::apply).
    CommandFinished {
        /// The command's id.
        id: String,
        /// The command's outcome.
        outcome: CommandOutcome,
    },
    /// The command did not run, or its fate is unknown.
    CommandRefused {
        /// The command's id.
        id: String,
        /// The reason.
        error: RelayError,
    },
    /// The command waits for the user; its time stands still.
    WaitingForInput {
        /// The command's id.
        id: String,
        /// The awaited input.
        what: AwaitedInput,
    },
    /// A command of the user's starts.
    UserCommandStarted,
    /// A command of the user's ended.
    UserCommandFinished(UserCommand),
    /// The shell runs without marks: from now on input and output only pass through.
    NotIntegrated {
        /// A sentence.
        reason: String,
    },
}

/// A command that the user ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserCommand {
    /// The line as far as known: absent if it was typed ahead; only its first line if it had several.
    pub line: Option<String>,
    /// Exit status.
    pub status: i32,
    /// Working directory afterwards.
    pub cwd: PathBuf,
    /// Time from its start to its end.
    pub duration: Duration,
    /// The end of the command's output, rendered as text.
    pub output_tail: String,
    /// Bytes written in all.
    pub output_bytes: u64,
}

/// The activity of the shell, as far as the marks report it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShellState {
    /// The shell is starting; no mark yet.
    Boot,
    /// The line editor waits at the primary prompt.
    Prompt,
    /// The line editor waits for the rest of a command.
    Continuation,
    /// A command of the user's runs.
    RunningUser,
    /// A command of the agent's is on its way, runs or has just ended.
    RunningAgent,
    /// A command has ended and the next prompt has not come.
    Precmd,
    /// An answer is on.
    Answering,
    /// The shell gives no marks.
    NotIntegrated,
    /// The shell has ended.
    Dead,
}
