//! Hands a command over to the shell, so that it runs at most once and its reported outcome is true.
//!
//! The load key makes the shell read the command and name its id (`L`); this alone runs nothing, however late the key is read. Only
//! then, and only while the command has not been given up, the run key is sent, once. So the client alone decides: before the run key
//! "never runs" is certain, after it the command may run, and its end is awaited. A shell drops the command that it holds at each new
//! prompt and never runs the id that it ran last. Keys carry no id, so after a load or run key was given up no further command is
//! written before the shell has answered a fence key behind it.

use std::time::Instant;

use cohab_types::{command::RelayError, refusal::Refusal};

use super::{
    Effects, LateHandOver, LiveEvent, LiveShell, Probe, RelayStep, StepContext, View, WidgetKey, echo::echo_of,
    queue::not_at_prompt, relayed_command::Relay,
};

/// Stands in place of an id: all keys before the fence key were read.
const FENCE: &str = "=";
/// A command up to this length is typed into the shell if no file can be written for it.
const TYPED_MAX_BYTES: usize = 64 * 1024 + 64;

impl LiveShell {
    /// Makes the shell read the command of the relay.
    pub(super) fn press_load(&mut self, cx: &mut StepContext<'_>) {
        let Some(relay) = &mut self.relay else { return };
        relay.step = RelayStep::Loading { until: self.typing.key_pace.asked(cx.now, relay.request.text.len()) };
        match &relay.typed_command {
            None => self.dialect.press(WidgetKey::Load, &mut cx.fx.pty),
            Some(command) => {
                // The line editor shows the typed text.
                self.view = View::hidden();
                self.dialect.type_command(command, &mut cx.fx.pty);
            }
        }
    }

    /// Whether a key was sent whose answer has a time limit, and no program writes in between.
    #[must_use]
    pub fn awaits_an_answer(&self) -> bool {
        self.relay.as_ref().is_some_and(|relay| !relay.has_begun()) || self.ask_deadline().is_some()
    }

    /// Checks whether a load or run key may still be read. If so, asks the shell to answer a key behind it; returns the time to look
    /// again.
    pub(super) fn fence(&mut self, cx: &mut StepContext<'_>) -> Option<Instant> {
        match self.typing.late.hand_over? {
            LateHandOver::Fenced { again_at } if cx.now < again_at => Some(again_at),
            _ => {
                let again_at = cx.now + self.typing.key_pace.wait(0);
                self.typing.late.hand_over = Some(LateHandOver::Fenced { again_at });
                self.typing.late.fences += 1;
                self.dialect.press(WidgetKey::Fence, &mut cx.fx.pty);
                Some(again_at)
            }
        }
    }

    /// `L`: the shell holds the command with this id, or has answered the fence key.
    pub(super) fn on_loaded(&mut self, id: &str, cx: &mut StepContext<'_>) {
        if id == FENCE {
            self.typing.late.fences = self.typing.late.fences.saturating_sub(1);
            if self.typing.late.fences == 0 {
                self.typing.late.hand_over.take_if(|late| matches!(late, LateHandOver::Fenced { .. }));
                self.advance_queue(cx);
            }
            return;
        }
        let is_awaited = self
            .relay
            .as_ref()
            .is_some_and(|relay| matches!(relay.step, RelayStep::Loading { .. }) && relay.request.id == id);
        let Some(relay) = self.relay.as_mut().filter(|_| is_awaited) else { return };
        self.typing.key_pace.answered(cx.now, relay.request.text.len());
        relay.step = RelayStep::Loaded { until: cx.now + relay.start_wait(&self.typing.key_pace) };
        self.dialect.press(WidgetKey::Run, &mut cx.fx.pty);
        if !self.dialect.mark_in_prompt {
            self.open_hide_window(cx);
        }
    }

    /// The prompt has been painted for the last time before the stub: the command's text takes the stub's place.
    pub(super) fn open_hide_window(&mut self, cx: &mut StepContext<'_>) {
        let Some(relay) = &mut self.relay else { return };
        relay.step = RelayStep::Hidden { until: cx.now + relay.start_wait(&self.typing.key_pace) };
        if !relay.in_answer {
            self.view = View::hidden();
            cx.fx.terminal.extend_from_slice(echo_of(&relay.request.text).as_bytes());
        }
    }

    /// A new prompt stands after the run key was sent. The shell has dropped the command that it held, unless the prompt is older than
    /// the load key.
    pub(super) fn on_new_prompt_before_start(&mut self, cx: &mut StepContext<'_>) {
        self.report_unknown_start("a new prompt came before the command started", cx);
        self.new_prompt(cx);
    }

    /// The shell has finished the command by its id without having begun it.
    pub(super) fn report_stub_lost(&mut self, cx: &mut StepContext<'_>) {
        if let Some(relay) = &mut self.relay {
            let id = relay.request.id.clone();
            let error = not_at_prompt(Refusal::NotReady, "the line editor did not run the command");
            relay.report(LiveEvent::CommandRefused { id, error }, cx);
        }
    }

    /// The file of the command on its way could not be written, and no key was sent for it. A short command is typed instead; any
    /// other is refused with the reason. `fx` still holds the file.
    pub fn command_not_written(&mut self, error: &std::io::Error, probe: &dyn Probe, now: Instant, fx: &mut Effects) {
        let file = fx.command_file.take();
        let cx = &mut StepContext { probe, now, fx };
        let Some(relay) = self.relay.as_mut().filter(|relay| !relay.is_handed_over()) else { return };
        // A filled-in secret is not typed: hooks of the shell would get it instead of the text for them.
        let typed = file.filter(|file| file.shown.is_none() && file.content.len() <= TYPED_MAX_BYTES);
        match (typed, relay.step) {
            (Some(file), RelayStep::Stashing { .. }) => {
                relay.typed_command = Some(file.content);
                relay.step = RelayStep::Stashing { until: self.typing.key_pace.asked(now, 0) };
                self.dialect.press(WidgetKey::Stash, &mut cx.fx.pty);
            }
            (Some(file), _) => {
                relay.typed_command = Some(file.content);
                self.press_load(cx);
            }
            (None, _) => {
                let reason = format!("the command could not be handed to the shell in a file: {error}");
                self.refuse_relay(not_at_prompt(Refusal::NotWritten, &reason), cx);
            }
        }
    }

    /// The stash or load key was not answered in time. The run key was not sent and never will be.
    pub(super) fn give_up_hand_over(&mut self, cx: &mut StepContext<'_>) {
        let error = match self.relay.as_ref().is_some_and(Relay::is_stashing) {
            true => super::queue::not_put_aside(),
            false => not_at_prompt(Refusal::NotReady, "the line editor did not take the command, so it will not run"),
        };
        self.refuse_relay(error, cx);
    }

    /// Remembers the key whose answer is still to come.
    pub(super) fn remember_late_key(&mut self, step: RelayStep) {
        match step {
            RelayStep::Stashing { until } => self.stash_given_up(until),
            RelayStep::Loading { .. } => self.typing.late.hand_over = Some(LateHandOver::Unread),
            _ => {}
        }
    }

    fn report_unknown_start(&mut self, what: &str, cx: &mut StepContext<'_>) {
        let Some(relay) = &mut self.relay else { return };
        self.typing.late.hand_over = Some(LateHandOver::Unread);
        let reason = format!("{what}; it may still run, so look before it is repeated");
        let id = relay.request.id.clone();
        relay.report(LiveEvent::CommandRefused { id, error: RelayError::TimedOut { reason } }, cx);
    }

    /// The run key was sent and the command did not start in time: if it runs after all, its end is awaited, but the result has been
    /// reported.
    pub(super) fn report_slow_start(&mut self, cx: &mut StepContext<'_>) {
        let Some(relay) = &mut self.relay else { return };
        let wait = relay.start_wait(&self.typing.key_pace).as_secs();
        relay.step = RelayStep::Running;
        self.report_unknown_start(&format!("the command was handed over and did not start within {wait} s"), cx);
        let Some(relay) = &self.relay else { return };
        let in_answer = relay.in_answer;
        self.view = View::Shown;
        if !in_answer {
            self.release_held(cx);
        }
    }
}
