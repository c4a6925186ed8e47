//! Hardens a line that runs unasked: adds words that keep its programs from starting others, from reading settings
//! that somebody else wrote, and from waiting at a pager. The result is the line's text with these words inserted, and nothing else.

mod lock;
mod words;

use std::{collections::BTreeMap, path::PathBuf};

use cohab_shell_state::shell::Shell;
use cohab_shell_syntax::{Join, Reading, SimpleCommand, Word, is_confirmed, parse_plain, word_places};
use words::{insertions, pages_to_the_terminal};

use super::{Context, Level, assess_line, known_names, launchable, lock::Lock, repository};

/// The reason if the words cannot be inserted for sure.
const NOT_TYPED: &str = "it cannot be typed with the words that keep it read-only";

/// The program behind a pager that has no option for it, so that the pager writes all and ends.
const PRINTER: &str = "cat";

/// A line that runs unasked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unasked {
    /// The typed text.
    pub text: String,
    /// The typed text with a second lock: the launcher starts the programs.
    pub locked: Option<String>,
    /// Folders in which the line starts git: their settings may name programs.
    pub git_folders: Vec<PathBuf>,
}

/// The typed form of `line` if it runs unasked. A line that is not plainly read-only was agreed to as it stands.
///
/// # Errors
/// The reason why it has to be asked about.
pub fn unasked(line: &str, context: Context<'_>) -> Result<Unasked, &'static str> {
    let as_it_is = || Ok(Unasked { text: line.to_owned(), locked: None, git_folders: Vec::new() });
    let reading = known_names::reading(context.shell, line);
    let Ok(commands) = parse_plain(&reading.text) else { return as_it_is() };
    let is_concerned = commands.iter().any(|command| !insertions(&command.words).is_empty())
        || (0..commands.len()).any(|at| pages_to_the_terminal(&commands[at..]));
    if !(is_concerned || context.lock.is_some()) || assess_line(line, context).level > Level::Allow {
        return as_it_is();
    }
    if let (Some(structure), Some(lock)) = (&reading.structure, context.lock) {
        let locked = Some(lock::alone(line, structure.behind_cd, context.shell, lock));
        return Ok(Unasked { text: line.to_owned(), locked, git_folders: repository::git_folders(&commands, context) });
    }
    let text = with_words(line, &reading, commands.clone(), context.shell).ok_or(NOT_TYPED)?;
    if text != line && assess_line(&text, context).level > Level::Allow {
        return Err(NOT_TYPED);
    }
    let locked = match context.lock {
        Some(lock) => Some(lock::locked(&text, context.shell, lock).ok_or(NOT_TYPED)?),
        None => None,
    };
    // An alias that the user agreed to is no program that can only read.
    if locked.as_ref().is_some_and(|locked| locked.leaves_out) && needs_lock(line, context) {
        return Err(NOT_TYPED);
    }
    let locked = locked.map(|locked| locked.text).filter(|locked| *locked != text);
    Ok(Unasked { text, locked, git_folders: repository::git_folders(&commands, context) })
}

/// Whether a line is plainly read-only only if its programs are kept from writing.
#[must_use]
pub fn needs_lock(line: &str, context: Context<'_>) -> bool {
    let with = |lock| assess_line(line, Context { lock, ..context }).level;
    with(None) > Level::Allow && with(Some(Lock::UNNAMED)) == Level::Allow
}

/// Whether `line`, which runs unasked, leaves the shell unchanged, so that a second run finds the same state:
/// `ls | sort` does, `cd src && ls` does not.
#[must_use]
pub fn keeps_shell(line: &str, shell: Shell) -> bool {
    let reading = known_names::reading(shell, line);
    let is_alone = reading.structure.is_some_and(|structure| structure.behind_cd == 0);
    let keeps = |commands: Vec<SimpleCommand>| commands.iter().all(|command| launchable::keeps_shell(command, shell));
    is_alone || parse_plain(&reading.text).is_ok_and(keeps)
}

/// The line with the words that keep it read-only; the line itself if none are known. `None` if it is not a plain line, or the places of
/// the words are not sure.
#[cfg(any(test, feature = "testing"))]
pub fn typed_form(line: &str) -> Option<String> {
    let reading = known_names::reading(Shell::Bash, line);
    with_words(line, &reading, parse_plain(line).ok()?, Shell::Bash)
}

fn with_words(line: &str, reading: &Reading, mut commands: Vec<SimpleCommand>, shell: Shell) -> Option<String> {
    let places = word_places(&reading.text);
    if places.len() != commands.len() {
        return None;
    }
    let mut edits = Edits::default();
    for (command, places) in commands.iter().zip(&places) {
        for insertion in insertions(&command.words) {
            let end = reading.end_in_line(places.get(insertion.after)?.end)?;
            edits.insert(end, &insertion.words.iter().map(|word| format!(" {word}")).collect::<String>());
        }
    }
    for at in (0..commands.len()).rev().filter(|at| pages_to_the_terminal(&commands[*at..])).collect::<Vec<_>>() {
        edits.insert(reading.end_in_line(places[at].last()?.end)?, &format!(" | {PRINTER}"));
        let printer = SimpleCommand { join: Join::Pipe, words: vec![bare(PRINTER)], redirects: Vec::new() };
        commands.insert(at + 1, printer);
    }
    for command in &mut commands {
        for insertion in insertions(&command.words).iter().rev() {
            let words = insertion.words.iter().map(|word| bare(word));
            command.words.splice(insertion.after + 1..insertion.after + 1, words);
        }
    }
    let text = edits.apply(line);
    (text == line || reads_as(&text, shell, &commands)).then_some(text)
}

/// Insertions into a line, by the byte in front of which each goes.
#[derive(Debug, Default)]
struct Edits(BTreeMap<usize, String>);

impl Edits {
    fn insert(&mut self, at: usize, text: &str) {
        self.0.entry(at).or_default().push_str(text);
    }

    fn apply(&self, line: &str) -> String {
        let mut text = line.to_owned();
        for (at, words) in self.0.iter().rev() {
            text.insert_str(*at, words);
        }
        text
    }
}

/// The result has to read as these commands, to both parsers, even if the places are wrong.
fn reads_as(text: &str, shell: Shell, commands: &[SimpleCommand]) -> bool {
    let reading = known_names::reading(shell, text);
    parse_plain(&reading.text).is_ok_and(|parsed| parsed == commands && is_confirmed(&reading.text, &parsed))
}

fn bare(word: &str) -> Word {
    Word { text: word.to_owned(), is_bare: true, ..Word::default() }
}

#[cfg(test)]
mod tests;
