//! Runs a program in a PTY and reads it on the measuring thread: nothing stands between the bytes and the clock.

use std::{
    io::{Read, Write},
    sync::mpsc::{RecvTimeoutError, Sender, channel},
    thread,
    time::{Duration, Instant},
};

use memchr::memmem;
use portable_pty::{CommandBuilder, MasterPty, PtySize, native_pty_system};
use rustix::process::{Pid, Signal, kill_process};

/// A program that prints nothing for this long is killed, and the bench fails instead of hanging.
const LIFE: Duration = Duration::from_secs(300);

/// A running program.
pub(crate) struct Pty {
    reader: Box<dyn Read + Send>,
    writer: Box<dyn Write + Send>,
    pid: Pid,
    buffer: Vec<u8>,
    /// Read from the terminal, but not yet by us.
    unread: Vec<u8>,
    /// Kept open: closing it hangs up on the program.
    _master: Box<dyn MasterPty + Send>,
    /// Dropping it ends the watch.
    _watch: Sender<()>,
}

impl Pty {
    pub(crate) fn spawn(command: CommandBuilder) -> Self {
        let size = PtySize { rows: 24, cols: 80, pixel_width: 0, pixel_height: 0 };
        let pty = native_pty_system().openpty(size).expect("the system has a PTY left");
        let mut child = pty.slave.spawn_command(command).expect("the program starts");
        drop(pty.slave);
        let pid = child.process_id().and_then(|pid| i32::try_from(pid).ok()).and_then(Pid::from_raw);
        let pid = pid.expect("a program that started has an id");
        let (watch, watched) = channel();
        thread::spawn(move || {
            if watched.recv_timeout(LIFE) == Err(RecvTimeoutError::Timeout) {
                let _ = kill_process(pid, Signal::KILL);
            }
            let _ = child.wait();
        });
        Self {
            reader: pty.master.try_clone_reader().expect("a fresh PTY can be read"),
            writer: pty.master.take_writer().expect("a fresh PTY can be written"),
            pid,
            buffer: vec![0; 64 * 1024],
            unread: Vec::new(),
            _master: pty.master,
            _watch: watch,
        }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.pid.as_raw_nonzero().get().unsigned_abs()
    }

    pub(crate) fn send(&mut self, keys: &str) {
        self.writer.write_all(keys.as_bytes()).and_then(|()| self.writer.flush()).expect("the program runs");
    }

    /// The next bytes, as they come.
    pub(crate) fn read(&mut self) -> Vec<u8> {
        if self.unread.is_empty() {
            self.fill();
        }
        std::mem::take(&mut self.unread)
    }

    fn fill(&mut self) {
        let bytes = self.reader.read(&mut self.buffer).unwrap_or(0);
        assert!(bytes > 0, "the program ended, or was killed after {LIFE:?}");
        self.unread.extend_from_slice(&self.buffer[..bytes]);
    }

    /// Reads up to the end of the next `text`. Returns the moment of its arrival; the next call reads the rest.
    pub(crate) fn read_until(&mut self, text: &str) -> Instant {
        loop {
            if let Some(at) = memmem::find(&self.unread, text.as_bytes()) {
                self.unread.drain(..at + text.len());
                return Instant::now();
            }
            // Enough is kept to find a text that is split over two reads.
            let useless = self.unread.len().saturating_sub(text.len());
            self.unread.drain(..useless);
            self.fill();
        }
    }
}

impl Drop for Pty {
    fn drop(&mut self) {
        let _ = kill_process(self.pid, Signal::KILL);
    }
}
