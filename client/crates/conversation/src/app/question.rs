//! Questions for consent, and the user's answers.

use std::{sync::Arc, time::Instant};

use cohab_protocol::{
    ApprovalDecision, ApprovalReply, ApprovalRequest, ApprovalSubject, ClientMessage, Notice, NoticeKind, RunMode,
};
use cohab_term::keys::Input;
use cohab_text::sanitize::sanitize;

use super::{App, Surface, state::turn::Turn};
use crate::{
    approval::{KeyOutcome, OpenQuestion},
    background_task::TaskResult,
    consent::Agreed,
    effect::Effect,
    ui::status,
};

impl App {
    pub(super) fn on_approval_request(
        &mut self,
        mut request: ApprovalRequest,
        now: Instant,
        effects: &mut Vec<Effect>,
    ) {
        if !self.is_current(request.turn_id) {
            let decision = ApprovalDecision::Refused { note: "the turn is over".into() };
            effects.push(reply(&request, decision));
            return;
        }
        let open = self.activity.turn().and_then(|turn| turn.question.as_ref());
        if open.is_some_and(|open| open.is_about(request.approval_id)) {
            return;
        }
        if let ApprovalSubject::Command { command, .. } = &request.subject
            && let Err(error) = self.redactor.can_fill(command, self.options.environment.shell)
        {
            let decision = ApprovalDecision::Refused { note: error.to_string() };
            effects.push(reply(&request, decision));
            return;
        }
        if matches!(request.subject, ApprovalSubject::Command { mode: RunMode::Live, .. }) {
            request.reasons.extend(self.shell.drift.reason());
        }
        self.open_question(request, false, now, effects);
    }

    /// Opens a question, the daemon's or, with only yes and no, our own.
    pub(super) fn open_question(
        &mut self,
        request: ApprovalRequest,
        is_ours: bool,
        now: Instant,
        effects: &mut Vec<Effect>,
    ) {
        self.flush_text();
        let (mut question, task) = OpenQuestion::new(request, Arc::clone(&self.options.environment), now);
        if is_ours {
            question.offer_only_yes_and_no();
        }
        // The user of a shared shell types on, and cannot know when a program asks.
        if self.background.keys_wait || self.activity.turn().is_some_and(Turn::is_shared) {
            question.wait_for_attention();
        }
        if let Some(turn) = self.activity.turn_mut() {
            turn.question = Some(question);
        }
        self.print_large_card();
        if !self.is_in_background() {
            effects.push(Effect::TakeKeyboard(true));
        }
        effects.extend(task.map(Effect::Begin));
        if self.surface == Surface::Ours {
            self.call_for_answer(effects);
        }
    }

    /// A card that does not fit into the live area is printed, and scrolls away with the rest.
    fn print_large_card(&mut self) {
        let (width, rows, output_style) = (self.width(), usize::from(self.screen.rows), self.options.output_style);
        let Some(question) = self.activity.turn().and_then(|turn| turn.question.as_ref()) else { return };
        if question.fitting_card(width, rows, output_style).is_none() {
            let card = question.card(width, output_style);
            self.screen.above.extend(card);
        }
    }

    /// What the user typed while a question is open.
    pub(super) fn on_inputs(&mut self, inputs: &[Input], now: Instant, effects: &mut Vec<Effect>) {
        if self.surface != Surface::Ours {
            // The question is not on the screen yet.
            return;
        }
        self.screen.is_dirty = true;
        for input in inputs {
            let Some(question) = self.activity.turn_mut().and_then(|turn| turn.question.as_mut()) else { return };
            let outcome = question.on_input(input, now);
            if matches!(&outcome.decided, Some((_, ApprovalDecision::CancelTurn))) {
                self.entered_line.bring_back_by(input);
            }
            self.take_outcome(outcome, now, effects);
        }
    }

    /// What was begun for a question is done.
    pub(super) fn on_done(&mut self, done: TaskResult, now: Instant, effects: &mut Vec<Effect>) {
        if let TaskResult::GitTold { call, caveat } = done {
            return self.on_git_told(call, caveat, now, effects);
        }
        let Some(question) = self.activity.turn_mut().and_then(|turn| turn.question.as_mut()) else { return };
        let outcome = question.on_done(done, now);
        self.screen.is_dirty = true;
        self.take_outcome(outcome, now, effects);
    }

    pub(super) fn on_question_time(&mut self, now: Instant, effects: &mut Vec<Effect>) {
        let Some(question) = self.activity.turn_mut().and_then(|turn| turn.question.as_mut()) else { return };
        if question.deadline().is_some_and(|due| now >= due) {
            let outcome = question.on_time(now);
            self.screen.is_dirty = true;
            self.take_outcome(outcome, now, effects);
        }
    }

    fn take_outcome(&mut self, outcome: KeyOutcome, now: Instant, effects: &mut Vec<Effect>) {
        let KeyOutcome { decided, remark, task, insert, has_new_card, is_closed } = outcome;
        effects.extend(insert.map(|command| Effect::Insert(sanitize(&command))));
        if is_closed {
            if let Some(turn) = self.activity.turn_mut() {
                turn.close_question();
                // What was allowed comes at once: keys that have waited since before the question do not move the turn behind the prompt.
                turn.progress.drawn(now);
            }
            effects.push(Effect::TakeKeyboard(false));
        }
        if let Some((text, is_failure)) = remark {
            let (width, output_style) = (self.width(), self.options.output_style);
            let warning = |text| Notice { turn_id: None, kind: NoticeKind::Warning, text };
            self.screen.above.extend(match is_failure {
                true => status::notice(&warning(text), width, output_style),
                false => status::remark(&text, width),
            });
        }
        if has_new_card {
            self.print_large_card();
        }
        effects.extend(task.map(Effect::Begin));
        if let Some((request, mut decision)) = decided {
            self.redactor.decision(&mut decision);
            let ends_turn = decision == ApprovalDecision::CancelTurn;
            if !self.take_own_decision(request.approval_id, &decision, now, effects) {
                self.remember(&request, &decision, now);
                effects.push(reply(&request, decision));
            }
            if ends_turn {
                self.cancel_turn(now, effects);
            }
        }
    }

    fn remember(&mut self, request: &ApprovalRequest, decision: &ApprovalDecision, now: Instant) {
        match &request.subject {
            ApprovalSubject::Command { command, cwd, .. } => {
                let agreed = |command: &str| Agreed { command: command.to_owned(), cwd: cwd.to_path_buf() };
                match decision {
                    ApprovalDecision::Once => self.consents.allow_once(request.approval_id, agreed(command), now),
                    ApprovalDecision::Session | ApprovalDecision::Folder | ApprovalDecision::Always => {
                        self.consents.allow_once(request.approval_id, agreed(command), now);
                        if !request.is_dangerous {
                            self.consents.allow_for_session(agreed(command));
                        }
                    }
                    ApprovalDecision::Edited { command } => {
                        self.consents.allow_once(request.approval_id, agreed(command), now);
                    }
                    ApprovalDecision::Refused { .. } | ApprovalDecision::CancelTurn => {}
                }
            }
            ApprovalSubject::Commands(commands) if *decision == ApprovalDecision::Once => {
                for one in commands {
                    let agreed = Agreed { command: one.command.clone(), cwd: one.cwd.to_path_buf() };
                    self.consents.allow_once(one.approval_id, agreed, now);
                }
            }
            _ => {}
        }
    }
}

fn reply(request: &ApprovalRequest, decision: ApprovalDecision) -> Effect {
    Effect::Send(ClientMessage::ApprovalReply(ApprovalReply { approval_id: request.approval_id, decision }))
}
