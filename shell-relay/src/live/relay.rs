//! Runs one command of the agent's, from the stash of the user's line to the next prompt.

use std::time::Instant;

use cohab_secrets::FilledLine;
use cohab_text::capture::{CAPTURE_HEAD_BYTES, CAPTURE_TAIL_BYTES, Capture, Redactor};
use cohab_types::{
    command::{Ending, Interrupter, Mode, RelayError},
    refusal::Refusal,
};
use zeroize::Zeroizing;

use super::{
    AnswerStep, CommandFile, Effects, GuardFilter, LiveEvent, LiveShell, Phase, Restore, StepContext, View, WidgetKey,
    queue::not_at_prompt,
    relayed_command::{PROBE_AFTER_OUTPUT, Queued, Relay, RelayStep},
    state_after,
    typed_echo::TypedEcho,
};
use crate::marks::Ended;

impl LiveShell {
    /// Interrupts a command on behalf of `by`, or takes it out of the queue. A running command gets Ctrl-C, then SIGINT after 2 s,
    /// SIGTERM after 3 s, SIGKILL after 5 s to the foreground group, never to the shell's own. Its end is reported as usual.
    pub fn cancel(&mut self, id: &str, by: Interrupter, probe: &dyn super::Probe, now: Instant, fx: &mut Effects) {
        if self.withdraw(id, probe, now, fx) {
            return;
        }
        let cx = &mut StepContext { probe, now, fx };
        let Some(relay) = self.relay.as_mut().filter(|relay| relay.request.id == id) else { return };
        match relay.step {
            RelayStep::Running if relay.cancel.is_none() => relay.begin_cancel(by, cx),
            RelayStep::Loaded { .. } | RelayStep::Hidden { .. } => relay.interrupted = Some(by),
            _ => {}
        }
    }

    pub(super) fn start_relay(
        &mut self,
        Queued { request, sent, is_filled, mode, .. }: Queued,
        cx: &mut StepContext<'_>,
    ) {
        self.show_enter_paint(cx);
        let in_answer = self.answer.is_some();
        let text = sent.as_ref().map_or(request.text.as_str(), FilledLine::text);
        cx.fx.command_file = Some(CommandFile {
            id: request.id.clone(),
            content: Zeroizing::new([request.id.as_bytes(), b"\n", text.as_bytes()].concat()),
            shown: is_filled.then(|| request.text.clone()),
            wants_env_delta: request.wants_env_delta && mode == Mode::Live,
            keys_from: cx.fx.pty.len(),
        });
        self.relay = Some(Relay {
            request,
            mode,
            step: RelayStep::Stashing { until: self.typing.key_pace.asked(cx.now, 0) },
            in_answer,
            typed_command: None,
            stashed: 0,
            started: cx.now,
            time_up: None,
            capture: Capture::new(CAPTURE_HEAD_BYTES, CAPTURE_TAIL_BYTES),
            redactor: Redactor::new(&self.setup.nonce),
            echo: TypedEcho::default(),
            ended: None,
            interrupted: None,
            discarded: false,
            typed: false,
            reported: false,
            cancel: None,
            probe_at: cx.now,
            waiting_since: None,
        });
        if in_answer {
            return self.press_load(cx);
        }
        let leftovers = self.modes.reset_leftovers();
        cx.fx.terminal.extend_from_slice(&leftovers);
        self.dialect.press(WidgetKey::Stash, &mut cx.fx.pty);
    }

    pub(super) fn on_output_begins(&mut self, id: &str, cx: &mut StepContext<'_>) {
        let Some(relay) = &mut self.relay else { return };
        if !matches!(relay.step, RelayStep::Loaded { .. } | RelayStep::Hidden { .. }) || relay.request.id != id {
            return;
        }
        relay.step = RelayStep::Running;
        relay.started = cx.now;
        relay.time_up = Some(cx.now + relay.request.timeout);
        relay.probe_at = cx.now + PROBE_AFTER_OUTPUT;
        self.view = View::Guarded(GuardFilter::new(&self.modes));
        cx.fx.events.push(LiveEvent::CommandStarted { id: id.to_owned() });
        if let Some(by) = relay.interrupted {
            relay.begin_cancel(by, cx);
        }
        if !relay.in_answer {
            self.release_held(cx);
        }
    }

    /// `E`: the command's own output ends here.
    pub(super) fn on_ended(&mut self, ended: Ended, cx: &mut StepContext<'_>) {
        if self.relay.as_ref().is_some_and(|relay| relay.step == RelayStep::Running && relay.request.id == ended.id) {
            self.end_relay(ended, false, cx);
            self.look_for_editor(cx);
        }
    }

    /// Ends the command at `E`, or at `D` (`by_hook`) if the rest of the stub was discarded. The first one counts.
    pub(super) fn end_relay(&mut self, ended: Ended, by_hook: bool, cx: &mut StepContext<'_>) {
        let Some(relay) = &mut self.relay else { return };
        relay.step = RelayStep::Ending;
        relay.cancel = None;
        if relay.ended.is_some() {
            return;
        }
        let mut rest = Vec::new();
        relay.redactor.finish(&mut rest);
        relay.keep(rest, cx);
        relay.discarded = by_hook;
        if let View::Guarded(guard) = &mut self.view {
            guard.end(&mut self.modes, &mut cx.fx.terminal);
        }
        let at_new_row = by_hook && self.dialect.new_row_before_finish && relay.capture.cut_way_to_next_row();
        // The next painter would erase the rest of such a line, or write behind it.
        if !at_new_row && relay.capture.ends_in_mid_line() && (self.dialect.prompt_erases_rest || relay.in_answer) {
            cx.fx.terminal.extend_from_slice(b"\r\n");
        }
        if let View::Guarded(filter) = &mut self.view
            && let Some(report) = filter.dropped.of(&ended.cwd)
        {
            cx.fx.terminal.extend_from_slice(&report);
        }
        self.cwd.clone_from(&ended.cwd);
        relay.ended = Some((ended, cx.now - relay.started));
    }

    /// Finishes the command at the prompt after it.
    pub(super) fn finish_relay(&mut self, cx: &mut StepContext<'_>) {
        let Some(mut relay) = self.relay.take() else { return };
        let (ending, status, duration) = match &relay.ended {
            Some((ended, duration)) => (relay.ending(ended), Some(ended.status), *duration),
            // Neither `E` nor `D` came, but a prompt did: an interrupt with PROMPT_COMMAND unset.
            None => {
                let by = relay.interrupted.unwrap_or(Interrupter::User);
                (Ending::Interrupted { by }, None, cx.now - relay.started)
            }
        };
        if !relay.reported {
            let outcome = relay.outcome(ending, status, self.cwd.clone(), duration);
            relay.report(LiveEvent::CommandFinished { id: relay.request.id.clone(), outcome }, cx);
        }
        if !relay.in_answer {
            self.restore = Some(Restore::at_next_prompt(relay.stashed > 0, false));
        }
    }

    /// The command does not run; the user's line comes back.
    pub(super) fn refuse_relay(&mut self, error: RelayError, cx: &mut StepContext<'_>) {
        let Some(mut relay) = self.relay.take() else { return };
        let id = relay.request.id.clone();
        relay.report(LiveEvent::CommandRefused { id, error }, cx);
        self.remember_late_key(relay.step);
        if relay.in_answer {
            return self.answer_goes_on(cx);
        }
        self.view = View::Shown;
        self.restore = Some(Restore::at_next_prompt(relay.stashed > 0, false));
        if self.phase == Phase::Prompt {
            self.try_restore(cx);
        } else {
            self.restore = None;
            self.release_held(cx);
        }
    }

    /// Gives the command up before the shell was asked to run it. A late `S` brings the line back.
    pub(super) fn abandon_relay(&mut self, cx: &mut StepContext<'_>) {
        self.refuse_relay(not_at_prompt(Refusal::Cancelled, "the command was cancelled before it started"), cx);
    }

    pub(super) fn relay_deadline(&self) -> Option<Instant> {
        let relay = self.relay.as_ref()?;
        match relay.step {
            RelayStep::Stashing { until }
            | RelayStep::Repainting { until }
            | RelayStep::Loading { until }
            | RelayStep::Loaded { until }
            | RelayStep::Hidden { until } => Some(until),
            RelayStep::Running => relay.deadline(),
            RelayStep::Ending => None,
        }
    }

    pub(super) fn tick_relay(&mut self, cx: &mut StepContext<'_>) {
        if self.relay_deadline().is_none_or(|at| cx.now < at) {
            return;
        }
        let Some(relay) = &self.relay else { return };
        match relay.step {
            RelayStep::Stashing { .. } | RelayStep::Repainting { .. } | RelayStep::Loading { .. } => {
                self.give_up_hand_over(cx);
            }
            RelayStep::Loaded { .. } | RelayStep::Hidden { .. } => self.report_slow_start(cx),
            RelayStep::Running => self.tick_running(cx),
            RelayStep::Ending => {}
        }
    }

    fn tick_running(&mut self, cx: &mut StepContext<'_>) {
        let cwd = self.cwd.clone();
        let own_group = i32::try_from(self.setup.child_pid).ok();
        let Some(relay) = &mut self.relay else { return };
        relay.climb(own_group, cx);
        if !relay.reported && cx.now >= relay.probe_at {
            relay.look_for_password_prompt(cx);
        }
        if relay.waiting_since.is_none() && relay.time_up.is_some_and(|at| cx.now >= at) {
            let mut outcome = relay.outcome(Ending::StillRunning, None, cwd, cx.now - relay.started);
            outcome.state_after = state_after::in_front(&self.modes, cx.probe);
            relay.report(LiveEvent::CommandFinished { id: relay.request.id.clone(), outcome }, cx);
        }
    }

    /// The shell is gone: the running command took it along, the waiting commands will never run.
    pub(super) fn relay_lost_its_shell(&mut self, status: Option<i32>, now: Instant, fx: &mut Effects) {
        if let Some(relay) = self.relay.take()
            && !relay.reported
        {
            let id = relay.request.id.clone();
            let begun = relay.is_handed_over();
            let outcome = relay.outcome(Ending::ShellExited, status, self.cwd.clone(), now - relay.started);
            fx.events.push(match begun {
                true => LiveEvent::CommandFinished { id, outcome },
                false => LiveEvent::CommandRefused { id, error: RelayError::ShellGone },
            });
        }
        for queued in self.queue.drain(..) {
            fx.events.push(LiveEvent::CommandRefused { id: queued.request.id, error: RelayError::ShellGone });
        }
    }

    /// Whether an answer can continue: no command is on its way, and the prompt stands.
    pub(super) fn answer_is_idle(&self) -> bool {
        self.relay.is_none() && self.answer.as_ref().is_some_and(|answer| answer.step == AnswerStep::Ready)
    }

    /// Refuses a command that was not handed over to the shell, and leaves any other alone. Returns whether it was refused: then it
    /// never runs.
    pub fn withdraw(&mut self, id: &str, probe: &dyn super::Probe, now: Instant, fx: &mut Effects) -> bool {
        let cx = &mut StepContext { probe, now, fx };
        let on_its_way = self.relay.as_ref().filter(|relay| relay.request.id == id);
        if on_its_way.is_some_and(|relay| !relay.is_handed_over()) {
            self.abandon_relay(cx);
            return true;
        }
        self.cancel_queued(id, cx)
    }
}
