//! Routes a line at the prompt: to the assistant, to one of its commands, or to the shell.

use std::time::Instant;

use cohab_line_classifier::Decision;
use cohab_shell_relay::live::LineDecision;

use super::{
    App, resume,
    state::{
        asked::{Asked, AskedKind},
        entered_line::Told,
    },
};
use crate::effect::Effect;

impl App {
    /// The question in a line, if the line is one. A lone prefix is an empty question; a blank before it keeps the line for the shell.
    pub(super) fn question_in<'a>(&self, line: &'a str) -> Option<&'a str> {
        let prefix = &self.options.question_prefix;
        (!prefix.is_empty()).then(|| line.strip_prefix(prefix.as_str()).map(str::trim)).flatten()
    }

    /// The same, with its kind.
    fn asked_in(&self, line: &str) -> Option<Asked> {
        let prefix = &self.options.question_prefix;
        (!prefix.is_empty()).then(|| line.strip_prefix(prefix.as_str()).map(Asked::behind_prefix)).flatten()
    }

    pub(super) fn on_line(&mut self, told: Told, is_alone: bool, now: Instant, effects: &mut Vec<Effect>) {
        match self.asked_in(&told.line) {
            Some(asked) if self.activity.turn().is_none() => self.take_question(asked, told, true, now, effects),
            Some(asked) if self.is_in_background() => self.take_question_in_background(asked, effects),
            None if self.activity.turn().is_none() && Self::is_undo(&told.line) => self.begin_undo(effects),
            None if self.activity.turn().is_none() && Self::is_resume(&told.line) => {
                self.begin_going_on(&told.line, now, effects);
            }
            None if self.activity.turn().is_none()
                && let Some(session) = resume::wanted(&told.line) =>
            {
                self.begin_resume(&told.line, session, effects);
            }
            None if self.activity.turn().is_none() || self.is_in_background() => {
                self.on_plain_line(told, is_alone, now, effects);
            }
            _ => effects.push(Effect::DecideLine(LineDecision::Shell)),
        }
    }

    /// A question while no other is answered, and so nothing to add to.
    fn take_question(
        &mut self,
        mut asked: Asked,
        told: Told,
        by_prefix: bool,
        now: Instant,
        effects: &mut Vec<Effect>,
    ) {
        let decision = if asked.is_private() { LineDecision::Unrecorded } else { LineDecision::Assistant };
        if !asked.is_private() {
            asked.kind = AskedKind::Plain;
            if self.take_slash(&asked.text, now, effects) {
                return;
            }
        }
        if !by_prefix {
            self.learn(&told, Decision::Assistant, effects);
        }
        self.entered_line.take(told, by_prefix);
        effects.push(Effect::DecideLine(decision));
        self.open_turn(asked, now, effects);
    }

    /// A question while another one is answered behind the prompt.
    fn take_question_in_background(&mut self, asked: Asked, effects: &mut Vec<Effect>) {
        match asked.kind {
            AskedKind::Addition => self.add_to_turn(&asked.text, effects),
            AskedKind::Plain | AskedKind::Private => self.queue_question(asked, effects),
        }
    }

    pub(super) fn on_hotkey(&mut self, told: Told, now: Instant, effects: &mut Vec<Effect>) {
        let by_prefix = self.asked_in(&told.line);
        let is_by_prefix = by_prefix.is_some();
        let asked = by_prefix.unwrap_or_else(|| Asked::plain(told.line.trim()));
        if asked.text.is_empty()
            && (self.activity.turn().is_none() || self.is_in_background())
            && self.ask_about_failure(now, effects)
        {
            return;
        }
        if self.is_in_background() && !asked.text.is_empty() {
            return self.take_question_in_background(asked, effects);
        }
        if asked.text.is_empty() || self.activity.turn().is_some() {
            effects.push(Effect::DecideLine(LineDecision::Shell));
            return;
        }
        self.take_question(asked, told, is_by_prefix, now, effects);
    }
}
