//! Splits a line into its commands, for people.

use cohab_secrets::as_words;
use cohab_shell_state::quote::literal;
use cohab_shell_syntax::{Join, Redirect, RedirectKind, SimpleCommand, Word, is_confirmed, parse_plain};

use super::{
    Context, Level,
    assess::{assess_line, reads_only_when_fed},
};

/// One command of a line, as it could be typed by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The command.
    pub text: String,
    /// The verdict on the command by itself, by its text alone.
    pub level: Level,
    /// The reasons, strictest first.
    pub reasons: Vec<String>,
}

/// The commands of `line` in order; empty if it cannot be split for sure, or is only one.
#[must_use]
pub fn parts(line: &str, context: Context<'_>) -> Vec<Part> {
    let words = as_words(line);
    let line = &*words;
    let Ok(commands) = parse_plain(line) else { return Vec::new() };
    if commands.len() < 2 || !is_confirmed(line, &commands) {
        return Vec::new();
    }
    let part = |command: &SimpleCommand| {
        let text = text_of(command);
        let verdict = assess_line(&text, context.without_files());
        let (level, reasons) = (verdict.level, verdict.reasons);
        // A command that waits for the keyboard when it is alone reads from the pipe here.
        let is_fed = command.join == Join::Pipe && level == Level::Ask && reads_only_when_fed(command, context);
        if is_fed { Part { text, level: Level::Allow, reasons: Vec::new() } } else { Part { text, level, reasons } }
    };
    commands.iter().map(part).collect()
}

fn text_of(command: &SimpleCommand) -> String {
    let words = command.words.iter().map(word_text);
    words.chain(command.redirects.iter().map(redirect_text)).collect::<Vec<_>>().join(" ")
}

fn word_text(word: &Word) -> String {
    let is_special = |c: char| (c == '*' || c == '?') && word.has_glob || c == '~' && word.has_tilde;
    if word.is_bare || word.text.chars().any(is_special) { word.text.clone() } else { literal(&word.text) }
}

fn redirect_text(redirect: &Redirect) -> String {
    let operator = match redirect.kind {
        RedirectKind::Read => "<",
        RedirectKind::Write => ">",
        RedirectKind::Append => ">>",
        RedirectKind::WriteAll => "&>",
        RedirectKind::Duplicate => ">&",
    };
    let fd = redirect.fd.map(|fd| fd.to_string()).unwrap_or_default();
    format!("{fd}{operator}{}", word_text(&redirect.target))
}
