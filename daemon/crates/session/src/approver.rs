//! Asks the user at the client's keyboard for approval.

use std::{path::Path, sync::Arc, time::Duration};

use async_trait::async_trait;
use cohab_agent::port::{ApprovalAnswer, ApprovalQuestion, ApprovalSubject, Approver, Effect, Lasts};
use cohab_model_api::NO_APPROVER;
use cohab_protocol::{
    self as wire, ApprovalDecision, ApprovalId, ApprovalRequest, ProposedChange, ProposedCommand, RunMode, TurnId,
};
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
        let ids: Vec<ApprovalId> = questions.iter().map(|_| ApprovalId::fresh()).collect();
        let Some(subject) = together(&questions, &ids, &self.session.cwd(), self.mode()) else {
            return all_refused("only commands, or only changes of files, are asked about together");
        };
        let request = ApprovalRequest {
            approval_id: ApprovalId::fresh(),
            turn_id: self.turn_id,
            subject,
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
        let answered = |((question, id), decision): ((&ApprovalQuestion, &ApprovalId), ApprovalDecision)| {
            let answer = convert::approval_answer(decision, *id);
            self.note(command_of(&question.subject), &answer, *id);
            answer
        };
        questions.iter().zip(&ids).zip(decisions).map(answered).collect()
    }
}

/// The subject of a question about all of these; `None` if they are neither all commands nor all changes of files.
fn together(
    questions: &[ApprovalQuestion],
    ids: &[ApprovalId],
    cwd: &Path,
    mode: RunMode,
) -> Option<wire::ApprovalSubject> {
    let command = |(question, id): (&ApprovalQuestion, &ApprovalId)| {
        let (command, reasons) = (command_of(&question.subject)?.as_ref().into(), question.reasons.clone());
        Some(ProposedCommand { approval_id: *id, command, cwd: cwd.into(), mode, reasons })
    };
    let change = |(question, id): (&ApprovalQuestion, &ApprovalId)| {
        let ApprovalSubject::Effect { tool, effect: Effect::Write { path, diff } } = &question.subject else {
            return None;
        };
        let (tool, path, diff) = (tool.clone(), path.as_path().into(), diff.as_ref().into());
        Some(ProposedChange { approval_id: *id, tool, path, diff, reasons: question.reasons.clone() })
    };
    let commands: Option<Vec<_>> = questions.iter().zip(ids).map(command).collect();
    let changes = || questions.iter().zip(ids).map(change).collect::<Option<Vec<_>>>();
    commands.map(wire::ApprovalSubject::Commands).or_else(|| changes().map(wire::ApprovalSubject::FileChanges))
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
