//! Detects that terminals have come to rest: all typed keys are read, and all their effects are on the screen.
//!
//! A terminal is at rest when all its processes and the thread that reads from it sleep, and none of them has run since the last look.
//! That alone is not enough: the kernel passes the bytes of a terminal on in a separate thread, so that for a moment all may sleep
//! while bytes are on their way. A [`Canary`] follows them on the same way; when it has arrived, so have they.

use std::{
    fs,
    os::fd::OwnedFd,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use rustix::{
    fs::{Mode, OFlags, open},
    io::{Errno, read, write},
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{OptionalActions, tcgetattr, tcsetattr},
};

use crate::{Terminal, deadline::deadline};

/// Pause between two looks.
const LOOK_AGAIN: Duration = Duration::from_millis(2);
/// Number of times that the canary must arrive while nothing moves.
const ARRIVALS: u32 = 3;
/// Least time without motion: a program may sleep for a moment before it continues.
const REST: Duration = Duration::from_millis(12);
/// The same if nothing has moved at all, as after a key that is not read now.
const REST_WITHOUT_MOTION: Duration = Duration::from_millis(40);
/// The same after Esc: fish waits for 30 ms whether the next key is one with Alt, and readline for 100 ms in a search.
const REST_BEHIND_ESCAPE: Duration = Duration::from_millis(150);

/// A separate terminal: a byte that is written into it arrives behind those that were written elsewhere before.
pub(crate) struct Canary {
    master: OwnedFd,
    slave: OwnedFd,
}

impl Canary {
    /// Opens the terminal.
    pub(crate) fn new() -> Result<Self, Errno> {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
        grantpt(&master)?;
        unlockpt(&master)?;
        let name = ptsname(&master, Vec::new())?;
        let slave = open(name, OFlags::RDWR | OFlags::NOCTTY | OFlags::NONBLOCK, Mode::empty())?;
        let mut settings = tcgetattr(&slave)?;
        settings.make_raw();
        tcsetattr(&slave, OptionalActions::Now, &settings)?;
        Ok(Self { master, slave })
    }

    fn send(&self) {
        // It is empty, as each one is awaited before the next.
        let _ = write(&self.master, b"c");
    }

    fn has_arrived(&self) -> bool {
        read(&self.slave, &mut [0; 1]).is_ok_and(|bytes| bytes == 1)
    }
}

/// Watches one terminal.
pub(crate) struct Watch<'terminal> {
    terminal: &'terminal Terminal,
    last: Option<Motion>,
    has_moved: bool,
    since: Instant,
    is_behind_escape: bool,
}

/// The figures that change with any activity: the bytes so far, and the runs of the processes.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Motion {
    bytes: usize,
    runs: u64,
}

impl<'terminal> Watch<'terminal> {
    /// Begins before a step. `is_behind_escape`: the step ends with the key Esc.
    pub(crate) fn begin(terminal: &'terminal Terminal, is_behind_escape: bool) -> Self {
        Self { terminal, last: motion(terminal), has_moved: false, since: Instant::now(), is_behind_escape }
    }

    /// Whether something has moved since the last look.
    fn moves(&mut self) -> bool {
        let now = motion(self.terminal);
        let moves = now.is_none() || now != self.last;
        if moves {
            (self.last, self.has_moved, self.since) = (now, true, Instant::now());
        }
        moves
    }

    fn has_rested(&self) -> bool {
        let needed = match self.has_moved {
            _ if self.is_behind_escape => REST_BEHIND_ESCAPE,
            true => REST,
            false => REST_WITHOUT_MOTION,
        };
        self.since.elapsed() >= needed
    }
}

/// Waits until all are at rest at the same time. False if that does not happen in time.
pub(crate) fn settle(watches: &mut [Watch<'_>], canary: &Canary) -> bool {
    let end = Instant::now() + deadline();
    let mut arrivals = 0;
    canary.send();
    loop {
        let has_arrived = canary.has_arrived();
        let moving = watches.iter_mut().filter_map(|watch| watch.moves().then_some(())).count();
        if moving > 0 {
            arrivals = 0;
        } else if has_arrived {
            arrivals += 1;
        }
        if has_arrived {
            if arrivals >= ARRIVALS && watches.iter().all(Watch::has_rested) {
                return true;
            }
            canary.send();
        }
        if Instant::now() >= end {
            // The next one that waits finds it empty.
            while !canary.has_arrived() {
                thread::park_timeout(LOOK_AGAIN);
            }
            return false;
        }
        thread::park_timeout(LOOK_AGAIN);
    }
}

/// `None` while a process of the terminal runs, or its output is being read.
fn motion(terminal: &Terminal) -> Option<Motion> {
    let mut runs = 0;
    // One that has ended moves no more.
    let has_ended = terminal.look(|view| view.exit().is_some());
    if !has_ended {
        add_runs(terminal.pid(), &mut runs)?;
        runs = runs.wrapping_add(runs_of(terminal.reader_task()?)?);
    }
    Some(Motion { bytes: terminal.mark(), runs })
}

/// Adds the runs of the threads of a process and of all its children. `None` if one runs now.
fn add_runs(pid: u32, runs: &mut u64) -> Option<()> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    for task in tasks.map(|task| task.path()) {
        *runs = runs.wrapping_add(runs_of(&task)?).wrapping_add(u64::from(pid) << 20);
        let children = fs::read_to_string(task.join("children")).unwrap_or_default();
        for child in children.split_whitespace().filter_map(|child| child.parse().ok()) {
            add_runs(child, runs)?;
        }
    }
    Some(())
}

/// The number of a thread's runs. `None` if it runs now.
fn runs_of(task: &Path) -> Option<u64> {
    let read = |name: &str| fs::read_to_string(task.join(name)).unwrap_or_default();
    let stat = read("stat");
    // The name may hold anything, spaces and brackets, too.
    let state = stat.rsplit(')').next().and_then(|rest| rest.trim_start().chars().next());
    // Asleep, stopped, ended, or gone while we looked.
    let rests = matches!(state, Some('S' | 'T' | 't' | 'Z' | 'X' | 'I') | None);
    let runs = read("schedstat").split_whitespace().nth(2).and_then(|runs| runs.parse().ok()).unwrap_or(0);
    rests.then_some(runs)
}
