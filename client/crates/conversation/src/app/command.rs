//! Runs the agent's commands in the live shell: the daemon's request, the client's own check, the result.

use std::{
    os::unix::ffi::OsStrExt,
    path::Path,
    time::{Duration, Instant},
};

use cohab_policy::{self, Context};
use cohab_protocol::{self as wire, CallId, ClientMessage, CommandExecutionResult, ExecuteCommand, RunMode};
use cohab_secrets::FilledLine;
use cohab_shell_relay::live::LiveEvent;
use cohab_shell_state::state::{Item, StateChange, Step};
use cohab_types::{
    command::{CommandOutcome, CommandRequest, Ending, Interrupter, RelayError},
    refusal::Refusal,
};

use super::{
    App, Surface,
    state::{
        agent_command::{AgentCommand, CommandState, Running, started, waits},
        stopped::Stopped,
        turn::Turn,
    },
    wire_results::{execution_result, not_filled, refuse, refused},
};
use crate::{consent::RunAuthority, effect::Effect, shell_drift, ui::change_summary};

/// Of a command that is only named.
const TITLE_MAX_CHARS: usize = 60;

impl App {
    /// The daemon wants a command to run. A call id runs once: a repeat gets the result of the first run, now or when that ends.
    pub(super) fn on_execute(&mut self, request: ExecuteCommand, now: Instant, effects: &mut Vec<Effect>) {
        if let Some(result) = self.journal.find(request.call_id) {
            effects.push(Effect::Send(ClientMessage::CommandExecutionResult(result.clone())));
            return;
        }
        let command = self.activity.turn().and_then(|turn| turn.command.as_ref());
        if let Some(command) = command.filter(|command| command.is_call(request.call_id)) {
            effects.extend(command.progress());
            return;
        }
        let authority = match self.admit(&request, now) {
            Ok(authority) => authority,
            Err((refusal, reason)) => {
                return effects.push(refuse(request.call_id, refusal, reason.into(), &self.shell.cwd));
            }
        };
        let doubt = self.shell.drift.reason().filter(|_| authority == RunAuthority::Unasked);
        if let Some(reason) = doubt {
            self.ask_about_changes(request, reason, now, effects);
        } else if self.surface == Surface::Ours {
            self.start(request, authority, now, effects);
        } else if let Some(turn) = self.activity.turn_mut() {
            turn.command = Some(AgentCommand::waiting(request, authority, self.shell.cwd.clone(), now));
        }
    }

    /// Whether a new command may run, or why not: a code and a sentence.
    fn admit(&mut self, request: &ExecuteCommand, now: Instant) -> Result<RunAuthority, (Refusal, &'static str)> {
        if self.journal.has_begun(request.call_id) {
            return Err((Refusal::Repeated, "the command ran before; its result is not kept any more"));
        }
        let turn = self.activity.turn().filter(|turn| turn.id() == request.turn_id && !turn.is_over());
        let turn = match turn {
            Some(turn) => turn,
            // The daemon relies on it: nothing of this id was ever given to the shell.
            None if self.journal.is_of_here(request.turn_id) => {
                return Err((Refusal::TurnOver, "the turn is over; the command was not run"));
            }
            None => {
                return Err((Refusal::UnknownTurn, "the turn is not of this terminal; the command was not run here"));
            }
        };
        if turn.command.is_some() {
            return Err((Refusal::ShellBusy, "another command of this turn is still running"));
        }
        let launcher = (self.options.launcher)();
        let lock = launcher.as_deref().and_then(|file| self.options.lock(file, self.shell.seen.as_ref()));
        let context = Context { lock, ..self.options.environment.context(&self.shell.cwd) };
        let remembered = self.options.remembered.as_ref();
        let reason = "the user's terminal has no approval for exactly this command in this folder; it was not run";
        let authority = self.consents.permits(request, self.options.approval, context, remembered, now);
        authority.ok_or((Refusal::NotApproved, reason))
    }

    /// A command has waited too long for the terminal.
    pub(super) fn give_up_pending(&mut self, now: Instant, effects: &mut Vec<Effect>) {
        let is_late = |command: &AgentCommand| command.is_waiting() && command.deadline().is_some_and(|due| now >= due);
        let Some(turn) = self.activity.turn_mut() else { return };
        let Some(pending) = turn.command.take_if(|command| is_late(command)) else { return };
        let holder = turn
            .overdue
            .clone()
            .map_or_else(|| "the terminal was not free".into(), |overdue| format!("`{overdue}` still has it"));
        let reason = format!("the shell is busy: {holder}; the command was not run");
        self.answer_unrun(pending.request.call_id, Refusal::ShellBusy, &reason, effects);
    }

    /// The terminal is ours: what waited for it continues.
    pub(super) fn on_answer_ready(&mut self, now: Instant, effects: &mut Vec<Effect>) {
        self.surface = Surface::Ours;
        self.screen.is_dirty = true;
        self.come_back(now, effects);
        if self.advance_undo(effects) || self.advance_resume(effects) || self.advance_pick(now, effects) {
            return;
        }
        if self.show_fired(now, effects) {
            return;
        }
        let Some(turn) = self.activity.turn_mut() else { return };
        turn.saw(now);
        if let Some(question) = turn.question.as_mut() {
            question.appear(now);
        }
        turn.overdue = None;
        if self.advance_naming(now, effects) {
            return;
        }
        let Some(turn) = self.activity.turn_mut() else { return };
        let waiting = turn.command.take_if(|command| command.is_waiting());
        self.call_for_answer(effects);
        let Some(AgentCommand { request, cwd, state: CommandState::WaitingForTerminal { authority, .. } }) = waiting
        else {
            return;
        };
        if cwd == self.shell.cwd {
            self.start(request, authority, now, effects);
        } else {
            // What was allowed there need not be here.
            let reason = "the user went to another folder before the command could start; it was not run";
            self.answer_unrun(request.call_id, Refusal::NotApproved, reason, effects);
        }
    }

    /// Runs a command that the user agreed to: just as it stands.
    pub(super) fn run(&mut self, request: ExecuteCommand, effects: &mut Vec<Effect>) {
        let text = request.command.clone();
        self.run_typed(request, text, None, effects);
    }

    /// Runs a command, typed so, with its secrets filled in; `locked` is typed in its place, which is not shown or reported.
    pub(super) fn run_typed(
        &mut self,
        request: ExecuteCommand,
        text: String,
        locked: Option<String>,
        effects: &mut Vec<Effect>,
    ) {
        let is_locked = locked.is_some();
        let filled = match self.redactor.filled(locked.as_ref().unwrap_or(&text), self.options.environment.shell) {
            Ok(filled) => filled.or_else(|| locked.map(FilledLine::from)),
            Err(error) => return effects.push(not_filled(request.call_id, &error, &self.shell.cwd)),
        };
        self.print_command(&request.command);
        self.tell_typed(&request, &text);
        self.journal.begin(request.call_id);
        self.surface = Surface::Command;
        let id = self.relay_id(request.call_id);
        let wanted = CommandRequest {
            id: id.clone(),
            text,
            timeout: Duration::from_millis(request.timeout_ms),
            wants_env_delta: true,
        };
        effects.push(match filled {
            Some(filled) => Effect::RunFilled(wanted, filled),
            None => Effect::Run(wanted),
        });
        if let Some(turn) = self.activity.turn_mut() {
            turn.echoed();
            let state = CommandState::Running(Running { id, has_started: false, got_escape: false, is_locked });
            turn.command = Some(AgentCommand { request, cwd: self.shell.cwd.clone(), state });
        }
    }

    /// The daemon wants a command stopped. It gets an answer in any case: now, or when the command has ended.
    pub(super) fn on_interrupt(&mut self, call_id: CallId, by: wire::Interrupter, effects: &mut Vec<Effect>) {
        let turn_id = self.activity.turn().map(Turn::id);
        let command = self.activity.turn().and_then(|turn| turn.command.as_ref());
        let running = command.filter(|command| command.is_call(call_id)).and_then(AgentCommand::running);
        if let Some(running) = running {
            let by = match by {
                wire::Interrupter::TimeLimit => Interrupter::TimeLimit,
                // The daemon says only that the turn is over.
                _ if turn_id.is_some() && self.connection.cancelled_turn == turn_id => Interrupter::User,
                wire::Interrupter::User | wire::Interrupter::Turn => Interrupter::Turn,
            };
            effects.push(Effect::CancelCommand(running.id.clone(), by));
        } else if let Some(result) = self.journal.find(call_id) {
            effects.push(Effect::Send(ClientMessage::CommandExecutionResult(result.clone())));
        } else {
            if let Some(turn) = self.activity.turn_mut()
                && let Some(command) = turn.command.take_if(|command| command.is_call(call_id))
                && command.question().is_some()
                && turn.close_question()
            {
                effects.push(Effect::TakeKeyboard(false));
                self.screen.is_dirty = true;
            }
            let reason = "the command was cancelled before it started";
            self.answer_unrun(call_id, Refusal::Cancelled, reason, effects);
        }
    }

    /// What the relay says about a command of ours.
    pub(super) fn on_command_event(&mut self, event: LiveEvent, now: Instant, effects: &mut Vec<Effect>) {
        match event {
            LiveEvent::CommandStarted { id } => {
                if let Some(call_id) = self.running_id(&id) {
                    if let Some(running) = self.activity.turn_mut().and_then(Turn::running_mut) {
                        running.has_started = true;
                    }
                    effects.push(started(call_id));
                }
            }
            LiveEvent::CommandOutput { id, bytes } if self.running_id(&id).is_some() => {
                self.on_program_output(&bytes, effects);
            }
            LiveEvent::EscapeInterrupts { id } => {
                if self.running_id(&id).is_some()
                    && let Some(running) = self.activity.turn_mut().and_then(Turn::running_mut)
                {
                    running.got_escape = true;
                }
            }
            LiveEvent::WaitingForInput { id, .. } => {
                let call_id = self.running_id(&id);
                effects.extend(call_id.map(waits));
            }
            LiveEvent::ShellObserved { change, listing, .. } => {
                self.shell.observed = Some(change);
                self.shell.seen = listing.snapshot();
            }
            LiveEvent::CommandFinished { id, outcome } => {
                self.attention.command_ended();
                self.on_finished(&id, outcome, now, effects);
            }
            LiveEvent::CommandRefused { id, error } => self.on_refused(&id, &error, effects),
            _ => {}
        }
    }

    /// The command that the shell has, as it was asked for.
    #[must_use]
    pub fn running_command(&self) -> Option<&str> {
        let command = self.activity.turn()?.command.as_ref()?;
        command.is_running().then_some(command.request.command.as_str())
    }

    fn running_id(&self, id: &str) -> Option<CallId> {
        let command = self.activity.turn()?.command.as_ref()?;
        (command.running()?.id == id).then_some(command.request.call_id)
    }

    fn take_running(&mut self, id: &str) -> Option<(ExecuteCommand, Running)> {
        self.running_id(id)?;
        match self.activity.turn_mut()?.command.take()? {
            AgentCommand { request, state: CommandState::Running(running), .. } => Some((request, running)),
            _ => None,
        }
    }

    fn on_finished(&mut self, id: &str, outcome: CommandOutcome, now: Instant, effects: &mut Vec<Effect>) {
        let observed = self.shell.observed.take();
        if observed.is_none() {
            self.shell.seen = None;
        }
        let Some((request, running)) = self.take_running(id) else { return };
        let is_suspended = outcome.ending == Ending::Stopped;
        let is_stopped_by_user = outcome.ending == (Ending::Interrupted { by: Interrupter::User });
        if let Some(turn) = self.activity.turn_mut() {
            turn.overdue = (outcome.ending == Ending::StillRunning).then(|| title(&request.command));
        }
        let cwd_before = std::mem::replace(&mut self.shell.cwd, outcome.cwd.clone());
        let why_stopped = self.why_stopped(&running, &cwd_before, &outcome);
        let mut result = execution_result(request.call_id, outcome);
        self.tell_of_first_run(&mut result);
        if let Some(turn) = self.activity.turn_mut() {
            turn.ran(result.duration_ms, is_suspended);
        }
        if is_suspended {
            // Ctrl-Z holds the turn, too: the user wants the terminal, and the next step would take it.
            self.hold_turn(effects);
        }
        if result.mode == RunMode::Live {
            let is_whole = observed.is_some();
            match &observed {
                Some(change) => {
                    if shell_drift::matters(change) {
                        self.consents.shell_changed();
                    }
                    self.shell.drift.saw(change.clone());
                }
                None if self.may_change_the_shell(&request.command) => {
                    self.consents.shell_changed();
                    self.shell.drift.lost_track(title(&request.command));
                }
                None => {}
            }
            let change = observed.unwrap_or_else(|| moved(&cwd_before, &self.shell.cwd));
            self.screen.above.extend(change_summary::summary(
                &change,
                &self.options.environment.home,
                self.width(),
                self.options.output_style,
            ));
            self.undo.record(request.turn_id, change, is_whole);
            // Whatever ran confined has changed no file.
            if !running.is_locked && self.may_change_the_shell(&request.command) {
                self.undo.record_files(request.turn_id);
            }
        } else if result.mode == RunMode::Subshell {
            self.screen.above.push(change_summary::contained(self.width(), self.options.output_style));
        }
        if is_stopped_by_user {
            if running.got_escape {
                self.entered_line.bring_back();
            }
            // Ctrl-C on the agent's command means: stop all of it. Said before the result, which would start the next step.
            self.cancel_turn(now, effects);
        }
        match why_stopped {
            Some(why) => self.on_stopped(request, Stopped { result, why }, &cwd_before, now, effects),
            None => effects.push(self.reported(result)),
        }
    }

    /// A result as it is sent, and kept for a daemon that asks again.
    pub(super) fn reported(&mut self, mut result: CommandExecutionResult) -> Effect {
        self.redactor.result(&mut result);
        if let Some(turn) = self.activity.turn_mut() {
            turn.last_result = Some(result.call_id);
        }
        self.journal.record(result.clone());
        Effect::Send(ClientMessage::CommandExecutionResult(result))
    }

    /// Whether it is more than plainly read-only.
    fn may_change_the_shell(&self, command: &str) -> bool {
        cohab_policy::assess_line(command, self.options.environment.context(&self.shell.cwd)).level
            > cohab_policy::Level::Allow
    }

    /// A command was judged in the folder in which it was to run; the shell has left it.
    pub(super) fn refuse_elsewhere(&self, call_id: CallId) -> Effect {
        let reason = "the shell is in another folder now; the command was not run";
        refuse(call_id, Refusal::NotApproved, reason.into(), &self.shell.cwd)
    }

    fn on_refused(&mut self, id: &str, error: &RelayError, effects: &mut Vec<Effect>) {
        let Some((request, _)) = self.take_running(id) else { return };
        let call_id = request.call_id;
        let first = self.first_result(call_id, &error.detail());
        let result = first.unwrap_or_else(|| refused(call_id, error.refusal(), error.detail(), &self.shell.cwd));
        effects.push(self.reported(result));
    }
}

/// The first line of a command, where it is only named.
pub(super) fn title(command: &str) -> String {
    let line = command.trim().lines().next().unwrap_or_default();
    line.chars().filter(|c| !c.is_control()).take(TITLE_MAX_CHARS).collect()
}

/// What is known of a command whose changes the shell did not report.
fn moved(before: &Path, after: &Path) -> StateChange {
    let value = |path: &Path| Some(vec![path.as_os_str().as_bytes().to_vec()]);
    let step = (before != after).then(|| (Item::Folder, Step { before: value(before), after: value(after) }));
    StateChange { steps: step.into_iter().collect() }
}
