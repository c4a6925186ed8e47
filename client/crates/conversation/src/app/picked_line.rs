//! Takes up what the user picked from a list of cohab that ran as a program in the shell: `cohab sessions` resumes a conversation, `cohab
//! history` puts a command on the prompt.

use cohab_shell_relay::live::UserCommand;
use cohab_types::picked_line::picked;

use super::{App, LinkState, resume, state::activity::Activity};
use crate::effect::Effect;

/// The lists. No other program of the user's can report a line.
const LISTS: [&str; 2] = ["sessions", "history"];

impl App {
    /// The user's command has ended. A conversation is joined at the next prompt, a command is put on it.
    pub(super) fn take_up_picked(&mut self, command: &UserCommand, effects: &mut Vec<Effect>) {
        let Some(line) = picked_from_list(command) else { return };
        match resume::wanted(line) {
            Some(session) => self.picked_session = Some(session),
            None => effects.push(Effect::InsertPicked(line.to_owned())),
        }
    }
}

impl App {
    /// Joins what was picked. Not before the prompt is there: only there the terminal can be had to say so.
    pub(super) fn join_picked(&mut self, effects: &mut Vec<Effect>) {
        if let Some(session) = self.picked_session.take()
            && matches!(self.activity, Activity::Idle)
        {
            self.connection.link = LinkState::Connecting;
            effects.push(Effect::Join(session));
        }
    }
}

fn picked_from_list(command: &UserCommand) -> Option<&str> {
    let typed = command.line.as_deref()?;
    let mut words = typed.split_whitespace();
    // Options and their values only: no other command stands behind the list.
    let is_list = typed.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, ' ' | '-'))
        && words.next() == Some("cohab")
        && words.next().is_some_and(|word| LISTS.contains(&word))
        && words.next().is_none_or(|option| option.starts_with('-'));
    let line = picked(&command.output_tail).filter(|_| is_list && command.status == 0)?;
    // A control character would be a key.
    (!line.contains(char::is_control)).then_some(line)
}
