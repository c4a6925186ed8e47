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
use tokio::io::unix::AsyncFd;

use crate::ui::{
    card::ApprovalCard,
    keys::{Key, KeyParser},
};

/// An Esc without a successor within this time is the Esc key.
const LONE_ESCAPE: Duration = Duration::from_millis(50);

/// The controlling terminal, without echo and line editing. Dropping it puts the modes back.
#[derive(Debug)]
pub(super) struct Keyboard {
    tty: AsyncFd<File>,
    saved: Termios,
    parser: KeyParser,
    card: Option<ApprovalCard>,
    escape_since: Option<Instant>,
}

impl Keyboard {
    /// The keyboard, if a person sits at one: there is a controlling terminal, and standard error shows on one.
    pub fn open() -> Option<Self> {
        if !rustix::termios::isatty(rustix::stdio::stderr()) {
            return None;
        }
        let flags = i32::try_from((OFlags::NONBLOCK | OFlags::NOCTTY).bits()).ok()?;
        let tty = File::options().read(true).write(true).custom_flags(flags).open("/dev/tty").ok()?;
        let saved = termios::tcgetattr(&tty).ok()?;
        let mut quiet = saved.clone();
        // Signals stay on: Ctrl-C must work whatever we do.
        quiet.local_modes -= LocalModes::ECHO | LocalModes::ICANON;
        termios::tcsetattr(&tty, OptionalActions::Drain, &quiet).ok()?;
        let tty = AsyncFd::new(tty).ok()?;
        Some(Self { tty, saved, parser: KeyParser::default(), card: None, escape_since: None })
    }

    /// Opens a question.
    pub fn ask(&mut self, request: ApprovalRequest, now: Instant) {
        self.card = Some(ApprovalCard::new(request, now));
    }

    /// The open question.
    pub fn card(&self) -> Option<&ApprovalCard> {
        self.card.as_ref()
    }

    /// When a lone Esc counts as one.
    pub fn deadline(&self) -> Option<Instant> {
        self.escape_since.map(|since| since + LONE_ESCAPE)
    }

    /// Waits for keys, at most until `due`; gives the decision if they made one. Cancel-safe.
    pub async fn read_decision(&mut self, due: Option<Instant>) -> io::Result<Option<ApprovalReply>> {
        let mut buffer = [0; 1024];
        let keys = tokio::select! {
            count = self.read(&mut buffer) => {
                let keys = self.parser.push(&buffer[..count?]);
                self.escape_since = self.parser.is_pending_escape().then(Instant::now);
                keys
            }
            () = sleep_until(due) => {
                self.escape_since = None;
                self.parser.flush_escape()
            }
        };
        Ok(self.decide(&keys))
    }

    async fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let mut ready = self.tty.readable().await?;
            let result = ready.try_io(|tty| rustix::io::read(tty.get_ref(), &mut *buffer).map_err(io::Error::from));
            match result {
                Ok(Ok(0)) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(result) => return result,
                Err(_would_block) => {}
            }
        }
    }

    fn decide(&mut self, keys: &[Key]) -> Option<ApprovalReply> {
        let card = self.card.as_mut()?;
        let decision = keys.iter().find_map(|key| card.on_key(key, Instant::now()))?;
        let approval_id = card.request().approval_id;
        self.card = None;
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
        // The terminal may be gone; then there is nothing to put back.
        let _ = termios::tcsetattr(self.tty.get_ref(), OptionalActions::Now, &self.saved);
    }
}
