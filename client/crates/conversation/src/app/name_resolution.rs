//! Checks the names in a command against the live shell before the command runs unasked. The client learns the names by running a
//! command that does nothing, unless the shell has reported them since the user's last command.

use std::time::Instant;

use cohab_policy::{self, Caveat, SETTLES};
use cohab_protocol::ExecuteCommand;
use cohab_shell_relay::live::LiveEvent;
use cohab_types::command::CommandRequest;

use super::{
    App, Surface,
    state::agent_command::{AgentCommand, CommandState},
    wire_results::refuse,
};
use crate::{consent::RunAuthority, effect::Effect};

/// A command that does nothing.
const NOTHING: &str = ":";
/// It has long ended then.
const TIMEOUT: std::time::Duration = std::time::Duration::from_secs(10);

impl App {
    /// Runs a command now that the terminal is ours; if it is unasked, only if its names stand for what it was judged by.
    pub(super) fn start(
        &mut self,
        request: ExecuteCommand,
        authority: RunAuthority,
        now: Instant,
        effects: &mut Vec<Effect>,
    ) {
        match authority {
            RunAuthority::Asked => return self.run(request, effects),
            RunAuthority::Confirmed => return self.run_confirmed(request, effects),
            _ if !self.options.looks_at_names => return self.run(request, effects),
            RunAuthority::Named => return self.run_unasked(request, now, effects),
            RunAuthority::Unasked => {}
        }
        match self.what_names_stand_for(&request.command) {
            None => self.look_at_names(request, effects),
            Some(caveats) if caveats.is_empty() => self.run_unasked(request, now, effects),
            Some(caveats) => self.ask_ourselves(request, Vec::new(), caveats, RunAuthority::Named, now, effects),
        }
    }

    /// Asks about what commands of the assistant changed in the shell, and in the same question about names that are not themselves; as
    /// long as the shell has not reported those, a yes leaves them to be looked at.
    pub(super) fn ask_about_changes(
        &mut self,
        request: ExecuteCommand,
        changes: String,
        now: Instant,
        effects: &mut Vec<Effect>,
    ) {
        let names = self.what_names_stand_for(&request.command);
        let then = if names.is_some() { RunAuthority::Named } else { RunAuthority::Unasked };
        let names = names.unwrap_or_default();
        // A yes settles the changes, whatever the names.
        let of_changes = names.is_empty().then(|| SETTLES.to_owned());
        self.ask_ourselves(request, [changes].into_iter().chain(of_changes).collect(), names, then, now, effects);
    }

    /// Names of a command that stand for something else, but for what the user has confirmed; `None` if the shell has not reported.
    fn what_names_stand_for(&self, command: &str) -> Option<Vec<Caveat>> {
        if !self.options.looks_at_names {
            return Some(Vec::new());
        }
        let mut caveats = cohab_policy::why_not_themselves(
            command,
            self.shell.seen.as_ref()?,
            self.options.environment.context(&self.shell.cwd),
        );
        caveats.retain(|caveat| !self.shell.confirmed.contains(caveat));
        Some(caveats)
    }

    fn look_at_names(&mut self, request: ExecuteCommand, effects: &mut Vec<Effect>) {
        let Some(turn) = self.activity.turn_mut() else { return };
        let id = (self.options.fresh_turn_id)().to_string();
        let state = CommandState::ResolvingNames { id: id.clone() };
        turn.command = Some(AgentCommand { request, cwd: self.shell.cwd.clone(), state });
        self.surface = Surface::Command;
        let request = CommandRequest { id, text: NOTHING.into(), timeout: TIMEOUT, wants_env_delta: true };
        effects.push(Effect::RunAsItIs(request));
    }

    /// The id of the command that does nothing, while one waits for its end.
    fn resolving(&self) -> Option<&str> {
        match &self.activity.turn()?.command.as_ref()?.state {
            CommandState::ResolvingNames { id } => Some(id),
            _ => None,
        }
    }

    /// What the relay says about the command that does nothing; any other event comes back.
    pub(super) fn on_naming_event(&mut self, event: LiveEvent, effects: &mut Vec<Effect>) -> Option<LiveEvent> {
        let Some(id) = self.resolving().map(str::to_owned) else { return Some(event) };
        match event {
            LiveEvent::ShellObserved { id: other, listing, .. } if other == id => self.shell.seen = listing.snapshot(),
            LiveEvent::CommandFinished { id: other, outcome } if other == id => self.shell.cwd = outcome.cwd,
            LiveEvent::CommandRefused { id: other, error } if other == id => {
                self.surface = Surface::Ours;
                let command = self.activity.turn_mut().and_then(|turn| turn.command.take());
                let refused = command.map(|command| command.request.call_id);
                effects
                    .extend(refused.map(|call_id| refuse(call_id, error.refusal(), error.detail(), &self.shell.cwd)));
            }
            LiveEvent::CommandStarted { id: other } | LiveEvent::CommandOutput { id: other, .. } if other == id => {}
            other => return Some(other),
        }
        None
    }

    /// The shell has reported, or will not: the command continues. False if no command waits for that.
    pub(super) fn advance_naming(&mut self, now: Instant, effects: &mut Vec<Effect>) -> bool {
        if self.resolving().is_none() {
            return false;
        }
        let command = self.activity.turn_mut().and_then(|turn| turn.command.take());
        let Some(AgentCommand { request, cwd, .. }) = command else { return false };
        if cwd != self.shell.cwd {
            effects.push(self.refuse_elsewhere(request.call_id));
        } else if self.shell.seen.is_some() {
            self.start(request, RunAuthority::Unasked, now, effects);
        } else {
            let reason = "the shell does not report what its names stand for".to_owned();
            self.ask_ourselves(request, vec![reason], Vec::new(), RunAuthority::Named, now, effects);
        }
        true
    }
}
