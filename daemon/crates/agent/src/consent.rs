//! Questions for consent and their answers.

use super::port::Effect;

/// A question for consent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovalQuestion {
    /// What would be done.
    pub subject: ApprovalSubject,
    /// Known to do harm.
    pub is_dangerous: bool,
    /// Why it is asked.
    pub reasons: Vec<String>,
    /// A yes counts for this one time, whatever the user says.
    pub is_each_time: bool,
}

impl ApprovalQuestion {
    /// A plain one, without a reason.
    #[must_use]
    pub fn about(subject: ApprovalSubject) -> Self {
        Self { subject, is_dangerous: false, reasons: Vec::new(), is_each_time: false }
    }
}

/// What a question is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApprovalSubject {
    /// What a tool would do.
    Effect {
        /// Name of the tool.
        tool: String,
        /// What it touches.
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
    /// Go on with the turn, although there is a reason to stop.
    GoOn {
        /// What would be done next, or what was noticed: one sentence.
        what: String,
    },
}

/// How long a consent holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lasts {
    /// This one time.
    Once,
    /// The same again without a question, as long as the session lives.
    Session,
    /// For good: the client has stored a rule.
    Rule,
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApprovalAnswer {
    /// Yes, with the record of the consent where the client made one.
    Approved {
        /// Goes back to the client with the command.
        approval: Option<String>,
        /// For how long.
        lasts: Lasts,
    },
    /// Yes, but with this command instead.
    Edited {
        /// The new command.
        command: String,
        /// Goes back to the client with the command.
        approval: Option<String>,
    },
    /// No; the model is told and may go on.
    Refused {
        /// Why, for the model: the policy's reason or the user's word.
        reason: String,
    },
    /// No, and the turn ends.
    CancelTurn,
}
