//! Follows the shell from prompt to prompt.

use std::time::Duration;

use cohab_shell_state::shell::Shell;
use cohab_text::capture::redacted_tail;
use cohab_types::refusal::Refusal;

use super::{
    AnswerStep, EDITOR_WAIT, LiveEvent, LiveShell, RelayStep, Repaint, StepContext, UserCommand, View, WidgetKey,
    prompt_state::{Phase, PromptFacts},
};
use crate::marks::{Ended, Mark};

/// Longest interval of the search for a line editor that gives no prompt mark.
const EDITOR_WAIT_MAX: Duration = Duration::from_secs(60);

impl LiveShell {
    /// Shows the line above the first prompt. fish reports a prompt before it draws it, the other shells the end of what they ran before.
    pub(super) fn greet_at(&mut self, mark: &Mark, cx: &mut StepContext<'_>) {
        let is_before_prompt = match mark {
            Mark::Finished(_) => true,
            Mark::PromptReady => self.setup.shell == Shell::Fish,
            _ => false,
        };
        if is_before_prompt
            && self.phase == Phase::Boot
            && let Some(greeting) = self.greeting.take()
        {
            cx.fx.terminal.extend(greeting.into_bytes());
        }
    }

    pub(super) fn on_prompt_ready(&mut self, cx: &mut StepContext<'_>) {
        if let Some(relay) = &self.relay {
            match relay.step {
                RelayStep::Loaded { .. } => return self.open_hide_window(cx),
                RelayStep::Hidden { .. } if !self.dialect.mark_in_prompt => return self.on_new_prompt_before_start(cx),
                RelayStep::Stashing { .. }
                | RelayStep::Repainting { .. }
                | RelayStep::Loading { .. }
                | RelayStep::Hidden { .. } => return,
                RelayStep::Running => return self.doubt_prompt(cx),
                RelayStep::Ending => return self.new_prompt(cx),
            }
        }
        match self.phase {
            Phase::Prompt if self.dialect.mark_in_prompt => self.on_repaint(cx),
            Phase::Running => self.doubt_prompt(cx),
            Phase::Dead => {}
            _ => self.new_prompt(cx),
        }
    }

    /// A command can print the prompt with its mark (`echo "${PS1@P}"`). If the mark is the line editor's although no end of the command
    /// was reported (PROMPT_COMMAND is unset), the editor continues to read.
    fn doubt_prompt(&mut self, cx: &StepContext<'_>) {
        self.doubtful_prompt_at = Some(cx.now + EDITOR_WAIT);
    }

    pub(super) fn tick_doubtful_prompt(&mut self, cx: &mut StepContext<'_>) {
        if self.doubtful_prompt_at.is_none_or(|at| cx.now < at) {
            return;
        }
        self.doubtful_prompt_at = None;
        let running = match &self.relay {
            Some(relay) => relay.step == RelayStep::Running,
            None => self.phase == Phase::Running,
        };
        if running && self.editor_reads(cx) {
            self.new_prompt(cx);
        }
    }

    pub(super) fn new_prompt(&mut self, cx: &mut StepContext<'_>) {
        self.doubtful_prompt_at = None;
        self.leave_prompt(cx);
        let ahead = self.prompt.keys_since_left
            || self.typing.late.stash.is_some()
            || self.relay.as_ref().is_some_and(|relay| relay.typed);
        self.phase = Phase::Prompt;
        let is_painted = self.dialect.repaint != Repaint::BeforeNextKey;
        let programs = is_painted.then(|| cx.probe.programs_at_terminal());
        self.prompt = PromptFacts { ahead, typed: ahead, programs, ..PromptFacts::new(cx.now) };
        self.user.line = None;
        self.user.started = None;
        self.user.row_above.clear();
        if self.relay.is_some() {
            self.finish_relay(cx);
        }
        if self.answer.is_some() {
            self.answer_at_prompt(cx);
            return;
        }
        self.view = View::Shown;
        if ahead {
            self.expect_enter_paint(cx);
        }
        if let Some(restore) = &mut self.restore {
            restore.prompt_told = false;
            self.try_restore(cx);
        } else {
            cx.fx.events.push(LiveEvent::PromptReady);
            if self.forget_asking(cx) {
                self.release_held(cx);
            }
        }
        self.advance_queue(cx);
    }

    /// Each prompt reads one of several lines typed ahead: the rest may still be there at the next.
    fn leave_prompt(&mut self, cx: &StepContext<'_>) {
        let unsettled = self.prompt.unsettled_until().is_some_and(|until| cx.now < until);
        self.prompt.keys_since_left |= self.phase == Phase::Prompt && unsettled;
        self.typing.late.stash = self.typing.late.stash.filter(|_| unsettled || self.stash_is_late());
    }

    /// Brings the user's line and keys back, unless keys typed ahead must settle first.
    pub(super) fn try_restore(&mut self, cx: &mut StepContext<'_>) {
        if self.phase != Phase::Prompt || self.prompt.unsettled_until().is_some_and(|until| cx.now < until) {
            return;
        }
        let Some(restore) = self.restore.take() else { return };
        if restore.line {
            self.dialect.press(WidgetKey::Restore, &mut cx.fx.pty);
            self.prompt.typed = true;
        }
        if restore.ends_answer {
            cx.fx.events.push(LiveEvent::AnswerEnded);
        }
        if !restore.prompt_told {
            cx.fx.events.push(LiveEvent::PromptReady);
        }
        self.release_held(cx);
        self.advance_queue(cx);
    }

    pub(super) fn on_continuation(&mut self, cx: &mut StepContext<'_>) {
        if self.phase != Phase::Prompt || self.relay.is_some() {
            return;
        }
        self.leave_prompt(cx);
        self.phase = Phase::Continuation;
        self.prompt.entered_at = None;
        self.prompt.searched = false;
        if let Some(line) = &mut self.user.line {
            line.push_str("\n...");
        }
        self.users_line_goes_on(cx);
    }

    /// The user's line has the terminal: it runs or its rest is still to come.
    fn users_line_goes_on(&mut self, cx: &mut StepContext<'_>) {
        if let Some(answer) = &mut self.answer {
            // Typed ahead while a command of the agent's ran.
            answer.step = AnswerStep::Waiting;
            self.view = View::Shown;
        }
        // Keys that waited to come back at the prompt were typed before those that now go to the command.
        if self.forget_asking(cx) || self.restore.is_some() {
            self.release_held(cx);
        }
    }

    pub(super) fn on_started(&mut self, line: Option<String>, cx: &mut StepContext<'_>) {
        if self.relay.as_ref().is_some_and(|relay| !relay.is_stashing()) {
            return;
        }
        if !matches!(self.phase, Phase::Prompt | Phase::Continuation) {
            return;
        }
        self.leave_prompt(cx);
        self.phase = Phase::Running;
        self.prompt.entered_at = None;
        self.prompt.searched = false;
        self.user.started = Some(cx.now);
        self.user.line = self.user.line.take().or(line);
        self.user.capture.clear();
        cx.fx.terminal.append(&mut self.user.row_above);
        cx.fx.events.push(LiveEvent::UserCommandStarted);
        if self.relay.is_some() {
            self.refuse_relay(
                super::queue::busy(Refusal::ShellBusy, "a command that was typed ahead started".into()),
                cx,
            );
        }
        self.users_line_goes_on(cx);
    }

    pub(super) fn on_finished(&mut self, ended: Ended, cx: &mut StepContext<'_>) {
        if let Some(relay) = &self.relay {
            if relay.is_handed_over() && relay.request.id == ended.id {
                if !relay.has_begun() {
                    self.report_stub_lost(cx);
                }
                self.end_relay(ended, true, cx);
                self.view = if self.answer.is_some() { View::hidden() } else { View::Shown };
                self.look_for_editor(cx);
            }
            return;
        }
        if !ended.id.is_empty() || matches!(self.phase, Phase::Dead) {
            return;
        }
        self.cwd.clone_from(&ended.cwd);
        self.leave_prompt(cx);
        self.prompt.entered_at = None;
        self.prompt.searched = false;
        if let (Phase::Running, Some(started)) = (self.phase, self.user.started.take()) {
            if self.dialect.new_row_before_finish {
                self.user.capture.cut_way_to_next_row();
            }
            cx.fx.events.push(LiveEvent::UserCommandFinished(UserCommand {
                line: self.user.line.take(),
                status: ended.status,
                cwd: ended.cwd,
                duration: cx.now - started,
                output_tail: redacted_tail(&self.user.capture.render_tail(), &self.setup.nonce),
                output_bytes: self.user.capture.total_bytes(),
            }));
        }
        if matches!(self.phase, Phase::Boot | Phase::NotIntegrated | Phase::Replaced) {
            return;
        }
        self.look_for_editor(cx);
        if self.answer.is_some() {
            self.answer_command_finished();
        }
        if self.forget_asking(cx) {
            self.release_held(cx);
        }
    }

    /// From now on the prompt is awaited, with or without its mark.
    pub(super) fn look_for_editor(&mut self, cx: &StepContext<'_>) {
        self.doubtful_prompt_at = None;
        self.phase = Phase::Precmd { look_at: Some(cx.now + EDITOR_WAIT), interval: EDITOR_WAIT };
    }

    pub(super) fn tick_precmd(&mut self, cx: &mut StepContext<'_>) {
        let Phase::Precmd { look_at: Some(at), interval } = self.phase else { return };
        if cx.now < at {
            return;
        }
        if self.editor_reads(cx) {
            self.new_prompt(cx);
        } else {
            let interval = interval * 2;
            let look_at = (interval <= EDITOR_WAIT_MAX).then_some(cx.now + interval);
            self.phase = Phase::Precmd { look_at, interval };
        }
    }

    pub(super) fn tick_boot(&mut self, cx: &mut StepContext<'_>) {
        if self.phase == Phase::Boot && cx.now >= self.last_output + super::INTEGRATION_WAIT {
            self.phase = Phase::NotIntegrated;
            let reason = "this shell gives no sign of the assistant's script, so it runs without it; `cohab shell-check` looks why".to_owned();
            cx.fx.events.push(LiveEvent::NotIntegrated { reason });
        }
    }
}
