//! The keyboard of `cohab ask`: keys come one by one while a question for consent is open.

use std::{
    fs::File,
    io,
    os::unix::fs::OpenOptionsExt,
    sync::Arc,
    time::{Duration, Instant},
};

use cohab_conversation::approval::{ApprovalEnvironment, KeyOutcome, OpenQuestion};
use cohab_policy_io::rules_file::RulesFile;
use cohab_protocol::{ApprovalReply, ApprovalRequest};
use cohab_term::{
    async_tty::AsyncTty,
    keys::{Input, KeyReader},
};
use rustix::{
    fs::OFlags,
    termios::{self, InputModes, LocalModes, OptionalActions, Termios},
};

use crate::background_tasks::BackgroundTasks;

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
    environment: Arc<ApprovalEnvironment>,
    tasks: BackgroundTasks,
}

/// What came of waiting.
#[derive(Debug, Default)]
pub(super) struct KeyboardStep {
    /// A decision for the daemon.
    pub reply: Option<ApprovalReply>,
    /// Something to show to the user, and whether it went wrong.
    pub remark: Option<(String, bool)>,
}

impl Keyboard {
    /// The keyboard, if a person sits at one: there is a controlling terminal, and standard error shows on one.
    pub fn open(environment: ApprovalEnvironment) -> Option<Self> {
        if !termios::isatty(rustix::stdio::stderr()) {
            return None;
        }
        let flags = i32::try_from((OFlags::NONBLOCK | OFlags::NOCTTY).bits()).ok()?;
        let tty = File::options().read(true).write(true).custom_flags(flags).open("/dev/tty").ok()?;
        let saved = termios::tcgetattr(&tty).ok()?;
        let mut quiet = saved.clone();
        // Signals stay on: Ctrl-C must work in any state.
        quiet.local_modes -= LocalModes::ECHO | LocalModes::ICANON;
        // Enter must stay the carriage return that the terminal sends: a line feed is no key that ends a text field.
        quiet.input_modes -= InputModes::ICRNL | InputModes::INLCR | InputModes::IGNCR;
        termios::tcsetattr(&tty, OptionalActions::Drain, &quiet).ok()?;
        let tty = AsyncTty::new(tty.into()).ok()?;
        let tasks = BackgroundTasks::new(Arc::new(RulesFile::new(environment.rules_file.clone())));
        let environment = Arc::new(environment);
        Some(Self { tty, saved, keys: KeyReader::new(), question: None, escape_since: None, environment, tasks })
    }

    /// Opens a question.
    pub fn ask(&mut self, request: ApprovalRequest, now: Instant) {
        let (question, task) = OpenQuestion::new(request, Arc::clone(&self.environment), now);
        self.question = Some(question);
        task.into_iter().for_each(|task| self.tasks.begin(task));
        self.mark_pastes(true);
    }

    /// The open question.
    pub fn question(&self) -> Option<&OpenQuestion> {
        self.question.as_ref()
    }

    /// When something is due: a lone Esc, or a limit of the question's.
    fn deadline(&self) -> Option<Instant> {
        let escape = self.escape_since.map(|since| since + LONE_ESCAPE);
        escape.into_iter().chain(self.question.as_ref().and_then(OpenQuestion::deadline)).min()
    }

    /// Waits for keys, for what was begun on the side, or for time; returns the outcome. Cancel-safe.
    pub async fn step(&mut self) -> io::Result<KeyboardStep> {
        let mut buffer = [0; 1024];
        let deadline = self.deadline();
        let outcome = tokio::select! {
            count = self.tty.read_with(|fd| Ok(rustix::io::read(fd, &mut buffer)?)) => {
                let count = match count? {
                    0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                    count => count,
                };
                let inputs = self.keys.push(&buffer[..count]);
                self.escape_since = self.keys.is_escape_pending().then(Instant::now);
                self.decide(&inputs)
            }
            done = self.tasks.next() => {
                self.question.as_mut().map(|question| question.on_done(done, Instant::now())).unwrap_or_default()
            }
            () = sleep_until(deadline) => self.on_time(),
        };
        Ok(self.take(outcome))
    }

    fn on_time(&mut self) -> KeyOutcome {
        let now = Instant::now();
        if self.escape_since.is_some_and(|since| now >= since + LONE_ESCAPE) {
            self.escape_since = None;
            let inputs: Vec<_> = self.keys.flush_escape().into_iter().collect();
            return self.decide(&inputs);
        }
        self.question.as_mut().map(|question| question.on_time(now)).unwrap_or_default()
    }

    fn take(&mut self, outcome: KeyOutcome) -> KeyboardStep {
        let KeyOutcome { decided, remark, task, is_closed, .. } = outcome;
        task.into_iter().for_each(|task| self.tasks.begin(task));
        if is_closed {
            self.question = None;
            self.mark_pastes(false);
        }
        let reply = decided.map(|(request, decision)| ApprovalReply { approval_id: request.approval_id, decision });
        KeyboardStep { reply, remark }
    }

    /// A paste must not count as keys that answer a question. Without the marks it would be only as safe as the person's care.
    fn mark_pastes(&self, on: bool) {
        let marks: &[u8] = if on { b"\x1b[?2004h" } else { b"\x1b[?2004l" };
        let _ = rustix::io::write(self.tty.fd(), marks);
    }

    /// The first input that has consequences counts; what was typed behind it was typed before they were seen.
    fn decide(&mut self, inputs: &[Input]) -> KeyOutcome {
        let Some(question) = self.question.as_mut() else { return KeyOutcome::default() };
        let mut outcomes = inputs.iter().map(|input| question.on_input(input, Instant::now()));
        outcomes.find(|outcome| *outcome != KeyOutcome::default()).unwrap_or_default()
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
