//! One command of the agent's: in the queue, on its way to the shell, and while it runs.

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use cohab_secrets::FilledLine;
use cohab_text::capture::{Capture, Redactor};
use cohab_types::command::{CommandOutcome, CommandRequest, Ending, Interrupter, Mode};
use zeroize::Zeroizing;

use super::{
    api::{AwaitedInput, ForegroundSignal, LiveEvent},
    cancel::{Cancel, INTERRUPT_KEY},
    keys::{Token, TokenKind},
    late_keys::KeyPace,
    limits::START_WAIT,
    state_after,
    step::StepContext,
    typed_echo::TypedEcho,
};
use crate::marks::Ended;

/// The wait after the last output before the search for a password prompt; without output the interval is longer.
pub(super) const PROBE_AFTER_OUTPUT: Duration = Duration::from_millis(150);
pub(super) const PROBE_INTERVAL: Duration = Duration::from_secs(1);

/// A command that waits for its turn.
#[derive(Debug)]
pub(super) struct Queued {
    pub request: CommandRequest,
    /// The text that the shell gets instead, if the request's text would harm it or has secrets to fill in.
    pub sent: Option<FilledLine>,
    /// Only the request's text is shown, not the text that is sent.
    pub is_filled: bool,
    pub mode: Mode,
    pub until: Instant,
}

/// The progress of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RelayStep {
    /// Key 1 is sent.
    Stashing { until: Instant },
    /// The prompt is painted without the line.
    Repainting { until: Instant },
    /// The load key is sent.
    Loading { until: Instant },
    /// The shell holds the command and the run key is sent; the next repaint is the last that is shown.
    Loaded { until: Instant },
    /// The stub's echo is hidden.
    Hidden { until: Instant },
    /// The command's output is shown and captured, and the command has the keyboard.
    Running,
    /// The command ended; the prompt is awaited.
    Ending,
}

/// A command of the agent's that runs, or is on its way.
#[derive(Debug)]
pub(super) struct Relay {
    pub request: CommandRequest,
    pub mode: Mode,
    pub step: RelayStep,
    pub in_answer: bool,
    /// The whole command file, to be typed because it could not be written.
    pub typed_command: Option<Zeroizing<Vec<u8>>>,
    /// Characters put aside.
    pub stashed: usize,
    pub started: Instant,
    /// The end of its time; absent once reported.
    pub time_up: Option<Instant>,
    pub capture: Capture,
    pub redactor: Redactor,
    pub echo: TypedEcho,
    pub ended: Option<(Ended, Duration)>,
    /// The latest party of cohab that interrupts it, otherwise the user.
    pub interrupted: Option<Interrupter>,
    /// The part of the stub behind the command was discarded.
    pub discarded: bool,
    /// The user typed while it ran.
    pub typed: bool,
    /// An event has reported the outcome.
    pub reported: bool,
    pub cancel: Option<Cancel>,
    pub probe_at: Instant,
    pub waiting_since: Option<Instant>,
}

impl Relay {
    pub fn is_stashing(&self) -> bool {
        matches!(self.step, RelayStep::Stashing { .. })
    }

    /// The time that its first mark may take after the hand-over.
    pub fn start_wait(&self, pace: &KeyPace) -> Duration {
        if self.in_answer { START_WAIT } else { pace.wait(self.request.text.len()) }
    }

    /// Whether the run key was sent: the command may run.
    pub fn is_handed_over(&self) -> bool {
        !matches!(self.step, RelayStep::Stashing { .. } | RelayStep::Repainting { .. } | RelayStep::Loading { .. })
    }

    /// Whether its own first mark came: a command that ends before it has not run.
    pub fn has_begun(&self) -> bool {
        matches!(self.step, RelayStep::Running | RelayStep::Ending)
    }

    /// A key of the user's while it runs. Escape interrupts a program that reads lines, to which it means nothing; a program that
    /// reads single keys, hides what is typed or fills the screen gets it.
    pub fn take_key(&mut self, token: Token<'_>, is_full_screen: bool, cx: &mut StepContext<'_>) {
        let modes = cx.probe.terminal_modes();
        let reads_lines = modes.is_some_and(|modes| modes.canonical);
        let is_escape = token.kind == TokenKind::Escape
            && !self.reported
            && !is_full_screen
            && modes.is_some_and(|modes| modes.canonical && modes.echo);
        if is_escape {
            cx.fx.pty.push(INTERRUPT_KEY);
            cx.fx.events.push(LiveEvent::EscapeInterrupts { id: self.request.id.clone() });
        } else {
            cx.fx.pty.extend_from_slice(token.bytes);
            if modes.is_some_and(|modes| modes.canonical && modes.echo) {
                self.echo.typed(token.bytes);
            }
        }
        let is_interrupt = is_escape || token.kind == TokenKind::Interrupt;
        // While lines are read, the terminal itself takes this key: the line editor will not find it.
        self.typed |= !(is_interrupt && reads_lines);
        if is_interrupt {
            self.interrupted.get_or_insert(Interrupter::User);
        }
    }

    pub fn take_output(&mut self, bytes: &[u8], cx: &mut StepContext<'_>) {
        let mut shown = Vec::with_capacity(bytes.len());
        self.redactor.push(&self.echo.without(bytes), &mut shown);
        self.probe_at = self.probe_at.min(cx.now + PROBE_AFTER_OUTPUT);
        self.keep(shown, cx);
    }

    pub fn keep(&mut self, bytes: Vec<u8>, cx: &mut StepContext<'_>) {
        if bytes.is_empty() {
            return;
        }
        self.capture.push(&bytes);
        if !self.reported {
            cx.fx.events.push(LiveEvent::CommandOutput { id: self.request.id.clone(), bytes });
        }
    }

    pub fn outcome(&self, ending: Ending, status: Option<i32>, cwd: PathBuf, duration: Duration) -> CommandOutcome {
        let (output, truncated_bytes) = self.capture.render();
        CommandOutcome {
            ending,
            status,
            cwd,
            output: self.redactor.text(&output),
            total_bytes: self.capture.total_bytes(),
            truncated_bytes,
            duration,
            mode: self.mode,
            state_after: state_after::at_end(ending),
            env_delta: Vec::new(),
            first_run: None,
        }
    }

    pub fn report(&mut self, event: LiveEvent, cx: &mut StepContext<'_>) {
        if !std::mem::replace(&mut self.reported, true) {
            self.time_up = None;
            cx.fx.events.push(event);
        }
    }

    /// Running steps only.
    pub fn deadline(&self) -> Option<Instant> {
        let rung = self.cancel.as_ref().and_then(Cancel::due);
        [self.time_up.filter(|_| self.waiting_since.is_none()), rung, Some(self.probe_at).filter(|_| !self.reported)]
            .into_iter()
            .flatten()
            .min()
    }

    pub fn ending(&self, ended: &Ended) -> Ending {
        if ended.stopped {
            Ending::Stopped
        } else if let Some(by) = self.interrupted.filter(|_| ended.status > 128 || self.discarded) {
            Ending::Interrupted { by }
        } else {
            Ending::Exited
        }
    }

    pub fn begin_cancel(&mut self, by: Interrupter, cx: &mut StepContext<'_>) {
        self.interrupted = Some(by);
        self.cancel = Some(Cancel::begun(cx.now));
        cx.fx.pty.push(INTERRUPT_KEY);
    }

    pub fn climb(&mut self, own_group: Option<i32>, cx: &mut StepContext<'_>) {
        let signal = self.cancel.as_mut().and_then(|cancel| cancel.climb(cx.now));
        let pgid = || cx.probe.foreground_pgid().filter(|&pgid| pgid > 1 && Some(pgid) != own_group);
        if let Some(signal) = signal
            && let Some(pgid) = pgid()
        {
            cx.fx.signal = Some(ForegroundSignal { pgid, signal });
        }
    }

    /// Looks for a password prompt: while the command waits for a line that is not echoed, its time stands still.
    pub fn look_for_password_prompt(&mut self, cx: &mut StepContext<'_>) {
        let waits = cx.probe.terminal_modes().is_some_and(|modes| modes.canonical && !modes.echo);
        match self.waiting_since {
            None if waits => {
                self.waiting_since = Some(cx.now);
                let id = self.request.id.clone();
                cx.fx.events.push(LiveEvent::WaitingForInput { id, what: AwaitedInput::Password });
            }
            Some(since) if !waits => {
                self.waiting_since = None;
                self.time_up = self.time_up.map(|at| at + (cx.now - since));
            }
            _ => {}
        }
        self.probe_at = cx.now + if waits { PROBE_AFTER_OUTPUT } else { PROBE_INTERVAL };
    }
}
