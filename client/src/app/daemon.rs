//! What the daemon says, and the user's answers to its questions.

use std::time::Instant;

use cohab_protocol::{
    AgentStreamChunk, ApprovalDecision, ApprovalReply, ApprovalRequest, ApprovalSubject, ClientMessage, DaemonMessage,
    ErrorSubject, Notice, NoticeKind, StepActivity, StepFinished, TurnEndReason, TurnEnded, TurnId,
};

use super::{App, turn::{Turn, Waiting}};
use crate::{
    effect::Effect,
    ui::{card::ApprovalCard, keys::Key, status},
};

impl App {
    pub(super) fn on_daemon(&mut self, message: DaemonMessage, now: Instant, effects: &mut Vec<Effect>) {
        self.is_dirty = true;
        if let Some(turn) = self.turn.as_mut() {
            turn.saw(now);
        }
        match message {
            DaemonMessage::AgentStreamChunk(chunk) => self.on_chunk(chunk),
            DaemonMessage::StepStarted(started) if self.is_current(started.turn_id) => {
                self.on_step_started(started.step, started.activity);
            }
            DaemonMessage::StepFinished(finished) if self.is_current(finished.turn_id) => {
                self.on_step_finished(&finished);
            }
            DaemonMessage::ExecuteCommand(request) => self.on_execute(request, effects),
            DaemonMessage::InterruptCommand { call_id } => self.on_interrupt(call_id, effects),
            DaemonMessage::ApprovalRequest(request) => self.on_approval_request(request, now, effects),
            DaemonMessage::TurnEnded(ended) if self.is_current(ended.turn_id) => self.on_turn_ended(&ended, effects),
            DaemonMessage::Notice(notice) => self.on_notice(notice),
            DaemonMessage::Error(error) => {
                let ends_turn = matches!(error.about, ErrorSubject::Turn(id) if self.is_current(id));
                if ends_turn || (error.about == ErrorSubject::Connection && self.turn.is_some()) {
                    self.flush_text();
                    self.print_error(&error.message, error.hint.as_deref());
                }
            }
            _ => {}
        }
    }

    fn is_current(&self, turn_id: TurnId) -> bool {
        self.turn.as_ref().is_some_and(|turn| turn.id() == turn_id && !turn.is_over())
    }

    fn on_chunk(&mut self, chunk: AgentStreamChunk) {
        if !self.is_current(chunk.turn_id) {
            return;
        }
        let Some(turn) = self.turn.as_mut() else { return };
        if turn.take_chunk(chunk.seq, chunk.delta) {
            let closed = turn.take_closed_text();
            self.append_text(closed);
        }
    }

    fn on_step_started(&mut self, step: u32, activity: StepActivity) {
        let Some(turn) = self.turn.as_mut() else { return };
        match activity {
            StepActivity::ModelCall { model } => turn.waiting = Waiting::Model(model),
            StepActivity::ToolCall { tool, argument } => {
                turn.step_started(step, tool, argument);
                self.flush_text();
            }
        }
    }

    fn on_step_finished(&mut self, finished: &StepFinished) {
        if let Some((tool, argument)) = self.turn.as_mut().and_then(|turn| turn.step_finished(finished.step)) {
            let line = status::step_finished(&tool, &argument, finished, self.columns, self.options.style);
            self.above.push(line);
        }
    }

    fn on_notice(&mut self, notice: Notice) {
        let Some(turn) = self.turn.as_mut().filter(|turn| notice.turn_id.is_none_or(|id| id == turn.id())) else {
            return;
        };
        if let NoticeKind::Retry { .. } = notice.kind {
            turn.waiting = Waiting::Retry(notice.text);
        } else {
            self.flush_text();
            self.above.extend(status::notice(&notice, self.options.style));
        }
    }

    fn on_turn_ended(&mut self, ended: &TurnEnded, effects: &mut Vec<Effect>) {
        self.flush_text();
        match ended.reason {
            TurnEndReason::Cancelled => self.print_cancelled(),
            TurnEndReason::StepLimit => self.print_remark("stopped: the limit of steps is reached"),
            TurnEndReason::Length => self.print_remark("the answer was cut by the model's length limit; ask it to continue"),
            TurnEndReason::Refused => self.print_remark("the model declined to answer"),
            TurnEndReason::Answered | TurnEndReason::Failed => {}
        }
        self.end_turn(effects);
    }

    fn on_approval_request(&mut self, request: ApprovalRequest, now: Instant, effects: &mut Vec<Effect>) {
        if !self.is_current(request.turn_id) {
            let decision = ApprovalDecision::Refused { note: "the turn is over".into() };
            effects.push(reply(&request, decision));
            return;
        }
        self.flush_text();
        let card = ApprovalCard::new(request, now);
        if let Some(turn) = self.turn.as_mut() {
            turn.card = Some(card);
        }
        effects.push(Effect::TakeKeyboard(true));
    }

    /// Keys for the open card.
    pub(super) fn on_card_keys(&mut self, keys: &[Key], now: Instant, effects: &mut Vec<Effect>) {
        self.is_dirty = true;
        for key in keys {
            let Some(card) = self.turn.as_mut().and_then(|turn| turn.card.as_mut()) else { return };
            let Some(decision) = card.on_key(key, now) else { continue };
            let request = card.request().clone();
            self.turn.as_mut().map(Turn::close_card);
            effects.push(Effect::TakeKeyboard(false));
            self.remember(&request, &decision);
            let ends_turn = decision == ApprovalDecision::CancelTurn;
            effects.push(reply(&request, decision));
            if ends_turn {
                self.cancel_turn(now, effects);
            }
        }
    }

    fn remember(&mut self, request: &ApprovalRequest, decision: &ApprovalDecision) {
        let ApprovalSubject::Command { command, .. } = &request.subject else { return };
        match decision {
            ApprovalDecision::Once => self.consents.allow_once(request.approval_id, command.clone()),
            ApprovalDecision::Session => {
                self.consents.allow_once(request.approval_id, command.clone());
                if !request.is_dangerous {
                    self.consents.allow_for_session(command.clone());
                }
            }
            ApprovalDecision::Edited { command } => self.consents.allow_once(request.approval_id, command.clone()),
            ApprovalDecision::Refused { .. } | ApprovalDecision::CancelTurn => {}
        }
    }
}

fn reply(request: &ApprovalRequest, decision: ApprovalDecision) -> Effect {
    Effect::Send(ClientMessage::ApprovalReply(ApprovalReply { approval_id: request.approval_id, decision }))
}
