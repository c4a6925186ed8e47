//! How a line is typed that runs unasked: with words that keep the programs of a line from starting others, from reading settings
//! that somebody else wrote, and from waiting at a pager. It is the line's own text with these words put in between, and nothing else.

mod lock;
pub(super) mod places;
mod words;

use std::{collections::BTreeMap, path::PathBuf};

use super::{
    Context, Level, assess_line,
    command::{SimpleCommand, Word},
    dialect::{self, Reading},
    parse, repository,
};
use crate::shell::Shell;
use places::word_places;
use words::insertions;

pub use lock::Lock;
pub(super) use lock::{confines, holds};

/// Said where the words cannot be put in for sure.
const NOT_TYPED: &str = "it cannot be typed with the words that keep it read-only";

/// A line that runs unasked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unasked {
    /// What is typed.
    pub text: String,
    /// What is typed in its place where there is a second lock: the launcher starts the programs.
    pub locked: Option<String>,
    /// Folders in which it starts git: what is set there may name programs.
    pub git_folders: Vec<PathBuf>,
}

/// How `line` is typed where nobody is asked about it. A line that is not plainly read-only was agreed to as it stands.
///
/// # Errors
/// Why it has to be asked about.
pub fn unasked(line: &str, context: Context<'_>) -> Result<Unasked, &'static str> {
    let as_it_is = || Ok(Unasked { text: line.to_owned(), locked: None, git_folders: Vec::new() });
    let reading = dialect::reading(context.shell, line);
    let Ok(commands) = parse::parse_plain(&reading.text) else { return as_it_is() };
    let is_concerned = commands.iter().any(|command| !insertions(&command.words).is_empty());
    let assigns = reading.structure.as_ref().is_some_and(|structure| !structure.assigned.is_empty());
    if !(is_concerned || assigns || context.lock.is_some()) || assess_line(line, context).level > Level::Allow {
        return as_it_is();
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
    // What the line gives to variables is the line's own.
    let assigned = reading.structure.map(|structure| structure.assigned).unwrap_or_default();
    let contained = |text: String| contained(text, &assigned, context.shell);
    let (text, locked) = (contained(text), locked.map(contained));
    Ok(Unasked { text, locked, git_folders: repository::git_folders(&commands, context) })
}

/// A line whose variables are gone behind it.
fn contained(line: String, variables: &[String], shell: Shell) -> String {
    if variables.is_empty() {
        return line;
    }
    if shell == Shell::Fish {
        let local: String = variables.iter().map(|name| format!("set -l {name}; ")).collect();
        return format!("begin; {local}{line}; end");
    }
    format!("( {line} )")
}

/// Whether a line is plainly read-only only where its programs are kept from writing.
#[must_use]
pub fn needs_lock(line: &str, context: Context<'_>) -> bool {
    let with = |lock| assess_line(line, Context { lock, ..context }).level;
    with(None) > Level::Allow && with(Some(Lock::UNNAMED)) == Level::Allow
}

/// The line with the words that keep it read-only; the line itself where none are known. `None` if it is no plain line, or where they
/// belong is not sure.
#[cfg(test)]
pub fn typed_form(line: &str) -> Option<String> {
    let reading = dialect::reading(Shell::Bash, line);
    with_words(line, &reading, parse::parse_plain(line).ok()?, Shell::Bash)
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
            edits.insert(end, &insertion.words.iter().map(|word| format!(" {word}")).collect::<String>())?;
        }
    }
    // A command of a loop stands in the line once, and is run for each word: what one run needs, all get. From the back, so that the
    // places before stay what they are.
    for (command, places) in commands.iter_mut().zip(&places) {
        for (at, place) in places.iter().enumerate().rev() {
            let words = reading.end_in_line(place.end).and_then(|end| edits.0.get(&end));
            let words = words.into_iter().flat_map(|words| words.split_ascii_whitespace()).map(bare);
            command.words.splice(at + 1..at + 1, words);
        }
    }
    let text = edits.apply(line);
    (text == line || reads_as(&text, shell, &commands)).then_some(text)
}

/// What is put into a line, by the byte in front of which it goes.
#[derive(Debug, Default)]
struct Edits(BTreeMap<usize, String>);

impl Edits {
    /// `None` if something else goes there: a command of a loop is run more than once, and typed once.
    fn insert(&mut self, at: usize, text: &str) -> Option<()> {
        let there = self.0.entry(at).or_insert_with(|| text.to_owned());
        (*there == text).then_some(())
    }

    fn apply(&self, line: &str) -> String {
        let mut text = line.to_owned();
        for (at, words) in self.0.iter().rev() {
            text.insert_str(*at, words);
        }
        text
    }
}

/// Whatever the places are worth: the result has to read as these commands, to both parsers.
fn reads_as(text: &str, shell: Shell, commands: &[SimpleCommand]) -> bool {
    let reading = dialect::reading(shell, text);
    parse::parse_plain(&reading.text).is_ok_and(|parsed| parsed == commands && is_confirmed(&reading, &parsed))
}

/// Whether the other parser reads these commands, too, and both of them what more there is in the line.
pub(super) fn is_confirmed(reading: &Reading, commands: &[SimpleCommand]) -> bool {
    is_sure(reading) && parse::is_confirmed(&reading.text, commands)
}

/// Whether both parsers find what more than plain commands there is in the line.
pub(super) fn is_sure(reading: &Reading) -> bool {
    reading.structure.as_ref().is_none_or(|structure| parse::finds_units(&reading.before, &structure.units))
}

fn bare(word: &str) -> Word {
    Word { text: word.to_owned(), is_bare: true, ..Word::default() }
}

#[cfg(test)]
mod tests;
