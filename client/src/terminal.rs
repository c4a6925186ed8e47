//! The user's terminal: raw mode, size, reading, writing. The only writer to it.
//!
//! All that the client itself switches on goes through [`Terminal::write`], which keeps the list of it; [`Terminal::restore`] undoes the
//! list, however the client ends.
//!
//! It is opened again by its name. Its descriptor can then be non-blocking without changing the one we inherited, which is shared
//! with the shell that started us and must stay as it is. A terminal that takes no more output fills a bounded queue; the driver
//! then stops reading from the shell, so a slow terminal slows the command as it would without us, and keys still get through.

use std::{
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    time::Duration,
};

use cohab_shell_relay::live::Modes;
use cohab_term::{async_tty::AsyncTty, window_size};
use rustix::{
    fs::{Mode, OFlags},
    io::Errno,
    termios::{self, OptionalActions, Termios},
};

/// Output that may wait for a slow terminal before the shell is slowed down.
const OUTPUT_QUEUE_BYTES: usize = 64 * 1024;
/// A terminal that does not take the resets for this long stays as it is.
const RESTORE_WAIT: Duration = Duration::from_millis(500);

/// The terminal in raw mode. Dropping it puts the kernel's modes back; see [`restore`](Self::restore) for those of the terminal itself.
#[derive(Debug)]
pub struct Terminal {
    tty: AsyncTty,
    saved: Termios,
    /// What we ourselves have switched on.
    switched: Modes,
    is_at_row_start: bool,
}

impl Terminal {
    /// Opens the terminal of standard input and makes it raw.
    ///
    /// # Errors
    /// If standard input is no terminal, or it cannot be opened again.
    pub fn open() -> io::Result<Self> {
        let tty = AsyncTty::new(reopen(io::stdin().as_fd())?)?;
        let saved = termios::tcgetattr(tty.fd())?;
        let mut raw = saved.clone();
        raw.make_raw();
        termios::tcsetattr(tty.fd(), OptionalActions::Drain, &raw)?;
        Ok(Self { tty, saved, switched: Modes::default(), is_at_row_start: true })
    }

    /// The modes the terminal had before.
    #[must_use]
    pub fn saved_modes(&self) -> &Termios {
        &self.saved
    }

    /// Its size as `(columns, rows)`, at least 2 by 2; 80 by 24 if it does not know.
    #[must_use]
    pub fn size(&self) -> (u16, u16) {
        window_size::size_of(self.tty.fd().as_fd())
    }

    /// Waits for keys and reads them into `buffer`. 0 means the terminal is gone. Cancel-safe.
    ///
    /// # Errors
    /// If reading fails for another reason than the terminal's end.
    pub async fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.tty
            .read_with(|fd| match rustix::io::read(fd, &mut *buffer) {
                Err(Errno::IO) => Ok(0),
                result => Ok(result?),
            })
            .await
    }

    /// Writes bytes of our own: at once what the terminal takes, the rest is queued. All of it is kept: the bound is where
    /// [`is_backed_up`](Self::is_backed_up) begins. What the bytes switch on is remembered, and must be something that can be.
    pub fn write(&mut self, bytes: &[u8]) {
        debug_assert_eq!(Modes::first_untracked(bytes), None, "it would stay switched on when we end");
        self.switched.feed(bytes);
        self.pass(bytes);
    }

    /// Writes in the same way what comes from the shell; the relay knows what that switches on.
    pub fn pass(&mut self, bytes: &[u8]) {
        if let Some(last) = bytes.last() {
            self.is_at_row_start = matches!(last, b'\r' | b'\n');
        }
        self.tty.write(bytes);
    }

    /// Whether what was written last has left the cursor at the start of a row.
    pub fn is_at_row_start(&self) -> bool {
        self.is_at_row_start
    }

    /// Undoes what is switched on, by the shell and the programs in it (`shell`) or by us. Output that the terminal has not taken is lost.
    /// A terminal that obeys no sequences (`is_dumb`) gets none that it did not get before.
    pub fn restore(&mut self, shell: &Modes, is_dumb: bool) {
        let is_cut = self.tty.give_up_queue();
        // What was lost may have been a reset, or the rest of a sequence.
        let reset = if is_cut && !is_dumb {
            Modes::reset_unknown()
        } else {
            [shell.reset_all(), self.switched.reset_all()].concat()
        };
        self.tty.write_last(&reset, RESTORE_WAIT);
    }

    /// Whether output waits.
    #[must_use]
    pub fn has_queue(&self) -> bool {
        self.tty.queued_bytes() > 0
    }

    /// Whether so much output waits that its source should be left alone.
    #[must_use]
    pub fn is_backed_up(&self) -> bool {
        self.tty.queued_bytes() >= OUTPUT_QUEUE_BYTES
    }

    /// Waits until [`flush`](Self::flush) can do something; for ever if nothing waits. Cancel-safe.
    pub async fn writable(&self) {
        self.tty.writable().await;
    }

    /// Writes what waits, as far as the terminal takes it now.
    pub fn flush(&mut self) {
        self.tty.flush();
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // The terminal may be gone; then there is nothing to put back.
        let _ = termios::tcsetattr(self.tty.fd(), OptionalActions::Now, &self.saved);
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
