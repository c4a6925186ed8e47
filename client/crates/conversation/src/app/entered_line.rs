//! Handles lines without a prefix: they are judged before Enter takes effect, Escape brings them back, and the user's correction is kept.

use std::time::Instant;

use cohab_line_classifier::Decision;
use cohab_shell_relay::live::LineDecision;

use super::{
    App,
    state::{
        asked::Asked,
        entered_line::{Judging, Told},
    },
};
use crate::{
    effect::Effect,
    line_question::{self, LineQuestion, QuestionId},
};

impl App {
    /// The line that stands at the prompt again, since Escape has put it back; until another line is entered.
    #[must_use]
    pub fn line_put_back(&self) -> Option<&str> {
        self.entered_line.put_back.as_ref().map(|(told, _)| told.line.as_str())
    }

    /// Whether the prefix alone decides about this line: no key flips it.
    #[must_use]
    pub fn is_fixed(&self, line: &str) -> bool {
        !self.options.gate || self.question_in(line).is_some() || line_question::is_fixed(line)
    }

    /// What can be said at once of a line that is being typed; else the classifier is to be asked.
    #[must_use]
    pub fn look_at_typed(&self, line: &str) -> Option<Decision> {
        let is_put_back = matches!(&self.entered_line.put_back, Some((told, false)) if told.line == line);
        (self.is_fixed(line) || is_put_back || Self::is_undo(line)).then_some(Decision::Shell)
    }

    /// The user has decided about the line that is entered next.
    pub fn decide_ahead(&mut self, decision: Option<Decision>) {
        self.entered_line.flipped = decision;
    }

    /// A line without a prefix, while no answer is on.
    pub(super) fn on_plain_line(&mut self, told: Told, is_alone: bool, now: Instant, effects: &mut Vec<Effect>) {
        let put_back = self.entered_line.put_back.take();
        let is_put_back = put_back.is_some_and(|(was, by_prefix)| !by_prefix && was.line == told.line);
        if let Some(decision) = self.entered_line.flipped.take() {
            self.learn(&told, decision, effects);
            self.decide(told, decision, now, effects);
        } else if is_put_back {
            self.learn(&told, Decision::Shell, effects);
            self.decide(told, Decision::Shell, now, effects);
        } else if !is_alone || self.is_fixed(&told.line) || line_question::is_one_command(&told.line, told.is_command) {
            self.decide(told, Decision::Shell, now, effects);
        } else {
            let question = self.question(&told);
            self.entered_line.judging = Some(Judging { id: self.entered_line.asked, told, since: now });
            effects.push(Effect::Judge(question));
        }
    }

    /// The classifier has judged; a judgement that is not awaited any more is ignored.
    pub(super) fn on_judged(&mut self, id: u64, decision: Decision, now: Instant, effects: &mut Vec<Effect>) {
        if let Some(judging) = self.entered_line.judging.take_if(|judging| judging.id == id) {
            self.decide(judging.told, decision, now, effects);
        }
    }

    /// In doubt, and without an answer, a line is the shell's.
    pub(super) fn give_up_judging(&mut self, now: Instant, effects: &mut Vec<Effect>) {
        if self.entered_line.deadline().is_some_and(|until| now >= until)
            && let Some(judging) = self.entered_line.judging.take()
        {
            self.decide(judging.told, Decision::Shell, now, effects);
        }
    }

    fn decide(&mut self, told: Told, decision: Decision, now: Instant, effects: &mut Vec<Effect>) {
        match decision {
            Decision::Shell => effects.push(Effect::DecideLine(LineDecision::Shell)),
            Decision::Assistant if self.is_in_background() => {
                self.queue_question(Asked::plain(told.line.trim()), effects);
            }
            Decision::Assistant => {
                let asked = Asked::plain(told.line.trim());
                self.entered_line.take(told, false);
                effects.push(Effect::DecideLine(LineDecision::Assistant));
                self.open_turn(asked, now, effects);
            }
        }
    }

    /// The user has decided about this line, and is not asked again. One word alone is not kept: `who` once asked about must still run.
    pub(super) fn learn(&mut self, told: &Told, decision: Decision, effects: &mut Vec<Effect>) {
        let has_words = told.line.split_whitespace().nth(1).is_some();
        if self.options.gate && has_words && !told.line.contains('\n') {
            let question = self.question(told);
            effects.push(Effect::Learn(question, decision));
        }
    }

    fn question(&mut self, told: &Told) -> LineQuestion {
        self.entered_line.asked += 1;
        let id = QuestionId::Enter(self.entered_line.asked);
        LineQuestion { id, line: told.line.clone(), cwd: self.shell.cwd.clone(), is_command: told.is_command }
    }
}
