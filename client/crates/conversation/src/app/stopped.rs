//! Asks about a command that the lock has stopped, right after it failed. A yes runs it once more, without the lock.

use std::{path::Path, time::Instant};

use cohab_policy::{self};
use cohab_protocol::{ApprovalMode, CallId, CommandExecutionResult, ExecuteCommand};
use cohab_types::{
    command::{CommandOutcome, Ending},
    refusal::Refusal,
};

use super::{
    App,
    state::{agent_command::Running, stopped::Stopped},
    wire_results::refuse,
};
use crate::{consent::RunAuthority, effect::Effect};

/// What a yes does, shown on the card.
const ONCE_MORE: &str = "a yes runs it once more, with your rights";
/// Note for the model: the user is not asked about this command.
const NOT_ASKED: &str = "the user was not asked, since a command before it may have changed the shell. Run what failed by itself: then \
                         they are asked to let it run without the lock";
/// Note for the model: this mode asks nothing.
const READ_ONLY: &str = "in this mode nothing runs without the lock";

impl App {
    /// What has probably stopped a command that ran locked in `cwd`.
    pub(super) fn why_stopped(&self, running: &Running, cwd: &Path, outcome: &CommandOutcome) -> Option<String> {
        let status = outcome.status.filter(|_| running.is_locked && outcome.ending == Ending::Exited)?;
        (self.options.why_stopped)(status, &outcome.output, self.options.environment.context(cwd))
    }

    /// Asks whether a stopped command may run once more. It is not asked where the second run could differ from the first: the shell has
    /// left `cwd`, or the line may have changed the shell.
    pub(super) fn on_stopped(
        &mut self,
        request: ExecuteCommand,
        stopped: Stopped,
        cwd: &Path,
        now: Instant,
        effects: &mut Vec<Effect>,
    ) {
        let is_read_only = self.options.approval == ApprovalMode::ReadOnly;
        let is_same_shell = cwd == self.shell.cwd
            && self.shell.drift.reason().is_none()
            && cohab_policy::keeps_shell(&request.command, self.options.environment.shell);
        match self.activity.turn_mut().filter(|turn| is_same_shell && !is_read_only && !turn.is_over()) {
            Some(turn) => {
                let why = format!("it ran unasked and failed: {}", stopped.why);
                let reasons = vec![why, ONCE_MORE.to_owned()];
                turn.stopped = Some(stopped);
                self.ask_to_run(request, reasons, Vec::new(), RunAuthority::Confirmed, now, effects);
            }
            None => {
                let result = stopped.told(if is_read_only { READ_ONLY } else { NOT_ASKED });
                effects.push(self.reported(result));
            }
        }
    }

    /// The id that the shell runs a command under. It takes each id only once, so a second run gets a new one.
    pub(super) fn relay_id(&self, call_id: CallId) -> String {
        let stopped = self.activity.turn().and_then(|turn| turn.stopped.as_ref());
        match stopped.filter(|stopped| stopped.result.call_id == call_id) {
            Some(_) => (self.options.fresh_turn_id)().to_string(),
            None => call_id.to_string(),
        }
    }

    /// Tells in the result of a second run how the first one failed.
    pub(super) fn tell_of_first_run(&mut self, result: &mut CommandExecutionResult) {
        result.first_run = self.take_stopped(result.call_id).map(|stopped| stopped.why);
    }

    fn take_stopped(&mut self, call_id: CallId) -> Option<Stopped> {
        self.activity.turn_mut()?.stopped.take_if(|stopped| stopped.result.call_id == call_id)
    }

    /// The result of the first run of a command that does not run once more, for this `reason`.
    pub(super) fn first_result(&mut self, call_id: CallId, reason: &str) -> Option<CommandExecutionResult> {
        Some(self.take_stopped(call_id)?.told(&format!("it did not run once more: {reason}")))
    }

    /// Sends a refusal for a command that does not run, or the first result of one that does not run once more.
    pub(super) fn answer_unrun(&mut self, call_id: CallId, refusal: Refusal, reason: &str, effects: &mut Vec<Effect>) {
        effects.push(match self.first_result(call_id, reason) {
            Some(result) => self.reported(result),
            None => refuse(call_id, refusal, reason.to_owned(), &self.shell.cwd),
        });
    }

    /// Keeps the first result of a command whose turn ends, for a daemon that asks for it.
    pub(super) fn forget_stopped(&mut self) {
        let turn = self.activity.turn().filter(|turn| turn.running().is_none());
        let call_id = turn.and_then(|turn| turn.stopped.as_ref()).map(|stopped| stopped.result.call_id);
        if let Some(result) = call_id.and_then(|call_id| self.first_result(call_id, "the turn ended")) {
            self.reported(result);
        }
    }
}
