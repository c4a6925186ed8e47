//! Asks the person at the client's keyboard.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use cohab_protocol::{ApprovalId, ApprovalRequest, RunMode, TurnId};
use tokio::time::sleep;

use super::{
    convert,
    session::{RECONNECT_GRACE, Session},
};
use crate::agent::port::{ApprovalAnswer, ApprovalQuestion, ApprovalSubject, Approver, Effect};

/// A question without an answer is void after this time.
const ANSWER_WAIT: Duration = Duration::from_secs(600);

/// Asks for one turn.
pub struct SessionApprover {
    session: Arc<Session>,
    turn_id: TurnId,
}

impl SessionApprover {
    /// Asks the client of `session`.
    #[must_use]
    pub fn new(session: Arc<Session>, turn_id: TurnId) -> Self {
        Self { session, turn_id }
    }

    /// Notes consent to a command where the runner finds it: the client wants it back with the exact text.
    fn note(&self, asked: Option<String>, answer: &ApprovalAnswer, id: ApprovalId) {
        match (asked, answer) {
            (Some(command), ApprovalAnswer::Approved { for_session, .. }) => {
                self.session.grant(command, id, *for_session);
            }
            (Some(_), ApprovalAnswer::Edited { command, .. }) => self.session.grant(command.clone(), id, false),
            _ => {}
        }
    }
}

#[async_trait]
impl Approver for SessionApprover {
    async fn ask(&self, question: ApprovalQuestion) -> ApprovalAnswer {
        if !self.session.can_approve() {
            return refused("nobody is there who could approve it");
        }
        let command = match &question.subject {
            ApprovalSubject::Effect { effect: Effect::RunCommand { command }, .. } => Some(command.clone()),
            _ => None,
        };
        let mode = if self.session.live_shell().is_some() { RunMode::Live } else { RunMode::Isolated };
        let mut open = self.session.open_approval(ApprovalRequest {
            approval_id: ApprovalId::fresh(),
            turn_id: self.turn_id,
            subject: convert::approval_subject(question.subject, &self.session.cwd(), mode),
            is_dangerous: question.is_dangerous,
            reasons: question.reasons,
        });
        let decision = tokio::select! {
            decision = &mut open.decision => decision.ok(),
            () = self.session.abandoned(RECONNECT_GRACE) => return refused("the user is gone"),
            () = sleep(ANSWER_WAIT) => return refused("the user did not answer within 10 minutes"),
        };
        let Some(decision) = decision else { return refused("the question was withdrawn") };
        let answer = convert::approval_answer(decision, open.id);
        self.note(command, &answer, open.id);
        answer
    }
}

fn refused(reason: &str) -> ApprovalAnswer {
    ApprovalAnswer::Refused { reason: reason.into() }
}
