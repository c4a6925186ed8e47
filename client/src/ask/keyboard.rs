//! The keyboard of `cohab ask`: keys come one by one while a question for consent is open.

use std::{
    fs::File,
    io,
    os::unix::fs::OpenOptionsExt,
    time::{Duration, Instant},
};

use cohab_protocol::{ApprovalReply, ApprovalRequest};
use rustix::{
    fs::OFlags,
    termios::{self, LocalModes, OptionalActions, Termios},
};

use crate::{
    approval::OpenQuestion,
    async_tty::AsyncTty,
    ui::keys::{Input, KeyReader},
};

/// An Esc without a successor within this time is the Esc key.
const LONE_ESCAPE: Duration = Duration::from_millis(50);

/// The controlling terminal, without echo and line editing. Dropping it puts the modes back.
#[derive(Debug)]
pub(super) struct Keyboard {
    tty: AsyncTty,
    saved: Termios,
    keys: KeyReader,
    question: Option<OpenQuestion>,
    escape_since: Option<Instant>,
}

impl Keyboard {
    /// The keyboard, if a person sits at one: there is a controlling terminal, and standard error shows on one.
    pub fn open() -> Option<Self> {
        if !termios::isatty(rustix::stdio::stderr()) {
            return None;
        }
        let flags = i32::try_from((OFlags::NONBLOCK | OFlags::NOCTTY).bits()).ok()?;
        let tty = File::options().read(true).write(true).custom_flags(flags).open("/dev/tty").ok()?;
        let saved = termios::tcgetattr(&tty).ok()?;
        let mut quiet = saved.clone();
        // Signals stay on: Ctrl-C must work whatever we do.
        quiet.local_modes -= LocalModes::ECHO | LocalModes::ICANON;
        termios::tcsetattr(&tty, OptionalActions::Drain, &quiet).ok()?;
        let tty = AsyncTty::new(tty.into()).ok()?;
        Some(Self { tty, saved, keys: KeyReader::new(), question: None, escape_since: None })
    }

    /// Opens a question.
    pub fn ask(&mut self, request: ApprovalRequest, now: Instant) {
        self.question = Some(OpenQuestion::new(request, now));
        self.mark_pastes(true);
    }

    /// The open question.
    pub fn question(&self) -> Option<&OpenQuestion> {
        self.question.as_ref()
    }

    /// When a lone Esc counts as one.
    fn deadline(&self) -> Option<Instant> {
        self.escape_since.map(|since| since + LONE_ESCAPE)
    }

    /// Waits for keys, or until a lone Esc counts as one; gives the decision if they made one. Cancel-safe.
    pub async fn read_decision(&mut self) -> io::Result<Option<ApprovalReply>> {
        let mut buffer = [0; 1024];
        let inputs = tokio::select! {
            count = self.read(&mut buffer) => {
                let inputs = self.keys.push(&buffer[..count?]);
                self.escape_since = self.keys.is_escape_pending().then(Instant::now);
                inputs
            }
            () = sleep_until(self.deadline()) => {
                self.escape_since = None;
                self.keys.flush_escape().into_iter().collect()
            }
        };
        Ok(self.decide(&inputs))
    }

    async fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.tty.read_with(|fd| Ok(rustix::io::read(fd, &mut *buffer)?)).await? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            count => Ok(count),
        }
    }

    /// A paste must not count as keys that answer a question. Without the marks it would be only as safe as the person's care.
    fn mark_pastes(&self, on: bool) {
        let marks: &[u8] = if on { b"\x1b[?2004h" } else { b"\x1b[?2004l" };
        let _ = rustix::io::write(self.tty.fd(), marks);
    }

    fn decide(&mut self, inputs: &[Input]) -> Option<ApprovalReply> {
        let question = self.question.as_mut()?;
        let decision = inputs.iter().find_map(|input| question.on_input(input, Instant::now()))?;
        let approval_id = question.request().approval_id;
        self.question = None;
        self.mark_pastes(false);
        Some(ApprovalReply { approval_id, decision })
    }
}

async fn sleep_until(due: Option<Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due.into()).await,
        None => std::future::pending().await,
    }
}

impl Drop for Keyboard {
    fn drop(&mut self) {
        if self.question.is_some() {
            self.mark_pastes(false);
        }
        // The terminal may be gone; then there is nothing to put back.
        let _ = termios::tcsetattr(self.tty.fd(), OptionalActions::Now, &self.saved);
    }
}
