//! A session that is being joined.

use cohab_protocol::{Attached, TurnUnfinished};

/// How far the joining is.
#[derive(Debug, PartialEq)]
pub(crate) enum ResumeStage {
    /// The terminal is not ours, or the session not joined.
    Joining,
    /// The user decides about this command.
    Offering(String),
    /// The command of this id runs.
    Running(String),
    /// It has run.
    Done,
}

/// A session is being joined.
#[derive(Debug)]
pub(crate) struct Resuming {
    pub stage: ResumeStage,
    pub joined: Option<Result<Attached, (String, String)>>,
    /// Its last turn was interrupted.
    pub unfinished: Option<TurnUnfinished>,
}

impl Resuming {
    pub(crate) fn at(stage: ResumeStage, joined: Option<Result<Attached, (String, String)>>) -> Self {
        Self { stage, joined, unfinished: None }
    }

    /// Holds the notice until the session is announced and its offer answered; returns whether it was held.
    pub(crate) fn hold(&mut self, unfinished: &TurnUnfinished) -> bool {
        let is_held = match self.stage {
            ResumeStage::Joining => self.joined.is_some(),
            ResumeStage::Offering(_) | ResumeStage::Running(_) => true,
            ResumeStage::Done => false,
        };
        if is_held {
            self.unfinished = Some(unfinished.clone());
        }
        is_held
    }
}
