//! Lets the user pick from a list of cohab that runs in the shell: `? /model` without a name, `? /resume` with nothing to resume, and
//! `? /rewind`. The pager of `? /output` runs in the same way.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use cohab_shell_relay::live::{LiveEvent, UNDO_PREFIX};
use cohab_types::{
    command::CommandRequest,
    picked_line::{Rewind, picked},
};

use super::{
    App, LinkState, Surface, resume,
    slash::REQUEST_LIMIT,
    state::{
        activity::Activity,
        resume::{ResumeStage, Resuming},
        slash::{List, Picking, Slash, SlashStage, Wish},
    },
};
use crate::{effect::Effect, session_override::ModelWish};

/// A list that is left open longer is ended, so that the shell comes back.
const PICK_LIMIT: Duration = Duration::from_secs(10 * 60);

impl App {
    /// The built-in assistant has no other models; it is only introduced.
    pub(super) fn begin_model(&self, now: Instant) -> SlashStage {
        match &self.connection.link {
            LinkState::Up(attached) if attached.model.is_offline => {
                SlashStage::Held(Wish::Introduction, now + REQUEST_LIMIT)
            }
            _ => SlashStage::Picking(List::Models, Picking::Waiting),
        }
    }

    /// No answer was interrupted: the user picks a conversation in place of the turn that was to continue.
    pub(super) fn begin_pick_of_conversation(&mut self, now: Instant, effects: &mut Vec<Effect>) {
        let stage = SlashStage::Picking(List::Conversations, Picking::Waiting);
        self.activity = Activity::Slash(Slash { stage });
        if self.surface == Surface::Ours {
            self.advance_pick(now, effects);
        }
    }

    /// The record of the questions is the session's.
    pub(super) fn begin_rewind(&mut self) -> SlashStage {
        self.begin_of_conversation(List::Questions)
    }

    /// The output of the `number`-th last step: it runs through the user's pager, so it is shown as a list is.
    pub(super) fn begin_output(&mut self, number: usize) -> SlashStage {
        self.begin_of_conversation(List::Output(number))
    }

    fn begin_of_conversation(&mut self, list: List) -> SlashStage {
        if matches!(self.connection.link, LinkState::Up(_)) {
            return SlashStage::Picking(list, Picking::Waiting);
        }
        self.print_remark("This shell has no conversation yet.");
        SlashStage::Done
    }

    /// The terminal is ours: the list begins, or has ended. False if there is none.
    pub(super) fn advance_pick(&mut self, now: Instant, effects: &mut Vec<Effect>) -> bool {
        let Activity::Slash(Slash { stage: SlashStage::Picking(list, picking) }) = &mut self.activity else {
            return false;
        };
        let list = list.clone();
        match picking {
            Picking::Running(_) => {}
            Picking::Waiting => match self.command_of(&list) {
                Some(text) => self.run_list(list, text, effects),
                None => self.end_pick(list, None, now, effects),
            },
            Picking::Ended(picked) => {
                let picked = picked.take();
                self.end_pick(list, picked, now, effects);
            }
        }
        true
    }

    fn run_list(&mut self, list: List, text: String, effects: &mut Vec<Effect>) {
        // In a command of the model's the shell would put `cat` in the place of the user's pager.
        let prefix = if matches!(list, List::Output(_)) { UNDO_PREFIX } else { "" };
        let id = format!("{prefix}{}", (self.options.fresh_turn_id)());
        self.activity = Activity::Slash(Slash { stage: SlashStage::Picking(list, Picking::Running(id.clone())) });
        self.surface = Surface::Command;
        let request = CommandRequest { id, text, timeout: PICK_LIMIT, wants_env_delta: false };
        effects.push(Effect::RunAsItIs(request));
    }

    fn end_pick(&mut self, list: List, picked: Option<String>, now: Instant, effects: &mut Vec<Effect>) {
        let stage = match (list, picked) {
            (List::Models, Some(name)) => SlashStage::Held(Wish::Model(ModelWish::Named(name)), now + REQUEST_LIMIT),
            // Without a pick the user learns who answers now.
            (List::Models, None) => SlashStage::Held(Wish::Introduction, now + REQUEST_LIMIT),
            (List::Conversations, picked) => {
                if let Some(session) = picked.as_deref().and_then(resume::wanted) {
                    self.activity = Activity::Resume(Resuming::at(ResumeStage::Joining, None));
                    self.connection.link = LinkState::Connecting;
                    return effects.push(Effect::Join(session));
                }
                SlashStage::Done
            }
            (List::Questions, picked) => {
                let Rewind { questions, shell, folder } = picked.as_deref().and_then(Rewind::parse).unwrap_or_default();
                let folder = folder.filter(|folder| Path::new(folder) != self.shell.cwd);
                let folder = folder.and_then(|folder| resume::word(&folder, self.options.environment.shell));
                if let Some(folder) = folder {
                    return self.run_list(List::Rest { questions, shell }, format!("cd -- {folder}"), effects);
                }
                match self.rewind_rest(questions, shell.as_deref(), now, effects) {
                    Some(stage) => stage,
                    None => return,
                }
            }
            (List::Rest { questions, shell }, _) => match self.rewind_rest(questions, shell.as_deref(), now, effects) {
                Some(stage) => stage,
                None => return,
            },
            (List::Output(_), _) => SlashStage::Done,
        };
        self.activity = Activity::Slash(Slash { stage });
        self.send_held_request(effects);
    }

    /// The shell goes back to before a turn, which takes a while: `None`; then the conversation loses its questions.
    fn rewind_rest(
        &mut self,
        questions: usize,
        shell: Option<&str>,
        now: Instant,
        effects: &mut Vec<Effect>,
    ) -> Option<SlashStage> {
        if let Some(turn) = shell {
            if self.rewind_shell(turn, questions, effects) {
                return None;
            }
            self.print_remark("The shell stays as it is: what these turns changed in it is not known here.");
        }
        Some(lose(questions, now))
    }

    /// The command that shows the list; that of models at the one that answers.
    fn command_of(&self, list: &List) -> Option<String> {
        let shell = self.options.environment.shell;
        let program = resume::word(&self.options.own_program.to_string_lossy(), shell)?;
        let current = match &self.connection.link {
            LinkState::Up(attached) => resume::word(&attached.model.model, shell),
            LinkState::Connecting | LinkState::Down | LinkState::Failed => None,
        };
        let at = current.map(|model| format!(" --model {model}")).unwrap_or_default();
        Some(match list {
            List::Models => format!("{program} models --pick{at}"),
            List::Conversations => format!("{program} sessions --pick"),
            List::Questions | List::Rest { .. } => {
                let LinkState::Up(attached) = &self.connection.link else { return None };
                let known = match self.undo.history.listed() {
                    turns if turns.is_empty() => String::new(),
                    turns => format!(" --shell {}", resume::word(&turns, shell)?),
                };
                format!("{program} rewind --session {}{known}", resume::word(&attached.session.0, shell)?)
            }
            List::Output(number) => {
                let LinkState::Up(attached) = &self.connection.link else { return None };
                format!("{program} trace --output {number} --session {}", resume::word(&attached.session.0, shell)?)
            }
        })
    }

    /// What the relay says about the list's command; any other event comes back.
    pub(super) fn on_pick_event(
        &mut self,
        event: LiveEvent,
        now: Instant,
        effects: &mut Vec<Effect>,
    ) -> Option<LiveEvent> {
        let Activity::Slash(Slash { stage: SlashStage::Picking(_, picking) }) = &mut self.activity else {
            return Some(event);
        };
        let Picking::Running(running) = picking else { return Some(event) };
        match event {
            LiveEvent::CommandFinished { id, outcome } if id == *running => {
                let name = picked(&outcome.output).filter(|_| outcome.status == Some(0));
                *picking = Picking::Ended(name.map(str::to_owned));
                self.shell.cwd = outcome.cwd;
            }
            LiveEvent::CommandRefused { id, .. } if id == *running => {
                *picking = Picking::Ended(None);
                self.surface = Surface::Ours;
                self.advance_pick(now, effects);
            }
            other => return Some(other),
        }
        None
    }
}

/// The conversation loses these questions; none is nothing to do.
fn lose(questions: usize, now: Instant) -> SlashStage {
    match questions {
        0 => SlashStage::Done,
        questions => SlashStage::Held(Wish::Rewind(questions), now + REQUEST_LIMIT),
    }
}
