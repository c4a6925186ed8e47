//! Tells what of a shell can go back to a moment. The client keeps what turns changed in it, and lists the turns. Pure.

use super::moments::Moment;

/// The turns whose changes of the shell are known, and whether they have some.
#[derive(Debug, Default)]
pub(super) struct KnownTurns(Vec<(String, bool)>);

/// What of the shell can go back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ShellPart {
    /// Nothing: it is as it was, for all that is known.
    Nothing,
    /// Its folder.
    Folder,
    /// Its folder, variables, aliases and options.
    State,
}

impl KnownTurns {
    /// Reads the client's list: `ID,ID*,...`.
    pub(super) fn read(list: &str) -> Self {
        let one = |word: &str| match word.strip_suffix('*') {
            Some(turn) => (turn.to_owned(), true),
            None => (word.to_owned(), false),
        };
        Self(list.split(',').filter(|word| !word.is_empty()).map(one).collect())
    }

    /// Whether the turns of a moment changed the shell; `None` if they are not all known.
    fn changed(&self, moment: &Moment) -> Option<bool> {
        let known = |turn: &String| self.0.iter().find(|(known, _)| known == turn).map(|(_, is_changed)| *is_changed);
        let all: Option<Vec<bool>> = moment.turns.iter().map(known).collect();
        all.map(|all| all.contains(&true))
    }

    /// What can go back with a moment, from this folder.
    pub(super) fn part(&self, moment: &Moment, here: &str) -> ShellPart {
        match self.changed(moment) {
            Some(true) => ShellPart::State,
            _ if moment.cwd != here => ShellPart::Folder,
            _ => ShellPart::Nothing,
        }
    }

    /// A line about what is more than the folder.
    pub(super) fn told(&self, moment: &Moment) -> &'static str {
        match self.changed(moment) {
            Some(true) => "Shell: variables, aliases and options that were changed. Running programs stay.",
            Some(false) => "Variables, aliases and options were not changed. Running programs stay.",
            None => "Variables, aliases and options stay: not all of these turns ran in this shell lately.",
        }
    }
}
