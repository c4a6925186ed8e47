//! How a line is typed that runs unasked: with words that keep the programs of a line from starting others, from reading settings
//! that somebody else wrote, and from waiting at a pager. It is the line's own text with these words put in between, and nothing else.

mod lock;
mod places;
mod words;

use std::path::PathBuf;

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
    if !(is_concerned || context.lock.is_some()) || assess_line(line, context).level > Level::Allow {
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
    let locked = locked.filter(|locked| *locked != text);
    Ok(Unasked { text, locked, git_folders: repository::git_folders(&commands, context) })
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
    let mut text = String::with_capacity(line.len());
    let mut copied = 0;
    for (command, places) in commands.iter_mut().zip(&places) {
        let insertions = insertions(&command.words);
        for insertion in &insertions {
            let end = reading.place_in_line(places.get(insertion.after)?.end)?;
            text.push_str(line.get(copied..end)?);
            insertion.words.iter().for_each(|word| text.extend([" ", *word]));
            copied = end;
        }
        // From the back, so that the places before stay what they are.
        for insertion in insertions.iter().rev() {
            let at = insertion.after + 1;
            command.words.splice(at..at, insertion.words.iter().map(|word| bare(word)));
        }
    }
    text.push_str(line.get(copied..)?);
    (text == line || reads_as(&text, shell, &commands)).then_some(text)
}

/// Whatever the places are worth: the result has to read as these commands, to both parsers.
fn reads_as(text: &str, shell: Shell, commands: &[SimpleCommand]) -> bool {
    let reading = dialect::reading(shell, text);
    parse::parse_plain(&reading.text)
        .is_ok_and(|parsed| parsed == commands && parse::is_confirmed(&reading.text, &parsed))
}

fn bare(word: &str) -> Word {
    Word { text: word.to_owned(), is_bare: true, ..Word::default() }
}

#[cfg(test)]
mod tests;
