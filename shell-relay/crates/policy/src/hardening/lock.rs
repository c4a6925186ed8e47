//! Applies the second lock: the launcher starts the programs of a line that runs unasked, after which they can only read; a line of
//! more than plain commands runs in a separate shell that the launcher starts. The lock knows
//! no option of any program, so it holds where the policy's tables have a hole. Builtins of the shell stay as they are, and so
//! do the programs of `lock.table`, which could do nothing behind the lock; for these the policy alone answers.

use cohab_shell_state::{
    shell::Shell,
    state::{AliasKind, Item},
};
use cohab_shell_syntax::{Word, parse_plain, word_places};

use super::{Edits, SimpleCommand, bare, reads_as};
use crate::{known_names, launchable::program, lock::Lock};

/// Options that functions that come with fish add to a program of their name.
const COLOURED_BY_FISH: &[&str] = &["diff", "egrep", "fgrep", "grep", "ls"];
const COLOUR: &str = "--color=auto";

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
    let reading = known_names::reading(shell, line);
    let mut commands = parse_plain(&reading.text).ok()?;
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

fn put_in(command: &mut SimpleCommand, at: usize, launcher: &str, added: &[String]) {
    command.words.splice(at + 1..at + 1, added.iter().map(|word| bare(word)));
    let words: [Word; 2] = [bare(launcher), bare("--")];
    command.words.splice(at..at, words);
}

#[cfg(test)]
#[path = "lock_tests.rs"]
mod tests;
