//! The user's terminal: raw mode, size, reading, writing. The only writer to it.
//!
//! It is opened anew by its name. Its descriptor can then be non-blocking without changing the one we inherited, which is shared
//! with the shell that started us and must stay as it is. A terminal that takes no more output fills a bounded queue; the driver
//! then stops reading from the shell, so a slow terminal slows the command as it would without us, and keys still get through.

use std::{
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
};

use rustix::{
    fs::{Mode, OFlags},
    io::Errno,
    termios::{self, OptionalActions, Termios},
};
use tokio::io::unix::AsyncFd;

/// Output that may wait for a slow terminal before the shell is slowed down.
const OUTPUT_QUEUE_BYTES: usize = 64 * 1024;

/// The terminal in raw mode. Dropping it puts the modes back.
#[derive(Debug)]
pub struct Terminal {
    tty: AsyncFd<OwnedFd>,
    saved: Termios,
    queue: Vec<u8>,
    /// Bytes of `queue` that are written already.
    written: usize,
    is_gone: bool,
}

impl Terminal {
    /// Opens the terminal of standard input and makes it raw.
    ///
    /// # Errors
    /// If standard input is no terminal, or it cannot be opened again.
    pub fn open() -> io::Result<Self> {
        let tty = reopen(io::stdin().as_fd())?;
        let saved = termios::tcgetattr(&tty)?;
        let mut raw = saved.clone();
        raw.make_raw();
        termios::tcsetattr(&tty, OptionalActions::Drain, &raw)?;
        match crate::readiness::register(tty) {
            Ok(tty) => Ok(Self { tty, saved, queue: Vec::new(), written: 0, is_gone: false }),
            Err(error) => {
                termios::tcsetattr(io::stdin(), OptionalActions::Drain, &saved)?;
                Err(error)
            }
        }
    }

    /// The modes the terminal had before.
    #[must_use]
    pub fn saved_modes(&self) -> &Termios {
        &self.saved
    }

    /// Its size as `(columns, rows)`, at least 2 by 2; 80 by 24 if it does not know.
    #[must_use]
    pub fn size(&self) -> (u16, u16) {
        size_of(self.tty.get_ref().as_fd())
    }

    /// Waits for keys and reads them into `buffer`. 0 means the terminal is gone. Cancel-safe.
    ///
    /// # Errors
    /// If reading fails for another reason than the terminal's end.
    pub async fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let mut ready = self.tty.readable().await?;
            match ready.try_io(|tty| rustix::io::read(tty.get_ref(), &mut *buffer).map_err(io::Error::from)) {
                Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(Err(error)) if error.raw_os_error() == Some(Errno::IO.raw_os_error()) => return Ok(0),
                Ok(result) => {
                    // A terminal gives all it has: a short read means that there is no more, so the next wait need not try.
                    if result.as_ref().is_ok_and(|count| *count < buffer.len()) {
                        ready.clear_ready();
                    }
                    return result;
                }
                Err(_would_block) => {}
            }
        }
    }

    /// Writes at once what the terminal takes and queues the rest. All of it is kept, whatever the queue's bound:
    /// the bound is where [`is_backed_up`](Self::is_backed_up) begins.
    pub fn write(&mut self, bytes: &[u8]) {
        if self.is_gone || bytes.is_empty() {
            return;
        }
        let taken = if self.queue.is_empty() { self.write_now(bytes) } else { 0 };
        self.queue.extend_from_slice(&bytes[taken..]);
    }

    fn write_now(&mut self, bytes: &[u8]) -> usize {
        let mut taken = 0;
        while taken < bytes.len() && !self.is_gone {
            match rustix::io::write(self.tty.get_ref(), &bytes[taken..]) {
                Ok(count) => taken += count,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break,
                // Nobody looks any more: SIGHUP is on its way.
                Err(_) => self.is_gone = true,
            }
        }
        taken
    }

    /// Whether output waits.
    #[must_use]
    pub fn has_queue(&self) -> bool {
        !self.queue.is_empty() && !self.is_gone
    }

    /// Whether so much output waits that its source should be left alone.
    #[must_use]
    pub fn is_backed_up(&self) -> bool {
        self.queue.len() - self.written >= OUTPUT_QUEUE_BYTES && !self.is_gone
    }

    /// Waits until the terminal takes output again. Cancel-safe.
    ///
    /// # Errors
    /// If waiting fails.
    pub async fn writable(&self) -> io::Result<()> {
        self.tty.writable().await.map(drop)
    }

    /// Writes from the queue what the terminal takes now.
    pub fn flush(&mut self) {
        let rest = &self.queue[self.written..];
        let write = |tty: &OwnedFd| rustix::io::write(tty, rest).map_err(io::Error::from);
        match self.tty.try_io(tokio::io::Interest::WRITABLE, write) {
            Ok(count) => self.written += count,
            Err(error) if matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock) => {}
            Err(_) => self.is_gone = true,
        }
        if self.written == self.queue.len() || self.is_gone {
            self.queue.clear();
            self.queue.shrink_to(OUTPUT_QUEUE_BYTES);
            self.written = 0;
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let rest = std::mem::take(&mut self.queue);
        self.write_now(&rest[self.written..]);
        // The terminal may be gone; then there is nothing to put back.
        let _ = termios::tcsetattr(self.tty.get_ref(), OptionalActions::Now, &self.saved);
    }
}

/// The terminal behind `fd` with an open file description of its own, non-blocking.
fn reopen(fd: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let name = termios::ttyname(fd, Vec::new())?;
    let opened = rustix::fs::open(&name, flags, Mode::empty());
    // In a container the name may belong to another mount; the controlling terminal is the next best.
    Ok(opened.or_else(|_| rustix::fs::open("/dev/tty", flags, Mode::empty()))?)
}

/// The size of the terminal `fd` as `(columns, rows)`, at least 2 by 2; 80 by 24 if it does not know.
#[must_use]
pub fn size_of(fd: BorrowedFd<'_>) -> (u16, u16) {
    match termios::tcgetwinsize(fd) {
        Ok(size) if size.ws_col > 0 && size.ws_row > 0 => (size.ws_col.max(2), size.ws_row.max(2)),
        _ => (80, 24),
    }
}
