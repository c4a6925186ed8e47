//! Defines the questions for consent and their answers. Asking is the task of an [`Approver`](crate::port::Approver).

use super::port::Effect;

/// A question for consent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovalQuestion {
    /// The action in question.
    pub subject: ApprovalSubject,
    /// Whether the action is known to do harm.
    pub is_dangerous: bool,
    /// Reasons for the question.
    pub reasons: Vec<String>,
    /// Whether a yes counts for this one time only, even if the user asks for more.
    pub is_each_time: bool,
}

impl ApprovalQuestion {
    /// Makes a question that is not dangerous and has no reasons.
    #[must_use]
    pub fn about(subject: ApprovalSubject) -> Self {
        Self { subject, is_dangerous: false, reasons: Vec::new(), is_each_time: false }
    }
}

/// The subject of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApprovalSubject {
    /// The effect of a tool call.
    Effect {
        /// Name of the tool.
        tool: String,
        /// The effect.
        effect: Effect,
    },
    /// Send questions to a model server found on this machine.
    LocalServer {
        /// Base URL.
        url: String,
        /// Kind of server.
        server: String,
        /// Model.
        model: String,
    },
    /// Continue the turn, although there is a reason to stop.
    GoOn {
        /// The next action or the observation, one sentence.
        what: String,
    },
    /// Tell a program that is not part of cohab something. `Edited` has what the user typed instead of the value.
    Input {
        /// Who asks, in one line.
        by: String,
        /// What the program says.
        message: String,
        /// What is asked for, in one line.
        label: String,
        /// The value that stands there; absent if a yes or a no is the answer.
        value: Option<String>,
    },
}

/// The duration of a consent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lasts {
    /// This one time.
    Once,
    /// The same effect runs without a question, as long as the session lives.
    Session,
    /// Permanently: the client has stored a rule.
    Rule,
}

/// The answer to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApprovalAnswer {
    /// Yes, with the client's record of the consent, if it made one.
    Approved {
        /// The record of the consent; goes back to the client with the command.
        approval: Option<String>,
        /// The duration of the consent.
        lasts: Lasts,
    },
    /// Yes, but with a different command.
    Edited {
        /// The new command.
        command: String,
        /// The record of the consent; goes back to the client with the command.
        approval: Option<String>,
    },
    /// No; the model gets the reason and may continue.
    Refused {
        /// The reason for the model: the policy's reason or the user's text.
        reason: String,
    },
    /// No, and the turn ends.
    CancelTurn,
}
