//! Runs a command without a question: types its hardened form, after git's own settings were checked if it starts git.

use std::time::Instant;

use cohab_policy::{self, Caveat, Context, GitEnvironment};
use cohab_protocol::{CallId, ExecuteCommand};
use cohab_term::{output_style::OutputStyle, theme};
use ratatui::text::Line;

use super::{
    App, Surface,
    state::agent_command::{AgentCommand, CommandState},
};
use crate::{background_task::Task, consent::RunAuthority, effect::Effect, ui::status};

impl App {
    /// Runs a command whose names stand for what it was judged by, unless git's settings or variables speak against it.
    pub(super) fn run_unasked(&mut self, request: ExecuteCommand, now: Instant, effects: &mut Vec<Effect>) {
        let launcher = (self.options.launcher)();
        let lock = launcher.as_deref().and_then(|file| self.options.lock(file, self.shell.seen.as_ref()));
        let context = Context { lock, ..self.options.environment.context(&self.shell.cwd) };
        if lock.is_none() && cohab_policy::needs_lock(&request.command, context) {
            let reason = "the program is gone that keeps its programs from writing".to_owned();
            return self.ask_ourselves(request, vec![reason], Vec::new(), RunAuthority::Confirmed, now, effects);
        }
        let unasked = match cohab_policy::unasked(&request.command, context) {
            Ok(unasked) => unasked,
            Err(reason) => {
                let reasons = vec![reason.to_owned()];
                return self.ask_ourselves(request, reasons, Vec::new(), RunAuthority::Confirmed, now, effects);
            }
        };
        if unasked.git_folders.is_empty() {
            return self.run_typed(request, unasked.text, unasked.locked, effects);
        }
        let caveat = self.shell.seen.as_ref().and_then(cohab_policy::git_variables);
        if let Some(caveat) = caveat.filter(|caveat| !self.shell.confirmed.contains(caveat)) {
            return self.ask_ourselves(request, Vec::new(), vec![caveat], RunAuthority::Named, now, effects);
        }
        let Some(turn) = self.activity.turn_mut() else { return };
        let environment = self.shell.seen.as_ref().map(GitEnvironment::of_shell);
        effects.push(Effect::Begin(Task::AskGit {
            call: request.call_id,
            folders: unasked.git_folders.clone(),
            environment,
        }));
        let state = CommandState::CheckingGitSettings { typed: unasked, since: now };
        turn.command = Some(AgentCommand { request, cwd: self.shell.cwd.clone(), state });
    }

    /// Runs a command that was asked about and shown as it is typed.
    pub(super) fn run_confirmed(&mut self, request: ExecuteCommand, effects: &mut Vec<Effect>) {
        let typed = self.typed_text(&request);
        self.run_typed(request, typed, None, effects);
    }

    /// A command as it is typed where it runs unasked, or where the user has confirmed what it stands for.
    pub(super) fn typed_text(&self, request: &ExecuteCommand) -> String {
        // Without the lock it is typed with the same words.
        let context =
            Context { lock: Some(self.options.unnamed_lock()), ..self.options.environment.context(&self.shell.cwd) };
        let unasked = cohab_policy::unasked(&request.command, context);
        unasked.map_or_else(|_| request.command.clone(), |unasked| unasked.text)
    }

    /// Git's settings where the command `call_id` starts it are known: `caveat` says what speaks against it.
    pub(super) fn on_git_told(
        &mut self,
        call_id: CallId,
        caveat: Option<Caveat>,
        now: Instant,
        effects: &mut Vec<Effect>,
    ) {
        let Some(turn) = self.activity.turn_mut() else { return };
        let is_meant = |command: &AgentCommand| {
            command.is_call(call_id) && matches!(command.state, CommandState::CheckingGitSettings { .. })
        };
        let checked = turn.command.take_if(|command| is_meant(command));
        let Some(AgentCommand { request, cwd, state: CommandState::CheckingGitSettings { typed, .. } }) = checked
        else {
            return;
        };
        self.screen.is_dirty = true;
        if self.surface != Surface::Ours {
            // It is looked at again when the terminal is ours.
            turn.command = Some(AgentCommand::waiting(request, RunAuthority::Unasked, cwd, now));
        } else if cwd != self.shell.cwd {
            effects.push(self.refuse_elsewhere(request.call_id));
        } else {
            match caveat.filter(|caveat| !self.shell.confirmed.contains(caveat)) {
                None => self.run_typed(request, typed.text, typed.locked, effects),
                Some(caveat) => {
                    self.ask_ourselves(request, Vec::new(), vec![caveat], RunAuthority::Confirmed, now, effects);
                }
            }
        }
    }

    /// Git's settings were not reported in time.
    pub(super) fn give_up_git_check(&mut self, now: Instant, effects: &mut Vec<Effect>) {
        let is_late = |command: &&AgentCommand| {
            matches!(command.state, CommandState::CheckingGitSettings { .. })
                && command.deadline().is_some_and(|due| now >= due)
        };
        let command = self.activity.turn().and_then(|turn| turn.command.as_ref());
        if let Some(call_id) = command.filter(is_late).map(|command| command.request.call_id) {
            self.on_git_told(call_id, Some(Caveat::GitSilent), now, effects);
        }
    }

    /// Says once that words were put into a line; `? /typed` shows them.
    pub(super) fn tell_typed(&mut self, request: &ExecuteCommand, typed: &str) {
        if typed == request.command || !self.typed_lines.keep(request.turn_id, typed) {
            return;
        }
        let command = format!("{} /typed", self.options.question_prefix);
        let text = match self.options.output_style {
            OutputStyle::Rich => format!("  ↳ typed to stay read-only · {command}"),
            OutputStyle::Accessible => format!("It is typed so that it stays read-only; {command} shows how."),
        };
        self.screen.above.push(status::fitted(&Line::styled(text, theme::DIM), self.width()));
    }

    /// Shows the lines of the last turn that had some as they were typed.
    pub(super) fn print_typed_lines(&mut self) {
        let lines = std::mem::take(&mut self.typed_lines.lines);
        lines.iter().for_each(|line| self.print_command(line));
        if lines.is_empty() {
            self.print_remark("No command was modified before it ran.");
        }
        self.typed_lines.lines = lines;
    }
}
