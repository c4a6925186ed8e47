//! Knows which commands the launcher can start: all programs but those of `lock.table`, which could do nothing behind the lock.

use std::{collections::HashSet, sync::LazyLock};

use cohab_shell_state::shell::Shell;
use cohab_shell_syntax::SimpleCommand;

const TABLE: &str = include_str!("lock.table");
/// Rows of the table with the builtins of shells.
pub(super) const SHELLS: [(&str, Shell); 3] = [("bash", Shell::Bash), ("zsh", Shell::Zsh), ("fish", Shell::Fish)];
/// Names that the launcher does not start and that leave the shell unchanged: programs that could do nothing behind it, and builtins that
/// print.
static WITHOUT: LazyLock<HashSet<&str>> =
    LazyLock::new(|| rows().filter(|(who, _)| shell_of(who).is_none()).flat_map(|(_, names)| names).collect());

pub(super) fn rows() -> impl Iterator<Item = (&'static str, impl Iterator<Item = &'static str>)> {
    let rows = TABLE.lines().filter(|row| !row.starts_with('#')).filter_map(|row| row.split_once(" | "));
    rows.map(|(who, names)| (who, names.split_ascii_whitespace()))
}

pub(super) fn shell_of(who: &str) -> Option<Shell> {
    SHELLS.iter().find(|(name, _)| *name == who).map(|(_, shell)| *shell)
}

pub(super) fn is_of_the_shell(name: &str, shell: Shell) -> bool {
    rows().filter(|(who, _)| shell_of(who) == Some(shell)).any(|(_, mut names)| names.any(|own| own == name))
}

/// Whether a program of this name could do nothing behind the lock: it asks a service, a device or another host. A program that inspects
/// other processes shows less there, and says so.
pub(super) fn needs_more(name: &str) -> bool {
    let rows = rows().filter(|(who, _)| shell_of(who).is_none() && !matches!(*who, "prints" | "process"));
    rows.flat_map(|(_, names)| names).any(|known| known == name)
}

/// Whether the launcher starts the command's program, so that any words may precede `word`.
pub(super) fn holds(command: &SimpleCommand, word: usize, shell: Shell) -> bool {
    program(command, shell).is_some_and(|at| at < word)
}

/// The number of the word of a command that is the program it starts, if that can be locked.
pub(super) fn program(command: &SimpleCommand, shell: Shell) -> Option<usize> {
    // `command NAME` runs the program of that name.
    let at = usize::from(command.words.first()?.text == "command");
    let name = &command.words.get(at)?.text;
    confines(name, shell).then_some(at)
}

/// Whether a program of this name would be started by a launcher.
pub(super) fn confines(name: &str, shell: Shell) -> bool {
    !name.starts_with('-') && !is_of_the_shell(name, shell) && !WITHOUT.contains(name)
}

/// Whether the command leaves the shell unchanged: it starts a program, or prints.
pub(super) fn keeps_shell(command: &SimpleCommand, shell: Shell) -> bool {
    let mut words = command.words.iter().map(|word| word.text.as_str()).skip_while(|word| *word == "command");
    words.next().is_some_and(|name| WITHOUT.contains(name) || !is_of_the_shell(name, shell))
}
