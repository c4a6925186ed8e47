//! Asks the client's own questions: about commands that would run unasked, but not in the shell's current state. The daemon does not
//! know these questions; for it the command waits for the user.

use std::time::Instant;

use cohab_policy::Caveat;
use cohab_protocol::{ApprovalDecision, ApprovalId, ApprovalRequest, ApprovalSubject, ExecuteCommand, RunMode};
use cohab_types::refusal::Refusal;

use super::{
    App, Surface,
    state::agent_command::{AgentCommand, CommandState, question_of, waits},
};
use crate::{consent::RunAuthority, effect::Effect};

/// Confirmed meanings of names that are kept; beyond, they are asked about each time.
const CONFIRMED_MAX: usize = 64;

impl App {
    /// Asks whether `request` may run although there are these `reasons` and caveats; a yes settles the caveats and makes it go on with
    /// `then`.
    pub(super) fn ask_ourselves(
        &mut self,
        request: ExecuteCommand,
        reasons: Vec<String>,
        caveats: Vec<Caveat>,
        then: RunAuthority,
        now: Instant,
        effects: &mut Vec<Effect>,
    ) {
        let shown = reasons.into_iter().chain(Caveat::question(&caveats)).collect();
        self.ask_to_run(request, shown, caveats, then, now, effects);
    }

    /// Asks whether `request` may run; a yes makes it go on with `then`.
    pub(super) fn ask_to_run(
        &mut self,
        request: ExecuteCommand,
        reasons: Vec<String>,
        confirms: Vec<Caveat>,
        then: RunAuthority,
        now: Instant,
        effects: &mut Vec<Effect>,
    ) {
        let (command, cwd) = (self.typed_text(&request), self.shell.cwd.clone());
        let Some(turn) = self.activity.turn_mut() else { return };
        let (call_id, turn_id) = (request.call_id, request.turn_id);
        let question = ApprovalRequest {
            approval_id: question_of(call_id),
            turn_id,
            subject: ApprovalSubject::Command { command, cwd: cwd.as_path().into(), mode: RunMode::Live },
            is_dangerous: false,
            reasons,
            is_each_time: true,
        };
        effects.push(waits(call_id));
        let state = CommandState::AwaitingLocalApproval { confirms, then };
        turn.command = Some(AgentCommand { request, cwd, state });
        self.open_question(question, true, now, effects);
    }

    /// What the user said to such a question; `false` if it is not one of ours.
    pub(super) fn take_own_decision(
        &mut self,
        id: ApprovalId,
        decision: &ApprovalDecision,
        now: Instant,
        effects: &mut Vec<Effect>,
    ) -> bool {
        let Some(turn) = self.activity.turn_mut() else { return false };
        let asked = turn.command.take_if(|command| command.question() == Some(id));
        let Some(AgentCommand { request, cwd, state: CommandState::AwaitingLocalApproval { confirms, then } }) = asked
        else {
            return false;
        };
        match decision {
            ApprovalDecision::Once if cwd == self.shell.cwd => {
                self.shell.drift.confirm();
                let room = CONFIRMED_MAX.saturating_sub(self.shell.confirmed.len());
                self.shell.confirmed.extend(confirms.into_iter().filter(Caveat::can_be_settled).take(room));
                if self.surface == Surface::Ours {
                    self.start(request, then, now, effects);
                } else if let Some(turn) = self.activity.turn_mut() {
                    turn.command = Some(AgentCommand::waiting(request, then, cwd, now));
                }
            }
            ApprovalDecision::Refused { note } => {
                let reason = match note.as_str() {
                    "" => "the user did not want it to run; it was not run".to_owned(),
                    note => format!("the user did not want it to run: {note}"),
                };
                self.answer_unrun(request.call_id, Refusal::NotApproved, &reason, effects);
            }
            _ => {
                let reason = "the user did not agree to this command in this folder; it was not run";
                let mut answer = Vec::new();
                self.answer_unrun(request.call_id, Refusal::NotApproved, reason, &mut answer);
                if *decision == ApprovalDecision::CancelTurn {
                    // Said before the answer, which would start the next step.
                    self.cancel_turn(now, effects);
                }
                effects.append(&mut answer);
            }
        }
        true
    }
}
