//! Lets the assistant write in the place of the shell's prompt.

use std::time::{Duration, Instant};

use cohab_shell_state::shell::Shell;
use cohab_types::refusal::Refusal;

use super::{
    Effects, HIDE_MAX, Keyboard, LiveEvent, LiveShell, Phase, Probe, QUIET, Repaint, Restore, StepContext, View,
    WidgetKey,
    answer_state::{Answer, AnswerStep},
};

/// The wait for the repaint after the stash, which shows no mark if the prompt is discarded (`exec 2>/dev/null`).
const REPAINT_WAIT: Duration = Duration::from_millis(200);

impl LiveShell {
    /// Puts the user's line aside, until the end of the answer, and hides the shell; `AnswerReady` follows, or `AnswerRefused`.
    /// `AnswerReady` comes again after each command that ran meanwhile.
    pub fn begin_answer(&mut self, probe: &dyn Probe, now: Instant, fx: &mut Effects) {
        self.start_answer(WidgetKey::Stash, true, &mut StepContext { probe, now, fx });
    }

    /// Ends the answer: a new prompt, the line that was put aside (a question only if `restore_line`), then the keys typed meanwhile.
    /// `AnswerEnded` follows. The cursor must be at column 0. If a command still runs, this waits for its end.
    pub fn end_answer(&mut self, restore_line: bool, probe: &dyn Probe, now: Instant, fx: &mut Effects) {
        if let Some(answer) = &mut self.answer {
            answer.leave = Some(restore_line);
            self.leave_if_due(&mut StepContext { probe, now, fx });
        }
    }

    /// `stash` is the key that puts the line aside. The line comes back at the end of the answer if `keeps_line`.
    pub(super) fn start_answer(&mut self, stash: WidgetKey, keeps_line: bool, cx: &mut StepContext<'_>) {
        self.pending_answer = None;
        let at_prompt = self.setup.shell != Shell::Other
            && self.phase == Phase::Prompt
            && self.editor.ask.is_none()
            && self.relay.is_none()
            && self.answer.is_none()
            && self.restore.is_none()
            && !self.stash_is_late()
            && self.editor_reads(cx);
        if !at_prompt {
            let error = super::queue::not_at_prompt(Refusal::NotReady, "the shell is not at its prompt");
            cx.fx.events.push(LiveEvent::AnswerRefused(error));
            return self.release_held(cx);
        }
        self.show_enter_paint(cx);
        self.dialect.press(stash, &mut cx.fx.pty);
        let step = AnswerStep::Stashing { until: self.typing.key_pace.asked(cx.now, 0) };
        self.answer = Some(Answer { step, leave: None, keeps_line, has_told_of_keys: false });
    }

    pub(super) fn answer_stashed(&mut self, length: usize, cx: &mut StepContext<'_>) {
        let Some(answer) = &mut self.answer else { return };
        match answer.step {
            AnswerStep::Stashing { .. } => answer.keeps_line &= length > 0,
            AnswerStep::Clearing { .. } => {}
            _ => return,
        }
        self.await_repaint(cx);
    }

    /// A new prompt is reported; its paint must be over before the assistant draws.
    fn await_paint(&mut self, cx: &mut StepContext<'_>) {
        match self.dialect.repaint {
            Repaint::BeforeNextKey => self.await_repaint(cx),
            Repaint::Marked | Repaint::Before => self.answer_ready(cx),
        }
    }

    /// The buffer is empty; the assistant may draw as soon as that is painted.
    fn await_repaint(&mut self, cx: &mut StepContext<'_>) {
        let Some(answer) = &mut self.answer else { return };
        answer.step = AnswerStep::Repainting { until: cx.now + REPAINT_WAIT };
        match self.dialect.repaint {
            Repaint::Marked => {}
            Repaint::Before => self.answer_ready(cx),
            Repaint::BeforeNextKey => self.dialect.press(WidgetKey::Query, &mut cx.fx.pty),
        }
    }

    /// The prompt was painted again.
    pub(super) fn on_repaint(&mut self, cx: &mut StepContext<'_>) {
        self.background.painted(cx.now);
        if self.answer.as_ref().is_some_and(|answer| matches!(answer.step, AnswerStep::Repainting { .. })) {
            self.answer_ready(cx);
        }
    }

    /// A new prompt within an answer: after a command, after a line typed ahead, or at the end.
    pub(super) fn answer_at_prompt(&mut self, cx: &mut StepContext<'_>) {
        let Some(answer) = &mut self.answer else { return };
        match answer.step {
            AnswerStep::Leaving { .. } | AnswerStep::Returning => self.answer_over(cx),
            _ => {
                self.view = View::hidden();
                match self.prompt.unsettled_until() {
                    Some(until) => answer.step = AnswerStep::Settling { until },
                    None => self.await_paint(cx),
                }
            }
        }
    }

    /// The user's command ended, or the empty line of key 6 was accepted.
    pub(super) fn answer_command_finished(&mut self) {
        let Some(answer) = &mut self.answer else { return };
        if matches!(answer.step, AnswerStep::Leaving { .. }) {
            answer.step = AnswerStep::Returning;
            self.view = View::Shown;
        } else {
            self.view = View::hidden();
        }
    }

    /// Handles text in the editor although the assistant writes: text typed into a command that did not read it.
    pub(super) fn on_leftover(&mut self, text: Option<String>, cx: &mut StepContext<'_>) {
        let Some(answer) = &mut self.answer else { return };
        match answer.step {
            AnswerStep::Repainting { .. } => return self.answer_ready(cx),
            AnswerStep::Sweeping { .. } => {}
            _ => return,
        }
        if text.as_ref().is_some_and(String::is_empty) {
            if self.dialect.repaint == Repaint::Marked {
                answer.step = AnswerStep::Repainting { until: cx.now + REPAINT_WAIT };
            } else {
                self.answer_ready(cx);
            }
            return;
        }
        answer.step = AnswerStep::Clearing { until: self.typing.key_pace.asked(cx.now, 0) };
        self.dialect.press(WidgetKey::Clear, &mut cx.fx.pty);
        // A text with control characters cannot be typed again as it is.
        if let Some(text) = text.filter(|text| !text.chars().any(char::is_control)) {
            self.held.prepend(&text);
        }
    }

    /// Whether a line that the shell reports is the user's own, which runs before the answer continues. While the line goes aside, or the
    /// answer leaves, the report is stale and the result is false.
    pub(super) fn line_typed_ahead_goes_first(&mut self, cx: &StepContext<'_>) -> bool {
        let Some(answer) = &mut self.answer else { return false };
        let is_at_prompt = matches!(
            answer.step,
            AnswerStep::Repainting { .. }
                | AnswerStep::Ready
                | AnswerStep::Settling { .. }
                | AnswerStep::Sweeping { .. }
        );
        if is_at_prompt {
            answer.step = AnswerStep::Settling { until: cx.now + QUIET };
        }
        is_at_prompt
    }

    fn answer_ready(&mut self, cx: &mut StepContext<'_>) {
        let Some(answer) = &mut self.answer else { return };
        answer.step = AnswerStep::Ready;
        self.view = View::hidden();
        self.prompt.ahead = false;
        self.background.begin();
        let leftovers = self.modes.reset_leftovers();
        cx.fx.terminal.extend_from_slice(&leftovers);
        self.answer_goes_on(cx);
    }

    /// Starts the next step after each command, also after a refused one: the next command, the end, or the assistant's turn to draw.
    pub(super) fn answer_goes_on(&mut self, cx: &mut StepContext<'_>) {
        self.advance_queue(cx);
        self.leave_if_due(cx);
        if self.answer_is_idle() && self.answer.as_ref().is_some_and(|answer| answer.step == AnswerStep::Ready) {
            cx.fx.events.push(LiveEvent::AnswerReady);
            self.tell_of_held_keys(cx);
        }
    }

    fn leave_if_due(&mut self, cx: &mut StepContext<'_>) {
        if !self.answer_is_idle() {
            return;
        }
        if let Some(answer) = &mut self.answer
            && answer.leave.is_some()
        {
            answer.step = AnswerStep::Leaving { until: cx.now + HIDE_MAX };
            self.typing.keyboard = Keyboard::Shell;
            self.dialect.press(WidgetKey::Fresh, &mut cx.fx.pty);
        }
    }

    fn answer_over(&mut self, cx: &mut StepContext<'_>) {
        let Some(answer) = self.answer.take() else { return };
        self.view = View::Shown;
        self.typing.keyboard = Keyboard::Shell;
        let restores_line = answer.keeps_line || answer.leave.unwrap_or(false);
        self.restore = Some(Restore::at_next_prompt(restores_line, true));
        self.try_restore(cx);
    }

    pub(super) fn answer_deadline(&self) -> Option<Instant> {
        match self.answer.as_ref()?.step {
            AnswerStep::Stashing { until }
            | AnswerStep::Repainting { until }
            | AnswerStep::Settling { until }
            | AnswerStep::Sweeping { until }
            | AnswerStep::Clearing { until }
            | AnswerStep::Leaving { until } => Some(until),
            AnswerStep::Ready | AnswerStep::Waiting | AnswerStep::Returning => None,
        }
    }

    pub(super) fn tick_answer(&mut self, cx: &mut StepContext<'_>) {
        if self.answer_deadline().is_none_or(|at| cx.now < at) {
            return;
        }
        let editor_reads = self.editor_reads(cx);
        let Some(answer) = &mut self.answer else { return };
        match answer.step {
            AnswerStep::Stashing { .. } => {
                self.answer = None;
                self.stash_given_up(cx.now);
                cx.fx.events.push(LiveEvent::AnswerRefused(super::queue::not_put_aside()));
                self.release_held(cx);
                self.advance_queue(cx);
            }
            AnswerStep::Settling { .. } if editor_reads => {
                answer.step = AnswerStep::Sweeping { until: self.typing.key_pace.asked(cx.now, 0) };
                self.dialect.press(WidgetKey::Query, &mut cx.fx.pty);
            }
            AnswerStep::Settling { .. } => answer.step = AnswerStep::Settling { until: cx.now + QUIET },
            AnswerStep::Leaving { .. } if editor_reads => self.answer_over(cx),
            AnswerStep::Leaving { .. } => {
                // Another command runs; its end shows the prompt.
                answer.step = AnswerStep::Returning;
                self.view = View::Shown;
            }
            _ => self.answer_ready(cx),
        }
    }
}
