//! Asks the user at the client's keyboard for approval.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use cohab_agent::port::{ApprovalAnswer, ApprovalQuestion, ApprovalSubject, Approver, Effect, Lasts};
use cohab_model_api::NO_APPROVER;
use cohab_protocol::{self as wire, ApprovalDecision, ApprovalId, ApprovalRequest, ProposedCommand, RunMode, TurnId};
use futures::future::try_join_all;
use tokio::time::sleep;

use super::{
    convert,
    session::{RECONNECT_GRACE, Session},
};

/// A question without an answer is void after this time.
const ANSWER_WAIT: Duration = Duration::from_secs(600);

/// Asks the user for one turn.
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

    fn mode(&self) -> RunMode {
        if self.session.live_shell().is_some() { RunMode::Live } else { RunMode::Isolated }
    }

    /// Waits for a decision, or returns the reason why there will be none.
    async fn unless_gone<T>(&self, decided: impl Future<Output = Option<T>>) -> Result<T, &'static str> {
        tokio::select! {
            decision = decided => decision.ok_or("the question was withdrawn"),
            () = self.session.abandoned(RECONNECT_GRACE) => Err("the client has disconnected"),
            () = sleep(ANSWER_WAIT) => Err("the user did not answer within 10 minutes"),
        }
    }

    /// Records consent to a command for the runner: the client wants it back with the exact text.
    fn note(&self, asked: Option<Arc<str>>, answer: &ApprovalAnswer, id: ApprovalId) {
        match (asked, answer) {
            (Some(command), ApprovalAnswer::Approved { lasts, .. }) => {
                self.session.grant(command, id, *lasts != Lasts::Once);
            }
            (Some(_), ApprovalAnswer::Edited { command, .. }) => self.session.grant(command.as_str().into(), id, false),
            _ => {}
        }
    }
}

#[async_trait]
impl Approver for SessionApprover {
    async fn ask(&self, question: ApprovalQuestion) -> ApprovalAnswer {
        if !self.session.can_approve() {
            return refused(NO_APPROVER);
        }
        let command = command_of(&question.subject);
        let mut open = self.session.open_approval(ApprovalRequest {
            approval_id: ApprovalId::fresh(),
            turn_id: self.turn_id,
            subject: convert::approval_subject(question.subject, &self.session.cwd(), self.mode()),
            is_dangerous: question.is_dangerous,
            reasons: question.reasons,
            is_each_time: question.is_each_time,
        });
        let decision = match self.unless_gone(async { (&mut open.decision).await.ok() }).await {
            Ok(decision) => decision,
            Err(reason) => return refused(reason),
        };
        let answer = convert::approval_answer(decision, open.id);
        self.note(command, &answer, open.id);
        answer
    }

    async fn ask_all(&self, questions: Vec<ApprovalQuestion>) -> Vec<ApprovalAnswer> {
        let all_refused = |reason| vec![refused(reason); questions.len()];
        if !self.session.can_approve() {
            return all_refused(NO_APPROVER);
        }
        let (cwd, mode) = (self.session.cwd(), self.mode());
        let commands: Option<Vec<Arc<str>>> = questions.iter().map(|question| command_of(&question.subject)).collect();
        let Some(commands) = commands else { return all_refused("only commands are asked about together") };
        let ids: Vec<ApprovalId> = commands.iter().map(|_| ApprovalId::fresh()).collect();
        let proposed = |((question, command), id): ((&ApprovalQuestion, &Arc<str>), &ApprovalId)| {
            let (command, reasons) = (command.as_ref().into(), question.reasons.clone());
            ProposedCommand { approval_id: *id, command, cwd: cwd.as_path().into(), mode, reasons }
        };
        let proposed = questions.iter().zip(&commands).zip(&ids).map(proposed).collect();
        let request = ApprovalRequest {
            approval_id: ApprovalId::fresh(),
            turn_id: self.turn_id,
            subject: wire::ApprovalSubject::Commands(proposed),
            is_dangerous: false,
            reasons: Vec::new(),
            is_each_time: false,
        };
        let (mut whole, mut each) = self.session.open_batch(request, &ids);
        let decided = async {
            tokio::select! {
                whole = &mut whole.decision => whole.ok().map(|decision| vec![decision; ids.len()]),
                each = try_join_all(each.iter_mut().map(|open| &mut open.decision)) => each.ok(),
            }
        };
        let decisions = match self.unless_gone(decided).await {
            Ok(decisions) => decisions,
            Err(reason) => return all_refused(reason),
        };
        let answered = |((command, id), decision): ((Arc<str>, &ApprovalId), ApprovalDecision)| {
            let answer = convert::approval_answer(decision, *id);
            self.note(Some(command), &answer, *id);
            answer
        };
        commands.into_iter().zip(&ids).zip(decisions).map(answered).collect()
    }
}

fn command_of(subject: &ApprovalSubject) -> Option<Arc<str>> {
    match subject {
        ApprovalSubject::Effect { effect: Effect::RunCommand { command }, .. } => Some(Arc::clone(command)),
        _ => None,
    }
}

fn refused(reason: &str) -> ApprovalAnswer {
    ApprovalAnswer::Refused { reason: reason.into() }
}
