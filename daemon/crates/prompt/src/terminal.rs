//! The prompt's terminal: its modes, its size, its keys.

use std::{
    io::{self, Write},
    os::{
        fd::{AsFd as _, BorrowedFd},
        unix::net::UnixStream,
    },
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    stdio,
    termios::{
        InputModes, LocalModes, OptionalActions, QueueSelector, SpecialCodeIndex, Termios, isatty, tcflush, tcgetattr,
        tcgetwinsize, tcsetattr,
    },
};
use tokio::signal::unix::{SignalKind, signal};

use super::keys::{self, PromptKey};

/// Longest wait for the rest of a key.
const KEY_PART_WAIT: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
/// Exit status after Ctrl-C, as shells report it.
const CANCELLED: i32 = 130;
/// Shows the cursor.
const SHOW_CURSOR: &[u8] = b"\x1b[?25h";

/// Leaves the alternate screen.
const LEAVE_SCREEN: &[u8] = b"\x1b[?1049l";

/// Whether the alternate screen is on.
static IS_FULL_SCREEN: AtomicBool = AtomicBool::new(false);
/// The modes before a question, while one is open.
static SAVED: Mutex<Option<Termios>> = Mutex::new(None);

/// Standard input and output, both a terminal.
pub struct Terminal {
    /// Readable when the size has changed.
    resized: UnixStream,
}

impl Terminal {
    /// The terminal, if there is one. From now on signals restore it.
    ///
    /// # Errors
    /// Signals cannot be handled.
    pub fn open() -> io::Result<Option<Self>> {
        if !isatty(stdio::stdin()) || !isatty(stdio::stdout()) {
            return Ok(None);
        }
        Ok(Some(Self { resized: watch_signals()? }))
    }

    /// Columns and rows.
    pub(super) fn size(&self) -> (usize, usize) {
        let size = tcgetwinsize(stdio::stdout()).map(|size| (usize::from(size.ws_col), usize::from(size.ws_row)));
        let (columns, rows) = size.unwrap_or_default();
        (if columns == 0 { 80 } else { columns }, if rows == 0 { 24 } else { rows })
    }

    /// Reads keys one by one and unechoed until the result is dropped.
    pub(super) fn raw(&self) -> io::Result<Modes> {
        Modes::change(|modes| {
            modes.local_modes -= LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG | LocalModes::IEXTEN;
            modes.input_modes -= InputModes::ICRNL | InputModes::IXON;
            modes.special_codes[SpecialCodeIndex::VMIN] = 1;
            modes.special_codes[SpecialCodeIndex::VTIME] = 0;
        })
    }

    /// Reads lines, unechoed, until the result is dropped.
    pub(super) fn unechoed(&self) -> io::Result<Modes> {
        Modes::change(|modes| modes.local_modes -= LocalModes::ECHO)
    }

    /// Reads keys; waits for at least one. A new size of the terminal counts as a key.
    pub(super) fn read_keys(&self, waiting: &mut Vec<u8>) -> io::Result<Vec<PromptKey>> {
        let mut buffer = [0; 512];
        loop {
            let limit = (!waiting.is_empty()).then_some(&KEY_PART_WAIT);
            let keyboard = input();
            let mut sources = [PollFd::new(&keyboard, PollFlags::IN), PollFd::new(&self.resized, PollFlags::IN)];
            match poll(&mut sources, limit) {
                Ok(0) => {
                    let is_escape = waiting.first() == Some(&0x1b);
                    waiting.clear();
                    if is_escape {
                        return Ok(vec![PromptKey::Escape]);
                    }
                    continue;
                }
                Ok(_) if !sources[1].revents().is_empty() => {
                    rustix::io::read(&self.resized, &mut buffer)?;
                    return Ok(vec![PromptKey::Resized]);
                }
                Ok(_) => {}
                Err(rustix::io::Errno::INTR) => continue,
                Err(error) => return Err(error.into()),
            }
            let length = match rustix::io::read(input(), &mut buffer) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(length) => length,
                Err(rustix::io::Errno::INTR) => continue,
                Err(error) => return Err(error.into()),
            };
            waiting.extend_from_slice(&buffer[..length]);
            let (keys, left) = keys::decode(waiting);
            waiting.drain(..waiting.len() - left);
            if !keys.is_empty() {
                return Ok(keys);
            }
        }
    }

    /// Uses the alternate screen until the result is dropped.
    pub(super) fn full_screen(&self) -> io::Result<FullScreen> {
        IS_FULL_SCREEN.store(true, Ordering::SeqCst);
        self.write(b"\x1b[?1049h")?;
        Ok(FullScreen(()))
    }

    pub(super) fn write(&self, bytes: &[u8]) -> io::Result<()> {
        let mut output = io::stdout().lock();
        output.write_all(bytes)?;
        output.flush()
    }
}

/// Changed modes of the terminal. On drop the old ones return, and input typed meanwhile is discarded: the second line of a paste is no
/// answer to the next question.
pub(super) struct Modes(());

impl Modes {
    fn change(change: impl FnOnce(&mut Termios)) -> io::Result<Self> {
        let saved = tcgetattr(input())?;
        let mut modes = saved.clone();
        change(&mut modes);
        *lock() = Some(saved);
        tcsetattr(input(), OptionalActions::Drain, &modes)?;
        Ok(Self(()))
    }
}

impl Drop for Modes {
    fn drop(&mut self) {
        let _ = tcflush(input(), QueueSelector::IFlush);
        restore();
    }
}

/// The alternate screen. On drop what was on the screen before returns.
pub(super) struct FullScreen(());

impl Drop for FullScreen {
    fn drop(&mut self) {
        leave_screen();
    }
}

fn input() -> BorrowedFd<'static> {
    stdio::stdin()
}

fn lock() -> std::sync::MutexGuard<'static, Option<Termios>> {
    SAVED.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn restore() {
    if let Some(saved) = lock().take() {
        let _ = tcsetattr(input(), OptionalActions::Now, &saved);
    }
}

/// Shows the cursor, and the screen as it was before the alternate one.
fn leave_screen() {
    let output = stdio::stdout();
    if IS_FULL_SCREEN.swap(false, Ordering::SeqCst) {
        let _ = rustix::io::write(output.as_fd(), LEAVE_SCREEN);
    }
    let _ = rustix::io::write(output.as_fd(), SHOW_CURSOR);
}

/// Ends the process at a signal with the terminal restored; nothing else needs to be restored, as nothing is written before all questions
/// are answered. Returns a stream that becomes readable when the terminal's size changes.
fn watch_signals() -> io::Result<UnixStream> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (resized, resizes) = UnixStream::pair()?;
    // One byte that waits is as good as several.
    resizes.set_nonblocking(true)?;
    let (mut interrupt, mut terminate, mut hangup, mut window) = {
        let _entered = runtime.enter();
        (
            signal(SignalKind::interrupt())?,
            signal(SignalKind::terminate())?,
            signal(SignalKind::hangup())?,
            signal(SignalKind::window_change())?,
        )
    };
    thread::spawn(move || {
        let status = runtime.block_on(async {
            loop {
                tokio::select! {
                    _ = interrupt.recv() => return CANCELLED,
                    _ = terminate.recv() => return 143,
                    _ = hangup.recv() => return 129,
                    _ = window.recv() => drop(rustix::io::write(&resizes, b"r")),
                }
            }
        });
        restore();
        leave_screen();
        let _ = rustix::io::write(stdio::stdout().as_fd(), b"\r\n");
        std::process::exit(status);
    });
    Ok(resized)
}
