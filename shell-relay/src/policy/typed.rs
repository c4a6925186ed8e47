//! How a line is typed that runs unasked: with words that keep the programs of a line from starting others, from reading settings
//! that somebody else wrote, and from waiting at a pager. It is the line's own text with these words put in between, and nothing else.

mod ends;
mod words;

use std::path::PathBuf;

use super::{
    Context, Level, assess_line,
    command::{SimpleCommand, Word},
    dialect::{self, Reading},
    parse, repository,
};
use crate::shell::Shell;
use ends::word_ends;
use words::insertions;

/// Said where the words cannot be put in for sure.
const NOT_TYPED: &str = "it cannot be typed with the words that keep it read-only";

/// A line that runs unasked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unasked {
    /// What is typed.
    pub text: String,
    /// Folders in which it starts git: what is set there may name programs.
    pub git_folders: Vec<PathBuf>,
}

/// How `line` is typed where nobody is asked about it. A line that is not plainly read-only was agreed to as it stands.
///
/// # Errors
/// Why it has to be asked about.
pub fn unasked(line: &str, context: Context<'_>) -> Result<Unasked, &'static str> {
    let as_it_is = || Ok(Unasked { text: line.to_owned(), git_folders: Vec::new() });
    let reading = dialect::reading(context.shell, line);
    let Ok(commands) = parse::parse_plain(&reading.text) else { return as_it_is() };
    let is_concerned = commands.iter().any(|command| !insertions(&command.words).is_empty());
    if !is_concerned || assess_line(line, context).level > Level::Allow {
        return as_it_is();
    }
    let text = with_words(line, &reading, commands.clone(), context.shell).ok_or(NOT_TYPED)?;
    if assess_line(&text, context).level > Level::Allow {
        return Err(NOT_TYPED);
    }
    Ok(Unasked { text, git_folders: repository::git_folders(&commands, context) })
}

/// The line with the words that keep it read-only; the line itself where none are known. `None` if it is no plain line, or where they
/// belong is not sure.
#[cfg(test)]
pub fn typed_form(line: &str) -> Option<String> {
    let reading = dialect::reading(Shell::Bash, line);
    with_words(line, &reading, parse::parse_plain(line).ok()?, Shell::Bash)
}

fn with_words(line: &str, reading: &Reading, mut commands: Vec<SimpleCommand>, shell: Shell) -> Option<String> {
    let ends = word_ends(&reading.text);
    if ends.len() != commands.len() {
        return None;
    }
    let mut text = String::with_capacity(line.len());
    let mut copied = 0;
    for (command, ends) in commands.iter_mut().zip(&ends) {
        let insertions = insertions(&command.words);
        for insertion in &insertions {
            let end = reading.place_in_line(*ends.get(insertion.after)?)?;
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
    // Whatever the places are worth: the result has to read as these commands, to both parsers.
    let again = dialect::reading(shell, &text);
    let is_confirmed = text == line
        || parse::parse_plain(&again.text)
            .is_ok_and(|parsed| parsed == commands && parse::is_confirmed(&again.text, &parsed));
    is_confirmed.then_some(text)
}

fn bare(word: &str) -> Word {
    Word { text: word.to_owned(), is_bare: true, ..Word::default() }
}

#[cfg(test)]
mod tests;
