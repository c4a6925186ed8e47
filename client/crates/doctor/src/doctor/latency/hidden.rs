//! A program in a hidden terminal, read by the thread that measures.

use std::{
    ffi::OsString,
    io,
    os::fd::AsFd,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use cohab_shell_relay::live::{LivePty, PtySize, Signal, SpawnShell};
use cohab_shell_state::shell;
use cohab_system::process;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::world::World;

const SIZE: PtySize = PtySize { rows: 24, columns: 80, pixel_width: 0, pixel_height: 0 };
/// Output that has not come by then does not come.
const LIMIT: Duration = Duration::from_secs(3);
/// The longest sleep: how soon a wish to stop is seen.
const SLICE: Duration = Duration::from_millis(50);
const READ_BYTES: usize = 16 * 1024;

/// The program; it is killed when this is dropped.
#[derive(Debug)]
pub(super) struct Hidden {
    pty: LivePty,
    started: Instant,
    /// Read, but not looked for yet.
    unread: Vec<u8>,
    /// The user wants to stop.
    stop: Arc<AtomicBool>,
}

impl Hidden {
    /// Starts `env` with these arguments.
    ///
    /// # Errors
    /// If there is no terminal to have, or it does not start.
    pub fn start(world: &World, arguments: Vec<OsString>) -> io::Result<Self> {
        let started = Instant::now();
        let pty = LivePty::spawn(&SpawnShell {
            program: "/usr/bin/env".into(),
            argv0: "env".into(),
            start: shell::Start { arguments, environment: Vec::new() },
            cwd: world.folder().to_owned(),
            size: SIZE,
            modes: None,
        })?;
        Ok(Self { pty, started, unread: Vec::new(), stop: Arc::clone(&world.stop) })
    }

    /// When it was started.
    pub fn started(&self) -> Instant {
        self.started
    }

    /// Types; the moment before it.
    pub fn keys(&self, keys: &[u8]) -> Option<Instant> {
        let before = Instant::now();
        rustix::io::write(self.pty.master(), keys).ok().filter(|count| *count == keys.len()).map(|_| before)
    }

    /// Reads up to the end of the next `text`: the moment it was there.
    pub fn until(&mut self, text: &str) -> Option<Instant> {
        let end = Instant::now() + LIMIT;
        loop {
            if let Some(at) = memchr::memmem::find(&self.unread, text.as_bytes()) {
                self.unread.drain(..at + text.len());
                return Some(Instant::now());
            }
            // Enough is kept to find a text that comes in two reads.
            let useless = self.unread.len().saturating_sub(text.len());
            self.unread.drain(..useless);
            let more = self.read(end)?;
            self.unread.extend_from_slice(&more);
        }
    }

    /// The next bytes, before `end`.
    pub fn read(&mut self, end: Instant) -> Option<Vec<u8>> {
        loop {
            let left = end.checked_duration_since(Instant::now()).filter(|_| !self.stop.load(Ordering::Relaxed))?;
            let timeout = Timespec::try_from(left.min(SLICE)).ok()?;
            let mut fds = [PollFd::from_borrowed_fd(self.pty.master().as_fd(), PollFlags::IN)];
            // A signal ends the wait early, which does no harm.
            if poll(&mut fds, Some(&timeout)).is_ok_and(|count| count > 0) {
                break;
            }
        }
        let mut buffer = vec![0; READ_BYTES];
        let count = rustix::io::read(self.pty.master(), &mut buffer).ok().filter(|count| *count > 0)?;
        buffer.truncate(count);
        Some(buffer)
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        if let Ok(pid) = i32::try_from(self.pty.child_pid()) {
            process::signal_group(pid, Signal::Kill);
        }
        // It was killed, so this does not wait.
        let _ = self.pty.wait();
    }
}
