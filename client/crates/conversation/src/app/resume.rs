//! Joins an older conversation: `cohab resume ID`, `cohab sessions resume ID` and `fork ID` at the prompt, and `cohab --session ID`.
//! A small turn of its own: join the session, say which, offer to bring the folder and the variables back that it was left with.

use std::{path::Path, time::Duration};

use cohab_protocol::{Attached, EnvSetting, ErrorSubject, LeftState, SessionKey, WireError, WireErrorKind};
use cohab_shell_relay::live::{LineDecision, LiveEvent};
use cohab_shell_state::shell::Shell;
use cohab_term::visible::{visible, visible_command};
use cohab_types::command::{CommandOutcome, CommandRequest, Ending};
use ratatui::text::Line;

use super::{
    App, LinkState, Surface,
    state::{
        activity::Activity,
        resume::{ResumeStage, Resuming},
    },
};
use crate::{
    effect::Effect,
    ui::{card::key_rows, change_summary::tilde, recap, status::STOPPED},
};

/// The lines that ask for it, but for the id, with what the name of the session then begins with.
const LINES: [(&[&str], &str); 3] = [
    (&["cohab", "sessions", "resume"], "resume:"),
    (&["cohab", "sessions", "fork"], "fork:"),
    (&["cohab", "resume"], "resume:"),
];
/// A `cd` is done in milliseconds, unless the folder is on a disk that hangs.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Variables with longer values are not offered, in bytes: the user could not read what they agree to.
const MAX_VALUE_BYTES: usize = 120;
/// Variables that are offered.
const MAX_VARIABLES: usize = 8;

/// The name of the session that a line asks for.
pub(super) fn wanted(line: &str) -> Option<SessionKey> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let (id, words) = words.split_last()?;
    let is_id = !id.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric());
    let (_, prefix) = LINES.iter().find(|(line, _)| words == *line).filter(|_| is_id)?;
    Some(SessionKey(format!("{prefix}{id}")))
}

impl App {
    /// Begins, the line having been taken from the shell.
    pub(super) fn begin_resume(&mut self, line: &str, session: SessionKey, effects: &mut Vec<Effect>) {
        effects.push(Effect::DecideLine(LineDecision::Assistant));
        self.surface = Surface::Opening;
        self.print_own_line(&visible(line.trim()));
        self.activity = Activity::Resume(Resuming::at(ResumeStage::Joining, None));
        self.connection.link = LinkState::Connecting;
        effects.push(Effect::Join(session));
    }

    /// The session is joined, or cannot be. Of a shell that was opened for it this is the first that is known of it.
    pub(super) fn joined(&mut self, joined: Result<Attached, (String, String)>, effects: &mut Vec<Effect>) {
        if let Some(resuming) = self.activity.resuming_mut() {
            resuming.joined = Some(joined);
            if self.surface == Surface::Ours {
                self.advance_resume(effects);
            }
        } else if self.surface == Surface::Shell && self.activity.turn().is_none() {
            self.activity = Activity::Resume(Resuming::at(ResumeStage::Joining, Some(joined)));
            self.surface = Surface::Opening;
            // Below the prompt's row.
            self.print_own_line("");
            effects.push(Effect::BeginAnswer);
        }
    }

    /// It cannot be joined. What was asked meanwhile goes to the session before it.
    pub(super) fn on_not_joined(&mut self, message: String, hint: String, effects: &mut Vec<Effect>) {
        self.connection.link = LinkState::Down;
        if self.activity.turn().is_some() {
            self.connect(effects);
        }
        self.joined(Err((message, hint)), effects);
    }

    /// Whether a session is being joined.
    pub(super) fn is_joining(&self) -> bool {
        matches!(self.activity, Activity::Resume(_))
    }

    /// The terminal is ours, or the session is joined. False if none is.
    pub(super) fn advance_resume(&mut self, effects: &mut Vec<Effect>) -> bool {
        let Some(resuming) = self.activity.resuming_mut() else { return false };
        self.screen.is_dirty = true;
        if resuming.stage == ResumeStage::Done {
            self.close_resume(effects);
            return true;
        }
        match resuming.joined.take() {
            None => {}
            Some(Ok(attached)) => self.tell_joined(&attached, effects),
            Some(Err((message, hint))) => {
                self.print_error(&WireError {
                    about: ErrorSubject::Connection,
                    kind: WireErrorKind::NotFound,
                    message,
                    hint: Some(hint),
                });
                self.close_resume(effects);
            }
        }
        true
    }

    fn tell_joined(&mut self, attached: &Attached, effects: &mut Vec<Effect>) {
        let title = attached.title.as_deref().unwrap_or_default();
        self.print_remark(&format!("Resumed \"{}\" in this shell.", visible(title)));
        if let Some(recap) = &attached.recap {
            self.screen.above.extend(recap::rows(recap, self.width(), self.options.output_style));
        }
        let unfinished = self.activity.resuming_mut().and_then(|resuming| resuming.unfinished.take());
        unfinished.into_iter().for_each(|unfinished| self.print_unfinished(&unfinished));
        let options = &self.options;
        let left = attached.left.as_ref();
        let script =
            left.and_then(|left| way_back(left, &self.shell.cwd, &options.environment.home, options.environment.shell));
        let Some((names, script)) = script else { return self.close_resume(effects) };
        self.print_remark(&format!("It was left {names}."));
        self.print_command(&script);
        let keys = [("y", "runs this"), ("any other key", "leaves the shell as it is")];
        self.screen
            .above
            .extend(key_rows(&keys, false, self.width(), self.options.output_style).into_iter().map(Line::from));
        if let Some(resuming) = self.activity.resuming_mut() {
            resuming.stage = ResumeStage::Offering(script);
        }
        effects.push(Effect::TakeKeyboard(true));
    }

    /// What the user typed while the way back is offered. False if it is not.
    pub(super) fn on_resume_keys(&mut self, bytes: &[u8], effects: &mut Vec<Effect>) -> bool {
        let Some(Resuming { stage, .. }) = self.activity.resuming_mut() else { return false };
        let ResumeStage::Offering(script) = stage else { return true };
        let text = std::mem::take(script);
        effects.push(Effect::TakeKeyboard(false));
        if bytes != b"y" && bytes != b"Y" {
            self.close_resume(effects);
            return true;
        }
        let id = (self.options.fresh_turn_id)().to_string();
        *stage = ResumeStage::Running(id.clone());
        self.surface = Surface::Command;
        let request = CommandRequest { id, text, timeout: TIMEOUT, wants_env_delta: false };
        effects.push(Effect::RunAsItIs(request));
        true
    }

    /// What the relay says about the command of the way back; any other event comes back.
    pub(super) fn on_resume_event(&mut self, event: LiveEvent, effects: &mut Vec<Effect>) -> Option<LiveEvent> {
        let Activity::Resume(Resuming { stage: ResumeStage::Running(running), .. }) = &self.activity else {
            return Some(event);
        };
        match event {
            LiveEvent::CommandFinished { id, outcome } if id == *running => {
                self.shell.cwd.clone_from(&outcome.cwd);
                if let Some(remark) = failed(&outcome) {
                    self.print_remark(&remark);
                }
                if let Some(resuming) = self.activity.resuming_mut() {
                    resuming.stage = ResumeStage::Done;
                }
            }
            LiveEvent::CommandRefused { id, error } if id == *running => {
                self.surface = Surface::Ours;
                self.print_remark(&format!("It did not run: {error}."));
                self.close_resume(effects);
            }
            other => return Some(other),
        }
        None
    }

    /// The user does not wait any more.
    pub(super) fn cancel_resume(&mut self, effects: &mut Vec<Effect>) {
        if self.surface == Surface::Ours {
            self.print_remark(STOPPED);
            self.close_resume(effects);
        }
    }

    pub(super) fn close_resume(&mut self, effects: &mut Vec<Effect>) {
        let unfinished = self.activity.resuming_mut().and_then(|resuming| resuming.unfinished.take());
        unfinished.into_iter().for_each(|unfinished| self.print_unfinished(&unfinished));
        self.surface = Surface::Closing;
        effects.push(Effect::EndAnswer);
    }
}

fn failed(outcome: &CommandOutcome) -> Option<String> {
    match (outcome.ending, outcome.status) {
        (Ending::Exited, Some(0)) => None,
        (Ending::Exited, Some(status)) => Some(format!("It failed: exit {status}.")),
        _ => Some("It was interrupted or did not finish.".to_owned()),
    }
}

/// How the shell was left, in words, and the command that brings it back; none if it is so already.
fn way_back(left: &LeftState, cwd: &Path, home: &Path, shell: Shell) -> Option<(String, String)> {
    let mut commands = Vec::new();
    let mut words = Vec::new();
    let folder = left.cwd.to_path_buf();
    if folder != cwd
        && folder.is_absolute()
        && let Some(quoted) = word(&folder.to_string_lossy(), shell)
    {
        words.push(format!("in {}", visible(&tilde(&folder.to_string_lossy(), home))));
        commands.push(format!("cd -- {quoted}"));
    }
    let is_offered = |one: &&EnvSetting| is_name(&one.name) && one.value.len() <= MAX_VALUE_BYTES;
    let offered = left.environment.iter().filter(is_offered);
    let variables = offered.filter_map(|one| Some((one.name.as_str(), word(&one.value, shell)?)));
    let variables: Vec<(&str, String)> = variables.take(MAX_VARIABLES).collect();
    commands.extend(variables.iter().map(|(name, value)| match shell {
        Shell::Fish => format!("set -gx {name} {value}"),
        Shell::Bash | Shell::Zsh | Shell::Other => format!("export {name}={value}"),
    }));
    if !variables.is_empty() {
        let names: Vec<&str> = variables.iter().map(|(name, _)| *name).collect();
        words.push(format!("with {}", names.join(", ")));
    }
    (!commands.is_empty()).then(|| (words.join(", "), commands.join(" && ")))
}

fn is_name(name: &str) -> bool {
    let is_word = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    is_word && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
}

/// One word of the shell, or none where that could not be read back by a person.
pub(super) fn word(text: &str, shell: Shell) -> Option<String> {
    if visible_command(text) != text || text.contains('\n') {
        return None;
    }
    Some(shell.quoted_text(text))
}
