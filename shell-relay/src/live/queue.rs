//! Queues the agent's commands and decides when one may start.

use std::time::Instant;

use cohab_secrets::FilledLine;
use cohab_shell_state::shell::Shell;
use cohab_types::{
    command::{CommandRequest, Mode, RelayError},
    refusal::Refusal,
};

use super::{
    COMMAND_MAX_BYTES, Effects, Interrupted, LiveEvent, LiveShell, Phase, Probe, QUEUE_MAX, QUEUE_WAIT, QUIET,
    StepContext, TYPING_WAIT, relayed_command::Queued,
};
use crate::subshell::{Containment, containment};

/// Programs that read commands themselves: text typed there does not reach our shell.
const INTERPRETERS: [&str; 33] = [
    "ash",
    "bash",
    "bc",
    "dash",
    "docker",
    "fish",
    "gdb",
    "ghci",
    "ipython",
    "irb",
    "kubectl",
    "ksh",
    "lua",
    "mosh",
    "mysql",
    "node",
    "nu",
    "podman",
    "psql",
    "python",
    "python2",
    "python3",
    "R",
    "redis-cli",
    "ruby",
    "sh",
    "sqlite3",
    "ssh",
    "su",
    "telnet",
    "tmux: client",
    "xonsh",
    "zsh",
];

pub(super) enum Readiness {
    Ready,
    /// Look again at this time.
    At(Instant),
    /// A later report of the shell will decide.
    Later,
    Refused(RelayError),
}

impl LiveShell {
    /// Runs a command: at the prompt as soon as the user leaves it alone, or within an answer at once. A text that would end or
    /// change the shell itself runs in a subshell of it. One of `CommandRefused` and `CommandFinished` follows, exactly once.
    pub fn run(&mut self, request: CommandRequest, probe: &dyn Probe, now: Instant, fx: &mut Effects) {
        self.run_contained(request, None, StepContext { probe, now, fx });
    }

    /// The same, and the shell gets `filled` in place of the request's text, which alone is shown: on the terminal, and to hooks that
    /// keep a separate history.
    pub fn run_filled(
        &mut self,
        request: CommandRequest,
        filled: &FilledLine,
        probe: &dyn Probe,
        now: Instant,
        fx: &mut Effects,
    ) {
        self.run_contained(request, Some(filled), StepContext { probe, now, fx });
    }

    fn run_contained(&mut self, request: CommandRequest, filled: Option<&FilledLine>, mut cx: StepContext<'_>) {
        let text = filled.map_or(request.text.as_str(), FilledLine::text);
        let contained = self.never(&request.id, text).map_or_else(
            || match containment(self.setup.shell, text) {
                Containment::Live => Ok((Mode::Live, filled.cloned())),
                Containment::Subshell(text) => Ok((Mode::Subshell, Some(text.into()))),
                Containment::Refused(reason) => Err(not_at_prompt(Refusal::EndsShell, reason)),
            },
            Err,
        );
        match contained {
            Ok((mode, sent)) => {
                let until = cx.now + QUEUE_WAIT;
                self.enqueue(Queued { request, sent, is_filled: filled.is_some(), mode, until }, &mut cx);
            }
            Err(error) => self.refuse_at_once(request.id, error, &mut cx),
        }
    }

    /// As [`run`](Self::run), with the text as it is; `mode` is only reported.
    pub fn run_as(&mut self, request: CommandRequest, mode: Mode, probe: &dyn Probe, now: Instant, fx: &mut Effects) {
        let cx = &mut StepContext { probe, now, fx };
        match self.never(&request.id, &request.text) {
            None => {
                let until = now + QUEUE_WAIT;
                self.enqueue(Queued { request, sent: None, is_filled: false, mode, until }, cx);
            }
            Some(error) => self.refuse_at_once(request.id, error, cx),
        }
    }

    fn enqueue(&mut self, queued: Queued, cx: &mut StepContext<'_>) {
        self.queue.push_back(queued);
        self.advance_queue(cx);
    }

    fn refuse_at_once(&mut self, id: String, error: RelayError, cx: &mut StepContext<'_>) {
        cx.fx.events.push(LiveEvent::CommandRefused { id, error });
        self.answer_goes_on(cx);
    }

    fn never(&self, id: &str, text: &str) -> Option<RelayError> {
        if self.setup.shell == Shell::Other {
            return Some(not_at_prompt(Refusal::UnsupportedShell, "commands in this kind of shell are not supported"));
        }
        if text.contains('\0') {
            return Some(not_at_prompt(Refusal::BadText, "the command contains a NUL byte"));
        }
        if text.len() > COMMAND_MAX_BYTES {
            return Some(not_at_prompt(Refusal::BadText, "the command is longer than 4 MiB"));
        }
        if id.is_empty() || !id.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
            return Some(not_at_prompt(Refusal::BadText, "the command's id is not lower-case hexadecimal"));
        }
        if self.queue.len() >= QUEUE_MAX {
            return Some(busy(Refusal::ShellBusy, "too many commands wait for the shell".into()));
        }
        None
    }

    pub(super) fn advance_queue(&mut self, cx: &mut StepContext<'_>) {
        self.advance_commands(cx);
        self.advance_pending_answer(cx);
    }

    fn advance_commands(&mut self, cx: &mut StepContext<'_>) {
        self.retry_at = None;
        while !self.queue.is_empty() {
            match self.readiness(cx) {
                Readiness::Later => return,
                Readiness::At(at) => {
                    self.retry_at = Some(at);
                    return;
                }
                Readiness::Ready => {
                    self.retry_at = self.fence(cx);
                    if self.retry_at.is_some() {
                        return;
                    }
                    if let Some(queued) = self.queue.pop_front() {
                        self.start_relay(queued, cx);
                    }
                    return;
                }
                Readiness::Refused(error) => {
                    if let Some(queued) = self.queue.pop_front() {
                        cx.fx.events.push(LiveEvent::CommandRefused { id: queued.request.id, error });
                    }
                }
            }
        }
    }

    pub(super) fn readiness(&self, cx: &StepContext<'_>) -> Readiness {
        match self.phase {
            Phase::Dead => return Readiness::Refused(RelayError::ShellGone),
            Phase::NotIntegrated => {
                return Readiness::Refused(not_at_prompt(Refusal::NotIntegrated, "the shell gives no marks"));
            }
            Phase::Replaced => {
                return Readiness::Refused(not_at_prompt(Refusal::ShellReplaced, "`exec` has replaced the shell"));
            }
            Phase::Boot => return Readiness::Refused(not_at_prompt(Refusal::NotReady, "the shell is still starting")),
            _ => {}
        }
        if self.relay.is_some() || self.editor.ask.is_some() || self.restore.is_some() {
            return Readiness::Later;
        }
        if self.answer.is_some() {
            return if self.answer_is_idle() { Readiness::Ready } else { Readiness::Later };
        }
        match self.phase {
            Phase::Continuation => {
                let reason = "the shell waits for the rest of a line that the user has begun";
                Readiness::Refused(not_at_prompt(Refusal::ContinuationLine, reason))
            }
            Phase::Running => self.readiness_behind_command(cx),
            Phase::Prompt => self.readiness_at_prompt(cx),
            _ => Readiness::Later,
        }
    }

    fn readiness_at_prompt(&self, cx: &StepContext<'_>) -> Readiness {
        if self.prompt.searched {
            return Readiness::Later;
        }
        // Enter need not have an effect: it may have closed a menu.
        if self.prompt.entered_at.is_some()
            && let Some(last_key) = self.prompt.last_key.filter(|at| cx.now < *at + TYPING_WAIT)
        {
            return Readiness::At(last_key + TYPING_WAIT);
        }
        if let Some(until) = self.prompt.unsettled_until().filter(|until| cx.now < *until) {
            return Readiness::At(until);
        }
        if let Some(last_key) = self.prompt.last_key.filter(|at| cx.now < *at + QUIET) {
            // After Ctrl-C no user is in the middle of a line.
            return Readiness::At(
                last_key + if self.prompt.interrupted == Interrupted::Answered { QUIET } else { TYPING_WAIT },
            );
        }
        if let Some(late) = self.typing.late.stash.filter(|_| self.stash_is_late()) {
            return match cx.now < late.until {
                true => Readiness::At(late.until),
                false => Readiness::Refused(not_put_aside()),
            };
        }
        // A widget of the user's may have started a program.
        if self.editor_reads(cx) { Readiness::Ready } else { Readiness::At(cx.now + QUIET) }
    }

    fn readiness_behind_command(&self, cx: &StepContext<'_>) -> Readiness {
        let name = || cx.probe.foreground_name().unwrap_or_else(|| "a program".into());
        if self.modes.alternate_screen() {
            return Readiness::Refused(busy(Refusal::FullscreenApp, format!("{} has the whole screen", name())));
        }
        if cx.probe.shell_replaced() {
            let reason = format!("the shell was replaced by {}", name());
            return Readiness::Refused(RelayError::NotAtPrompt { refusal: Refusal::ShellReplaced, reason });
        }
        let quiet_at = self.last_output + QUIET;
        if cx.now < quiet_at {
            return Readiness::At(quiet_at);
        }
        let name = name();
        let own_group =
            cx.probe.foreground_pgid().and_then(|pgid| u32::try_from(pgid).ok()) == Some(self.setup.child_pid);
        if !own_group && INTERPRETERS.contains(&name.as_str()) {
            let reason = format!("{name} runs in the foreground and reads the input itself");
            return Readiness::Refused(RelayError::NotAtPrompt { refusal: Refusal::Nested, reason });
        }
        Readiness::Later
    }

    pub(super) fn cancel_queued(&mut self, id: &str, cx: &mut StepContext<'_>) -> bool {
        let Some(at) = self.queue.iter().position(|queued| queued.request.id == id) else { return false };
        self.queue.remove(at);
        let error = not_at_prompt(Refusal::Cancelled, "the command was cancelled before it started");
        cx.fx.events.push(LiveEvent::CommandRefused { id: id.to_owned(), error });
        true
    }

    pub(super) fn queue_deadline(&self) -> Option<Instant> {
        let first = self.queue.iter().map(|queued| queued.until).min();
        first.into_iter().chain(self.retry_at).min()
    }

    pub(super) fn tick_queue(&mut self, cx: &mut StepContext<'_>) {
        while self.queue.front().is_some_and(|queued| cx.now >= queued.until) {
            if let Some(queued) = self.queue.pop_front() {
                let name = cx.probe.foreground_name().unwrap_or_else(|| "the shell".into());
                let error = busy(Refusal::ShellBusy, format!("the shell is busy: {name} runs in the foreground"));
                cx.fx.events.push(LiveEvent::CommandRefused { id: queued.request.id, error });
            }
        }
        if self.retry_at.is_some_and(|at| cx.now >= at) {
            self.advance_queue(cx);
        }
    }
}

pub(super) fn not_at_prompt(refusal: Refusal, reason: &str) -> RelayError {
    RelayError::NotAtPrompt { refusal, reason: reason.to_owned() }
}

pub(super) fn not_put_aside() -> RelayError {
    not_at_prompt(Refusal::NotReady, "the shell's line editor did not put the line aside, so the command will not run")
}

pub(super) fn busy(refusal: Refusal, reason: String) -> RelayError {
    RelayError::Busy { refusal, reason }
}
