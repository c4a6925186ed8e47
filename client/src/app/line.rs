//! Routes a line at the prompt: to the assistant, to one of its commands, or to the shell.

use std::time::Instant;

use cohab_line_classifier::Decision;
use cohab_shell_relay::live::LineDecision;

use super::{App, resume, state::entered_line::Told};
use crate::effect::Effect;

impl App {
    /// The question in a line, if the line is one. A lone prefix is an empty question; a blank before it keeps the line for the shell.
    pub(super) fn question_in<'a>(&self, line: &'a str) -> Option<&'a str> {
        let prefix = &self.options.question_prefix;
        (!prefix.is_empty()).then(|| line.strip_prefix(prefix.as_str()).map(str::trim)).flatten()
    }

    pub(super) fn on_line(&mut self, told: Told, is_alone: bool, now: Instant, effects: &mut Vec<Effect>) {
        match self.question_in(&told.line).map(str::to_owned) {
            Some(question) if self.activity.turn().is_none() => {
                if self.take_slash(&question, now, effects) {
                    return;
                }
                self.entry.take(told, true);
                effects.push(Effect::DecideLine(LineDecision::Assistant));
                self.open_turn(question, now, effects);
            }
            Some(question) if self.is_aside() => self.queue_question(&question, effects),
            None if self.activity.turn().is_none() && Self::is_undo(&told.line) => self.begin_undo(effects),
            None if self.activity.turn().is_none() && Self::is_resume(&told.line) => {
                self.begin_going_on(&told.line, now, effects);
            }
            None if self.activity.turn().is_none()
                && let Some(session) = resume::wanted(&told.line) =>
            {
                self.begin_resume(&told.line, session, effects);
            }
            None if self.activity.turn().is_none() || self.is_aside() => {
                self.on_plain_line(told, is_alone, now, effects);
            }
            _ => effects.push(Effect::DecideLine(LineDecision::Shell)),
        }
    }

    pub(super) fn on_hotkey(&mut self, told: Told, now: Instant, effects: &mut Vec<Effect>) {
        let question = self.question_in(&told.line).unwrap_or(told.line.trim()).to_owned();
        if question.is_empty()
            && (self.activity.turn().is_none() || self.is_aside())
            && self.ask_about_failure(now, effects)
        {
            return;
        }
        if self.is_aside() && !question.is_empty() {
            return self.queue_question(&question, effects);
        }
        if question.is_empty() || self.activity.turn().is_some() {
            effects.push(Effect::DecideLine(LineDecision::Shell));
            return;
        }
        if self.take_slash(&question, now, effects) {
            return;
        }
        let by_prefix = self.question_in(&told.line).is_some();
        if !by_prefix {
            self.learn(&told, Decision::Assistant, effects);
        }
        self.entry.take(told, by_prefix);
        effects.push(Effect::DecideLine(LineDecision::Assistant));
        self.open_turn(question, now, effects);
    }
}
