//! Processes and their groups: the few system calls that all shells share.

use std::{
    os::unix::process::{CommandExt, ExitStatusExt},
    process::{Command, ExitStatus},
};

use rustix::process::{Pid, kill_process_group, test_kill_process_group};

/// From gentle to final.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// SIGINT.
    Interrupt,
    /// SIGTERM.
    Terminate,
    /// SIGKILL.
    Kill,
}

/// What a session leader's terminal is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ControllingTerminal {
    /// Its standard input.
    Stdin,
    /// It has none: nothing can ask the user behind the assistant's back.
    None,
}

/// Makes the program the leader of a session of its own, and so of a process group.
pub(crate) fn lead_session(command: &mut Command, terminal: ControllingTerminal) {
    let become_leader = move || {
        rustix::process::setsid()?;
        if terminal == ControllingTerminal::Stdin {
            rustix::process::ioctl_tiocsctty(rustix::stdio::stdin())?;
        }
        Ok(())
    };
    #[expect(unsafe_code, reason = "between fork and exec only system calls are made, and they are async-signal-safe")]
    unsafe {
        command.pre_exec(become_leader);
    }
}

/// Signals a whole process group. A group that is gone needs no signal.
pub fn signal_group(pgid: i32, signal: Signal) {
    let number = match signal {
        Signal::Interrupt => rustix::process::Signal::INT,
        Signal::Terminate => rustix::process::Signal::TERM,
        Signal::Kill => rustix::process::Signal::KILL,
    };
    // Group 1 and below would be everybody.
    if let Some(group) = Pid::from_raw(pgid).filter(|_| pgid > 1) {
        let _ = kill_process_group(group, number);
    }
}

/// Whether anything of the group is alive.
#[must_use]
pub fn group_is_alive(pgid: i32) -> bool {
    Pid::from_raw(pgid).is_some_and(|group| test_kill_process_group(group).is_ok())
}

/// As a shell reports it: 128 + n for signal n.
#[must_use]
pub fn status_of(status: ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
}
