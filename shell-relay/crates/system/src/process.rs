//! Processes and their groups: the few system calls that all shells share. [`memory`] sets up the allocator of this process.

pub mod memory;
pub mod surroundings;

use std::{
    fs,
    os::unix::{
        fs::{FileTypeExt, MetadataExt},
        process::{CommandExt, ExitStatusExt},
    },
    process::{Command, ExitStatus},
};

use rustix::process::{Pid, kill_process_group, test_kill_process_group};

/// If this variable is set, a debugger may inspect our programs and they leave a core file when they crash.
const DEBUG_VARIABLE: &str = "COHAB_ALLOW_DEBUG";

/// Protects the memory of this process, where keys and conversations are: no core file, and no other program of the same user may attach
/// or read it. Started programs do not inherit this; a limit on core files would affect all programs of the user's shell.
pub fn guard_memory() {
    #[cfg(target_os = "linux")]
    if std::env::var_os(DEBUG_VARIABLE).is_none() {
        // The call cannot fail with these arguments, and without it we still work.
        let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
    }
}

/// Signals, from gentle to final.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// SIGINT.
    Interrupt,
    /// SIGTERM.
    Terminate,
    /// SIGKILL.
    Kill,
}

/// The terminal of a session leader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ControllingTerminal {
    /// Standard input is the terminal.
    Stdin,
    /// No terminal: nothing can ask the user behind the assistant's back.
    None,
}

/// Makes the program the leader of a separate session, and so of a process group.
pub fn lead_session(command: &mut Command, terminal: ControllingTerminal) {
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
    // Group 1 and below would be all processes.
    if let Some(group) = Pid::from_raw(pgid).filter(|_| pgid > 1) {
        let _ = kill_process_group(group, number);
    }
}

/// Whether anything of the group is alive.
#[must_use]
pub fn group_is_alive(pgid: i32) -> bool {
    Pid::from_raw(pgid).is_some_and(|group| test_kill_process_group(group).is_ok())
}

/// The status as a shell reports it: 128 + n for signal n.
#[must_use]
pub fn status_of(status: ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
}

/// The living children of a process that are in its process group. Empty if the kernel does not report them.
#[must_use]
pub fn children_in_own_group(pid: u32) -> Vec<u32> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let children = threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    let mut children: Vec<u32> = children
        .flat_map(|pids| pids.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>())
        .collect();
    if !children.is_empty() {
        let own_group = state_and_group(pid).map(|(_, group)| group);
        children.retain(|child| {
            state_and_group(*child).is_some_and(|(state, group)| state != b'Z' && Some(group) == own_group)
        });
    }
    children
}

/// Whether a process has this terminal open, under its own name or as `/dev/tty`. True if the kernel does not report it.
#[must_use]
pub fn has_open(pid: u32, terminal: u64) -> bool {
    let Ok(descriptors) = fs::read_dir(format!("/proc/{pid}/fd")) else { return true };
    let own = fs::metadata("/dev/tty").map(|metadata| metadata.rdev());
    descriptors.flatten().any(|descriptor| {
        fs::metadata(descriptor.path()).is_ok_and(|open| {
            open.file_type().is_char_device()
                && (open.rdev() == terminal || own.as_ref().is_ok_and(|own| open.rdev() == *own))
        })
    })
}

/// The kernel's report of a process: a letter (`Z`: ended), and its group.
fn state_and_group(pid: u32) -> Option<(u8, i32)> {
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let after_name = memchr::memrchr(b')', &stat)? + 1;
    let mut words = str::from_utf8(&stat[after_name..]).ok()?.split_whitespace();
    let state = words.next()?.bytes().next()?;
    Some((state, words.nth(1)?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use std::{
        io::{BufRead, BufReader},
        process::Stdio,
    };

    use super::*;

    /// Whether a shell with this option runs its one child in its own group.
    fn shares_its_group(option: &str) -> bool {
        let mut shell = Command::new("bash");
        let text = format!("set {option}; sleep 60 & echo started; read line; kill $!");
        shell.args(["-c", &text]).process_group(0);
        let mut shell = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        BufReader::new(shell.stdout.take().unwrap()).read_line(&mut String::new()).unwrap();
        let shares = !children_in_own_group(shell.id()).is_empty();
        drop(shell.stdin.take());
        shell.wait().unwrap();
        shares
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn guarded_memory_is_not_dumped_and_programs_that_are_started_are_as_ever() {
        use rustix::process::{DumpableBehavior, dumpable_behavior};
        guard_memory();
        assert_eq!(dumpable_behavior().unwrap(), DumpableBehavior::NotDumpable);
        let own = "stat -c %u /proc/self/environ; id -u";
        let output = Command::new("sh").args(["-c", own]).output().unwrap();
        let owners: Vec<&str> = str::from_utf8(&output.stdout).unwrap().lines().collect();
        assert_eq!(owners[0], owners[1]);
    }

    #[test]
    fn a_child_in_the_own_group_is_told_from_one_with_a_group_of_its_own() {
        assert!(shares_its_group("+m"));
        assert!(!shares_its_group("-m"));
        assert!(children_in_own_group(u32::MAX).is_empty());
    }
}
