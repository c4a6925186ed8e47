//! Collects the user's commands for the model.

use std::{collections::VecDeque, path::PathBuf};

use cohab_context::query::{MAX_HISTORY_EVENTS, PastCommand};

/// Name of the program that manages what cohab knows.
const COHAB: &str = "cohab";
/// Its commands that change the shell or files: the model must not build on what was before.
const CHANGING: &[&[&str]] = &[&["undo"], &["resume"], &["sessions", "resume"], &["sessions", "fork"]];

/// A command of the user that ended.
#[derive(Clone, Debug)]
pub struct RanCommand {
    /// The command.
    pub command: PastCommand,
    /// The folder in which it began.
    pub ran_in: PathBuf,
    /// The time at which it ended, in milliseconds since 1970.
    pub ended_ms: u64,
}

/// The newest commands, without those of cohab itself: they print other conversations.
#[derive(Default)]
pub(super) struct RecentCommands(VecDeque<PastCommand>);

impl RecentCommands {
    pub fn push(&mut self, command: PastCommand) {
        if command.line.as_deref().is_some_and(|line| runs_cohab(line) && !changes_something(line)) {
            return;
        }
        if self.0.len() == MAX_HISTORY_EVENTS {
            self.0.pop_front();
        }
        self.0.push_back(command);
    }

    pub fn all(&self) -> Vec<PastCommand> {
        self.0.iter().cloned().collect()
    }

    pub fn take(&mut self) -> Vec<PastCommand> {
        std::mem::take(&mut self.0).into()
    }
}

/// Whether a line is a command of cohab that changes the shell or files.
fn changes_something(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    matches!(words.split_first(), Some((&COHAB, rest)) if CHANGING.iter().any(|command| rest.starts_with(command)))
}

/// Whether one of the commands of a line is `cohab`, also behind `sudo` or in a folder.
pub(super) fn runs_cohab(line: &str) -> bool {
    let name = |word: &str| word.rsplit('/').next().unwrap_or_default().to_owned();
    let is_before = |word: &&str| matches!(*word, "sudo" | "command" | "exec" | "time") || word.contains('=');
    line.split([';', '|', '&', '\n', '(', '{'])
        .filter_map(|part| part.split_whitespace().find(|word| !is_before(word)))
        .any(|word| name(word) == COHAB)
}

#[cfg(test)]
mod tests {
    use std::{path::Path, time::Duration};

    use cohab_protocol::{SessionKey, ShellEvent};

    use super::*;
    use crate::session::Session;

    #[test]
    fn a_new_conversation_does_not_get_earlier_commands() {
        let session = Session::new(SessionKey("shell:1".into()));
        let ran = |line: &str| {
            session.command_ran(ShellEvent {
                line: Some(line.into()),
                exit_code: 0,
                cwd: Path::new("/srv").into(),
                duration_ms: 0,
                output_tail: String::new(),
                output_bytes: 0,
                ran_in: Path::new("/srv").into(),
                ended_ms: 0,
            });
        };
        let told = || session.history().into_iter().filter_map(|command| command.line).collect::<Vec<_>>();
        ran("curl example.com");
        assert_eq!(told(), ["curl example.com"]);
        assert!(session.clear());
        ran("ls");
        assert_eq!((told(), session.cwd().as_path()), (vec!["ls".to_owned()], Path::new("/srv")));
    }

    #[test]
    fn commands_of_cohab_are_not_reported() {
        let mut recent = RecentCommands::default();
        let lines =
            ["ls", "cohab sessions", "/usr/bin/cohab sessions show last", "A=1 cohab why", "cohab usage | less"];
        for line in lines.into_iter().chain(["cd x && cohab trace", "cd cohab", "cohabit", "cohab undo"]) {
            recent.push(PastCommand {
                line: Some(line.to_owned()),
                exit_code: 0,
                cwd: "/".into(),
                duration: Duration::ZERO,
                output_tail: String::new(),
            });
        }
        let told: Vec<String> = recent.take().into_iter().filter_map(|command| command.line).collect();
        assert_eq!(told, ["ls", "cd cohab", "cohabit", "cohab undo"]);
    }
}
