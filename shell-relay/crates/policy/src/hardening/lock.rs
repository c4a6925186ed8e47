//! Applies the second lock: the launcher starts the programs of a line that runs unasked, after which they can only read; a line of
//! more than plain commands runs in a separate shell that the launcher starts. The lock knows
//! no option of any program, so it holds where the policy's tables have a hole. Builtins of the shell stay as they are, and so
//! do the programs of `lock.table`, which could do nothing behind the lock; for these the policy alone answers.

use std::{collections::HashSet, path::Path, sync::LazyLock};

use cohab_shell_state::{
    shell::Shell,
    state::{AliasKind, Item, Snapshot},
};

use super::{Edits, SimpleCommand, bare, dialect, parse, places::word_places, reads_as};
use crate::command::Word;

const TABLE: &str = include_str!("lock.table");
/// Rows of the table with the builtins of shells.
const SHELLS: [(&str, Shell); 3] = [("bash", Shell::Bash), ("zsh", Shell::Zsh), ("fish", Shell::Fish)];
/// Options that functions that come with fish add to a program of their name.
const COLOURED_BY_FISH: &[&str] = &["diff", "egrep", "fgrep", "grep", "ls"];
const COLOUR: &str = "--color=auto";

/// Names that the launcher does not start and that leave the shell unchanged: programs that could do nothing behind it, and builtins that
/// print.
static WITHOUT: LazyLock<HashSet<&str>> =
    LazyLock::new(|| rows().filter(|(who, _)| shell_of(who).is_none()).flat_map(|(_, names)| names).collect());

/// The launcher, which starts programs that can only read.
#[derive(Clone, Copy, Debug)]
pub struct Lock<'a> {
    launcher: &'a str,
    shell: Option<&'a Snapshot>,
    takes_unknown: bool,
}

impl<'a> Lock<'a> {
    /// A lock that another part of cohab will insert: for judging, not for typing.
    pub const UNNAMED: Self = Self { launcher: "/cohab-confine", shell: None, takes_unknown: false };

    /// Takes the launcher's file. `shell` is the live one, whose aliases add options to programs: behind the launcher they are not looked
    /// up. `None` if a shell may read the file's path otherwise than it stands.
    #[must_use]
    pub fn new(launcher: &'a Path, shell: Option<&'a Snapshot>) -> Option<Self> {
        let launcher = launcher.to_str().filter(|path| path.starts_with('/') && path.bytes().all(is_plain))?;
        Some(Self { launcher, shell, takes_unknown: false })
    }

    /// The same lock; if it `takes_unknown` programs, those in no table run unasked behind it, too.
    #[must_use]
    pub const fn with_unknown_programs(self, takes_unknown: bool) -> Self {
        Self { takes_unknown, ..self }
    }

    /// Whether programs that are in no table run unasked behind it.
    pub(crate) fn takes_unknown(self) -> bool {
        self.takes_unknown
    }
}

fn rows() -> impl Iterator<Item = (&'static str, impl Iterator<Item = &'static str>)> {
    let rows = TABLE.lines().filter(|row| !row.starts_with('#')).filter_map(|row| row.split_once(" | "));
    rows.map(|(who, names)| (who, names.split_ascii_whitespace()))
}

fn shell_of(who: &str) -> Option<Shell> {
    SHELLS.iter().find(|(name, _)| *name == who).map(|(_, shell)| *shell)
}

fn is_of_the_shell(name: &str, shell: Shell) -> bool {
    rows().filter(|(who, _)| shell_of(who) == Some(shell)).any(|(_, mut names)| names.any(|own| own == name))
}

/// The words that an alias or a function of a program's name adds to it in the live shell; `None` if the name means something else there,
/// which the user has agreed to.
fn added(name: &str, shell: Shell, lock: Lock<'_>) -> Option<Vec<String>> {
    let Some(snapshot) = lock.shell else { return Some(Vec::new()) };
    if snapshot.contains_key(&Item::Hashed(name.to_owned())) {
        return None;
    }
    if snapshot.contains_key(&Item::Function(name.to_owned())) {
        let is_known = shell == Shell::Fish && COLOURED_BY_FISH.contains(&name);
        return is_known.then(|| vec![COLOUR.to_owned()]);
    }
    let Some(meaning) = snapshot.get(&Item::Alias(AliasKind::Command, name.to_owned())) else {
        return Some(Vec::new());
    };
    let mut words = str::from_utf8(meaning.first()?).ok()?.split_ascii_whitespace();
    (words.next() == Some(name)).then(|| words.map(str::to_owned).collect())
}

/// The line, in which a separate shell that the launcher starts runs everything behind the byte `behind_cd`.
pub(super) fn alone(line: &str, behind_cd: usize, shell: Shell, lock: Lock<'_>) -> String {
    let (in_front, rest) = line.split_at(behind_cd);
    let rest = String::from_utf8_lossy(&shell.quoted(rest.as_ref())).into_owned();
    format!("{in_front}{} --line {} {rest}", lock.launcher, shell.name())
}

/// Whether a program of this name could do nothing behind the lock: it asks a service, a device or another host. A program that inspects
/// other processes shows less there, and says so.
pub(crate) fn needs_more(name: &str) -> bool {
    let rows = rows().filter(|(who, _)| shell_of(who).is_none() && !matches!(*who, "prints" | "process"));
    rows.flat_map(|(_, names)| names).any(|known| known == name)
}

/// A line with the launcher in front of its programs.
#[derive(Debug)]
pub(super) struct Locked {
    pub text: String,
    /// The name of a program means something else in the live shell, which the launcher does not start.
    pub leaves_out: bool,
}

/// The line, which is allowed as it is, with the launcher in front of each program; the line itself without a launcher. `None` if it
/// cannot be typed for sure.
pub(super) fn locked(line: &str, shell: Shell, lock: Lock<'_>) -> Option<Locked> {
    let reading = dialect::reading(shell, line);
    let mut commands = parse::parse_plain(&reading.text).ok()?;
    let places = word_places(&reading.text);
    if places.len() != commands.len() {
        return None;
    }
    let (mut edits, mut leaves_out) = (Edits::default(), false);
    for (command, places) in commands.iter_mut().zip(&places) {
        let Some(at) = program(command, shell) else { continue };
        let name = &command.words.get(at)?.text;
        let Some(added) = (if at == 0 { added(name, shell, lock) } else { Some(Vec::new()) }) else {
            leaves_out = true;
            continue;
        };
        let place = places.get(at)?;
        edits.insert(reading.start_in_line(place.start)?, &format!("{} -- ", lock.launcher));
        let added_text: String = added.iter().map(|word| format!(" {word}")).collect();
        edits.insert(reading.end_in_line(place.end)?, &added_text);
        put_in(command, at, lock.launcher, &added);
    }
    let text = edits.apply(line);
    (text == line || reads_as(&text, shell, &commands)).then_some(Locked { text, leaves_out })
}

/// Whether the launcher starts the command's program, so that any words may precede `word`.
pub(crate) fn holds(command: &SimpleCommand, word: usize, shell: Shell) -> bool {
    program(command, shell).is_some_and(|at| at < word)
}

/// The number of the word of a command that is the program it starts, if that can be locked.
fn program(command: &SimpleCommand, shell: Shell) -> Option<usize> {
    // `command NAME` runs the program of that name.
    let at = usize::from(command.words.first()?.text == "command");
    let name = &command.words.get(at)?.text;
    confines(name, shell).then_some(at)
}

/// Whether a program of this name would be started by a launcher.
pub(crate) fn confines(name: &str, shell: Shell) -> bool {
    !name.starts_with('-') && !is_of_the_shell(name, shell) && !WITHOUT.contains(name)
}

/// Whether the command leaves the shell unchanged: it starts a program, or prints.
pub(super) fn keeps_shell(command: &SimpleCommand, shell: Shell) -> bool {
    let mut words = command.words.iter().map(|word| word.text.as_str()).skip_while(|word| *word == "command");
    words.next().is_some_and(|name| WITHOUT.contains(name) || !is_of_the_shell(name, shell))
}

fn put_in(command: &mut SimpleCommand, at: usize, launcher: &str, added: &[String]) {
    command.words.splice(at + 1..at + 1, added.iter().map(|word| bare(word)));
    let words: [Word; 2] = [bare(launcher), bare("--")];
    command.words.splice(at..at, words);
}

/// Whether all shells read the byte as itself.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'.' | b'_' | b'-' | b'+')
}

#[cfg(test)]
#[path = "lock_tests.rs"]
mod tests;
