//! The events that the client handles.

use cohab_line_classifier::Decision;
use cohab_protocol::{Attached, DaemonMessage};
use cohab_shell_relay::live::LiveEvent;

use crate::{background_task::TaskResult, slash::own_output::OwnOutput};

/// One thing that happened.
#[derive(Debug)]
pub enum Event {
    /// In the shell or on the user's keyboard.
    Live(LiveEvent),
    /// The daemon is connected and the session attached.
    LinkUp(Attached),
    /// The connection broke off; the daemon may live.
    LinkLost,
    /// There is no connection, or it was ended in order: one sentence and what helps.
    LinkDown {
        /// What happened.
        message: String,
        /// What the user can do.
        hint: String,
    },
    /// No daemon runs, and none was to be started.
    DaemonAbsent,
    /// The session that was wanted cannot be joined: one sentence and what helps.
    NotJoined {
        /// What happened.
        message: String,
        /// What the user can do.
        hint: String,
    },
    /// The daemon said something.
    Daemon(Box<DaemonMessage>),
    /// The terminal has a new size, in cells.
    Resized {
        /// Columns.
        columns: u16,
        /// Rows.
        rows: u16,
    },
    /// A program of our own that was [run](crate::effect::Effect::RunProgram) has ended.
    ProgramEnded(OwnOutput),
    /// The key for undo was pressed where it [counts](crate::app::App::takes_undo_key).
    UndoKeyPressed,
    /// The key for the model's thoughts was pressed where it [counts](crate::app::App::takes_thoughts_key).
    ThoughtsKeyPressed,
    /// Ctrl-C was pressed where it [stops a turn](crate::app::App::takes_stop_key) that continues behind the user's prompt.
    StopKeyPressed,
    /// The classifier has judged the line that Enter is held for.
    Judged {
        /// Of the question.
        id: u64,
        /// Who gets the line.
        decision: Decision,
    },
    /// What is on the screen is out of date: code got its colours, or the live area was erased.
    Redraw,
    /// Something on the side is done.
    Done(TaskResult),
    /// The time of [`deadline`](crate::app::App::deadline) has come.
    Deadline,
}
