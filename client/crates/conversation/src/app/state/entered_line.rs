//! The line at the prompt, and the one that an answer has taken away.

use std::time::Instant;

use cohab_line_classifier::Decision;
use cohab_term::keys::{Input, KeyCode, KeyPress};

use crate::{effect::Effect, line_question::ENTER_LIMIT};

/// A line that was entered, and what the shell said of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Told {
    pub line: String,
    pub is_command: Option<bool>,
}

/// What is known of the line at the prompt and of the one that an answer has taken away.
#[derive(Debug, Default)]
pub(crate) struct EnteredLine {
    pub asked: u64,
    /// Enter is held for the classifier.
    pub judging: Option<Judging>,
    /// The user's own decision about the line that is about to be entered.
    pub flipped: Option<Decision>,
    /// What the current answer has taken, and whether by a prefix.
    taken: Option<(Told, bool)>,
    /// Escape was pressed: it comes back at the end.
    comes_back: bool,
    /// It has come back.
    pub put_back: Option<(Told, bool)>,
}

/// A line that the classifier judges.
#[derive(Debug)]
pub(crate) struct Judging {
    pub id: u64,
    pub told: Told,
    pub since: Instant,
}

impl EnteredLine {
    /// When a decision is not waited for any longer.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.judging.as_ref().map(|judging| judging.since + ENTER_LIMIT)
    }

    /// The line is taken by an answer.
    pub(crate) fn take(&mut self, told: Told, by_prefix: bool) {
        self.taken = Some((told, by_prefix));
        self.comes_back = false;
        self.put_back = None;
    }

    /// The answer is to end with the line as it was.
    pub(crate) fn bring_back(&mut self) {
        self.comes_back = self.taken.is_some();
    }

    /// The same, if this key at a card says so. A question that was meant as one is just stopped there.
    pub(crate) fn bring_back_by(&mut self, input: &Input) {
        let was_meant = matches!(self.taken, Some((_, true)));
        if !was_meant && matches!(input, Input::Key(press) if *press == KeyPress::plain(KeyCode::Escape)) {
            self.bring_back();
        }
    }

    /// How the answer ends.
    pub(crate) fn end(&self) -> Effect {
        if self.comes_back { Effect::EndAnswerWithLine } else { Effect::EndAnswer }
    }

    /// It has ended.
    pub(crate) fn ended(&mut self) {
        let taken = self.taken.take();
        self.put_back = taken.filter(|_| std::mem::take(&mut self.comes_back));
    }

    /// The answer could not begin: the line stands where it was.
    pub(crate) fn refused(&mut self) {
        self.taken = None;
        self.comes_back = false;
    }

    /// A prompt stands that was not there when the line was asked about.
    pub(crate) fn forget_judging(&mut self) {
        self.judging = None;
    }
}
