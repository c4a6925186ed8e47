//! Follows the line at the prompt: gives keys, output and verdicts to the hint and to the classifier's thread.

use std::time::Instant;

use cohab_line_classifier::Decision;
use cohab_shell_relay::live::{LiveEvent, ShellState, UntouchedPrompt};

use super::Driver;
use crate::{
    event::Event,
    hint::Wanted,
    prompt_line::{Question, QuestionId, classifier_thread::LineVerdict, first_word},
};

impl Driver {
    /// Keys before they go to the shell. True: they were for us.
    pub(super) fn take_entry_keys(&mut self, bytes: &[u8]) -> bool {
        let at_prompt = self.live.state() == ShellState::Prompt;
        if at_prompt && self.entry.flip_key.is(bytes) && self.entry.hint.takes_flip(|line| self.app.is_fixed(line)) {
            let wanted = self.entry.hint.flip(&mut self.entry.out);
            self.ask_for_hint(wanted);
            self.write_hint();
            return true;
        }
        let is_followed = self.entry.hint.keys(bytes, at_prompt, Instant::now(), &mut self.entry.out);
        self.entry.keys_ahead |= !is_followed && !matches!(bytes, b"\x1b" | b"\x03");
        self.write_hint();
        false
    }

    /// What the shell wrote, with the hint out of its way.
    pub(super) fn write_shell_output(&mut self) {
        self.entry.hint.before_output(&mut self.entry.out);
        self.write_hint();
        self.terminal.pass(&self.fx.terminal);
        match self.live.state() {
            ShellState::Boot
            | ShellState::Precmd
            | ShellState::Prompt
            | ShellState::Continuation
            | ShellState::Answering => self.entry.hint.after_output(&self.fx.terminal, Instant::now()),
            _ => self.entry.hint.left(self.fx.terminal.ends_with(b"\n")),
        }
        self.fx.terminal.clear();
    }

    /// An event of the shell's, before the application gets it.
    pub(super) fn note_for_entry(&mut self, event: &LiveEvent) {
        match event {
            LiveEvent::PromptReady => self.entry_prompt_ready(),
            LiveEvent::AnswerEnded => self.entry.answer_ended = true,
            // An answer may begin without a key: the hint next to the prompt must not stand in it.
            LiveEvent::AnswerReady => {
                self.entry.hint.keys(&[], false, Instant::now(), &mut self.entry.out);
                self.write_hint();
            }
            LiveEvent::LineEntered { text, is_command, .. } => {
                self.entry.remember_word(text, *is_command);
                let flipped = self.entry.hint.take_flipped(text);
                self.app.decide_ahead(flipped);
            }
            LiveEvent::HotkeyPressed { text, is_command, .. } => self.entry.remember_word(text, *is_command),
            _ => {}
        }
    }

    fn entry_prompt_ready(&mut self) {
        let ahead = std::mem::take(&mut self.entry.keys_ahead);
        let put_back = std::mem::take(&mut self.entry.answer_ended).then(|| self.app.line_put_back()).flatten();
        let line = match put_back {
            Some(line) => Some(line).filter(|_| !ahead),
            None => (self.live.untouched_prompt() == UntouchedPrompt::Stands).then_some(""),
        };
        self.entry.hint.prompt_ready(line, Instant::now());
    }

    /// The terminal has another size.
    pub(super) fn resize_hint(&mut self, columns: u16) {
        self.entry.hint.resized(columns, &mut self.entry.out);
        self.write_hint();
    }

    /// Time has passed.
    pub(super) fn tick_hint(&mut self, now: Instant) {
        let wanted = self.entry.hint.tick(now, &mut self.entry.out);
        self.ask_for_hint(wanted);
        self.write_hint();
    }

    /// The gate has judged.
    pub(super) fn on_verdict(&mut self, LineVerdict { id, decision }: LineVerdict) {
        match id {
            QuestionId::Enter(id) => self.handle(Event::Judged { id, decision }),
            QuestionId::Hint(id) => {
                self.entry.hint.decided(id, decision, &mut self.entry.out);
                self.write_hint();
            }
        }
    }

    /// Draws what is left and gives the prompt back, with the line or without.
    pub(super) fn end_answer(&mut self, with_line: bool, now: Instant) {
        self.draw_last();
        self.live.end_answer(with_line, self.shell.probe(), now, &mut self.fx);
    }

    /// Enter is held for this.
    pub(super) fn ask_gate(&mut self, question: Question) {
        if let (QuestionId::Enter(id), false) = (question.id, self.entry.judge.ask(question)) {
            self.handle(Event::Judged { id, decision: Decision::Shell });
        }
    }

    fn ask_for_hint(&mut self, wanted: Option<Wanted>) {
        let Some(Wanted { id, line }) = wanted else { return };
        if let Some(decision) = self.app.look_at_typed(&line) {
            return self.entry.hint.decided(id, decision, &mut self.entry.out);
        }
        let is_command = self.entry.told.get(first_word(&line)).copied();
        let cwd = self.live.cwd().to_owned();
        self.entry.judge.ask(Question { id: QuestionId::Hint(id), line, cwd, is_command });
    }

    fn write_hint(&mut self) {
        if !self.entry.out.is_empty() {
            self.terminal.write(&self.entry.out);
            self.entry.out.clear();
        }
    }
}
