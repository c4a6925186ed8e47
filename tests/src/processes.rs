//! Reads the state of running processes from the system.

use std::{fs, path::Path};

use rustix::process::{Pid, Signal, kill_process};

use crate::deadline::eventually;

/// The process ids of the living children of the process's first thread.
#[must_use]
pub fn children(pid: u32) -> Vec<u32> {
    let listed = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    listed.split_whitespace().filter_map(|child| child.parse().ok()).collect()
}

/// Whether every thread of the process and of all its children sleeps: all input is read, all output is written.
#[must_use]
pub fn sleep(pid: u32) -> bool {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    tasks.map(|task| task.path()).all(|task| {
        let children = fs::read_to_string(task.join("children")).unwrap_or_default();
        is_asleep(&task) && children.split_whitespace().filter_map(|child| child.parse().ok()).all(sleep)
    })
}

/// Stops a process and waits until each of its threads stands still: a thread may run on until the one that got the signal is scheduled.
///
/// # Panics
/// If the process is not ours, or does not stop.
pub fn stop(pid: Pid) {
    kill_process(pid, Signal::STOP).expect("it is ours");
    eventually("a process that stands still", || {
        let tasks = fs::read_dir(format!("/proc/{}/task", pid.as_raw_nonzero())).into_iter().flatten().flatten();
        tasks.map(|task| task.path()).all(|task| is_in_state(&task, 'T'))
    });
}

fn is_asleep(task: &Path) -> bool {
    is_in_state(task, 'S')
}

fn is_in_state(task: &Path, state: char) -> bool {
    let stat = fs::read_to_string(task.join("stat")).unwrap_or_default();
    // The name may hold anything, spaces and brackets, too.
    stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with(state))
}

#[cfg(test)]
mod tests {
    use std::{
        process::{Command, Stdio},
        thread,
    };

    use super::sleep;
    use crate::deadline::eventually;

    #[test]
    fn one_that_waits_sleeps_and_one_whose_child_works_does_not() {
        let shell = |script: &str| {
            Command::new("sh").args(["-c", script]).stdin(Stdio::piped()).spawn().expect("there is a shell")
        };
        for (script, is_asleep) in
            [("read line", true), ("(while :; do :; done) & child=$!; read line; kill $child", false)]
        {
            let mut child = shell(script);
            if is_asleep {
                eventually("sleep", || sleep(child.id()));
            } else {
                eventually("work", || !sleep(child.id()));
                assert!((0..100).all(|_| {
                    thread::yield_now();
                    !sleep(child.id())
                }));
            }
            drop(child.stdin.take());
            child.wait().expect("it ends");
        }
    }
}
