//! A line at the prompt: whose is it?

use std::time::Instant;

use cohab_shell_relay::live::LineDecision;

use super::App;
use crate::effect::Effect;

impl App {
    /// The question in a line, if the line is one. A lone prefix is an empty question; a blank before it keeps the line for the shell.
    pub(super) fn question_in<'a>(&self, line: &'a str) -> Option<&'a str> {
        let prefix = &self.options.question_prefix;
        (!prefix.is_empty()).then(|| line.strip_prefix(prefix.as_str()).map(str::trim)).flatten()
    }

    pub(super) fn on_line(&mut self, line: &str, now: Instant, effects: &mut Vec<Effect>) {
        match self.question_in(line) {
            Some(question) if self.turn.is_none() => {
                effects.push(Effect::DecideLine(LineDecision::Assistant));
                self.open_turn(question.to_owned(), now, effects);
            }
            Some(question) if self.is_aside() => self.queue_question(question, effects),
            None if self.turn.is_none() && Self::is_undo(line) => self.begin_undo(effects),
            _ => effects.push(Effect::DecideLine(LineDecision::Shell)),
        }
    }

    pub(super) fn on_hotkey(&mut self, line: &str, now: Instant, effects: &mut Vec<Effect>) {
        let question = self.question_in(line).unwrap_or(line.trim());
        if self.is_aside() && !question.is_empty() {
            return self.queue_question(question, effects);
        }
        if question.is_empty() || self.turn.is_some() {
            effects.push(Effect::DecideLine(LineDecision::Shell));
            return;
        }
        effects.push(Effect::DecideLine(LineDecision::Assistant));
        self.open_turn(question.to_owned(), now, effects);
    }
}
