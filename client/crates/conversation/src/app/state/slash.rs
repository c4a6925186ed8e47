//! A command to the assistant itself that is on.

use std::time::Instant;

use cohab_protocol::{RequestId, SessionAction};

use crate::{effect::Effect, session_override::ModelWish, slash::SlashCommand};

/// A command that is on.
#[derive(Debug)]
pub(crate) struct Slash {
    pub stage: SlashStage,
}

impl Slash {
    /// When its request is given up.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        match &self.stage {
            SlashStage::Held(_, deadline) | SlashStage::Sent(_, _, deadline) => Some(*deadline),
            SlashStage::Program(_) | SlashStage::Picking(..) | SlashStage::Done => None,
        }
    }

    /// The shell could not make room, or its prompt is back.
    pub(crate) fn end(self, effects: &mut Vec<Effect>) {
        if let SlashStage::Program(_) = self.stage {
            effects.push(Effect::StopProgram);
        }
    }
}

/// How far a command to the assistant is.
#[derive(Debug)]
pub(crate) enum SlashStage {
    /// It waits until the daemon can take its request.
    Held(Wish, Instant),
    /// It waits for the answer.
    Sent(RequestId, Wish, Instant),
    /// Another of our own programs runs; how the user would call it.
    Program(String),
    /// The user picks from a list that runs in the shell.
    Picking(List, Picking),
    /// All is said.
    Done,
}

impl SlashStage {
    /// What it waits for from the daemon.
    pub(crate) fn wish(&self) -> Option<&Wish> {
        match self {
            Self::Held(wish, _) | Self::Sent(_, wish, _) => Some(wish),
            Self::Program(_) | Self::Picking(..) | Self::Done => None,
        }
    }
}

/// What the user picks from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum List {
    /// The models of the service.
    Models,
    /// The conversations on record.
    Conversations,
    /// The questions of this conversation.
    Questions,
    /// Nothing: the shell goes to a folder, and then the rest of a rewind follows.
    Rest {
        /// Questions that the conversation loses.
        questions: usize,
        /// The turn before which the shell is to be again.
        shell: Option<String>,
    },
    /// Nothing: the output of the step of this number is shown, counted from the last.
    Output(usize),
}

/// How far a list is from which the user picks.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Picking {
    /// The terminal is not ours yet.
    Waiting,
    /// The command of this id shows it.
    Running(String),
    /// The command has ended; what was picked.
    Ended(Option<String>),
}

/// What is wanted of the daemon.
#[derive(Clone, Debug)]
pub(crate) enum Wish {
    /// To know who answers. The settings may have changed since the connection was made.
    Introduction,
    /// Somebody else answers.
    Model(ModelWish),
    /// The conversation loses so many questions.
    Rewind(usize),
    /// To know whether a question calls a skill or a command by its name: the question, and the command that it may have meant.
    Call(String, Option<&'static SlashCommand>),
    /// To know the skills and commands, for the help.
    Names,
    /// Anything else.
    Action(SessionAction),
}
