//! The wake-up reasons of the loop, and the waits other than those for the terminal and the shell.

use std::{io, time::Instant};

use cohab_conversation::{background_task::TaskResult, slash::own_output::OwnOutput};
use cohab_daemon_link::connection::LinkEvent;
use cohab_term::markdown::Highlighter;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::prompt_line::classifier_thread::LineVerdict;

/// What the loop woke up for.
pub(super) enum Wake {
    Keys(io::Result<usize>),
    Shell(io::Result<usize>),
    TerminalWritable,
    ShellWritable,
    Link(Option<LinkEvent>),
    Resized,
    ChildEnded,
    Killed(u8),
    Highlighted,
    Done(TaskResult),
    Verdict(LineVerdict),
    ProgramEnded(OwnOutput),
    Time,
}

/// The signals that concern the client.
pub(super) struct Signals {
    resized: Signal,
    child: Signal,
    hangup: Signal,
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    pub fn listen() -> io::Result<Self> {
        Ok(Self {
            resized: signal(SignalKind::window_change())?,
            child: signal(SignalKind::child())?,
            hangup: signal(SignalKind::hangup())?,
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    pub async fn next(&mut self) -> Wake {
        tokio::select! {
            _ = self.resized.recv() => Wake::Resized,
            _ = self.child.recv() => Wake::ChildEnded,
            _ = self.hangup.recv() => Wake::Killed(128 + 1),
            _ = self.terminate.recv() => Wake::Killed(128 + 15),
            _ = self.interrupt.recv() => Wake::Killed(128 + 2),
        }
    }
}

/// New colours for code have come.
pub(super) async fn highlighted(highlighter: Option<&Highlighter>) {
    match highlighter {
        Some(highlighter) => highlighter.changed().await,
        None => std::future::pending().await,
    }
}

/// The time has come; never, without one.
pub(crate) async fn sleep_until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline.into()).await,
        None => std::future::pending().await,
    }
}
