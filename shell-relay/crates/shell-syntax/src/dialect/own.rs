//! Rewrites syntax of zsh or fish alone in bash syntax: a text of the same commands, for the parsers. A form that is not surely
//! the same is left unchanged, and the line is asked about.

pub(crate) mod qualifiers;
mod words;

use std::{mem::take, ops::Range};

use cohab_shell_state::shell::Shell;
use words::{RawSpan, spans};

use crate::{
    bytes::{self, MAX_LINE_BYTES},
    structure::{self, Piece, Structure},
    vocabulary::Vocabulary,
};

/// A line as plain commands in the words of bash.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// The plain commands in bash syntax; the line itself where a form is not surely the same.
    pub text: String,
    /// The parts of the line and their replacements: in `text`, or with a structure in its source text.
    pieces: Vec<Piece>,
    /// The part of the line beyond plain commands.
    pub structure: Option<Structure>,
    /// The reason why `structure` is absent, if the line has more than plain commands.
    pub refused: Option<&'static str>,
}

/// Commands of fish that only join the command behind them to the one before.
const JOINERS: &[&str] = &["and", "or", "not"];
/// Words of fish that begin a block or give a variable a value; in bash they would be commands.
const BLOCKS: &[&str] = &["begin", "set ", "switch "];
/// Commands that may change how the line's own shell runs.
const SETTINGS: &[&str] = &["set -", "shopt -"];
/// Largest number of words that one word becomes.
const MAX_CHOICES: usize = 20;

/// The command that a word belongs to.
struct Of<'a> {
    name: &'a str,
    vocabulary: &'a dyn Vocabulary,
    /// The word is the last one of the command.
    is_last: bool,
    /// The program's output may be words of another command.
    hands_on: bool,
}

/// `line` as plain commands in bash syntax, as far as that is known for sure.
#[must_use]
pub fn reading(shell: Shell, line: &str, vocabulary: &dyn Vocabulary) -> Reading {
    let (text, pieces) = in_words_of_bash(shell, line, vocabulary);
    let has_blocks = shell == Shell::Fish && BLOCKS.iter().any(|word| text.contains(word));
    let mut refused = None;
    let has_settings = SETTINGS.iter().any(|words| text.contains(words));
    if has_blocks || has_settings || bytes::why_not_plain(&text).is_some() || text.contains(['=', '[']) {
        let in_bash = match shell {
            Shell::Fish => structure::in_bash(line),
            Shell::Zsh if text == line && text.contains("{ ") => Some(with_separators(line)),
            _ => Some((text.clone(), pieces.clone())),
        };
        let read = in_bash.map(|(text, pieces)| (structure::read(shell, &text, vocabulary), pieces));
        match read {
            Some((Ok(mut structure), pieces)) => {
                let plain = take(&mut structure.text);
                let mut reading = Reading { pieces, ..Reading::default() };
                let behind_cd = structure.behind_cd;
                if let Some(behind_cd) = (behind_cd == 0).then_some(0).or_else(|| reading.start_in_line(behind_cd)) {
                    structure.behind_cd = behind_cd;
                    (reading.text, reading.structure) = (plain, Some(structure));
                    return reading;
                }
            }
            Some((Err(reason), _)) => refused = reason,
            None => {}
        }
    }
    Reading { text, pieces, refused, ..Reading::default() }
}

fn in_words_of_bash(shell: Shell, line: &str, vocabulary: &dyn Vocabulary) -> (String, Vec<Piece>) {
    let changes = match shell {
        // A longer line is never allowed.
        Shell::Zsh | Shell::Fish if line.len() <= MAX_LINE_BYTES => {
            spans(line).map(|spans| changes(shell, line, &spans, vocabulary)).unwrap_or_default()
        }
        _ => Vec::new(),
    };
    let (mut text, mut pieces, mut copied) = (String::with_capacity(line.len()), Vec::new(), 0);
    let mut add = |words: &str, in_line: Range<usize>, is_copy| {
        let in_text = text.len()..text.len() + words.len();
        text.push_str(words);
        pieces.push(Piece { in_text, in_line, is_copy });
    };
    for (range, words) in changes {
        add(&line[copied..range.start], copied..range.start, true);
        copied = range.end;
        add(&words, range, false);
    }
    add(&line[copied..], copied..line.len(), true);
    (text, pieces)
}

/// Closes groups with a separator in front, which zsh does not need.
fn with_separators(line: &str) -> (String, Vec<Piece>) {
    let (mut text, mut pieces, mut copied) = (String::with_capacity(line.len()), Vec::new(), 0);
    let mut quote = None;
    for (at, c) in line.char_indices() {
        match (quote, c) {
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            (None, '}')
                if line[..at].ends_with([' ', '\n']) && !line[..at].trim_end().ends_with([';', '{', '}', '&', '|']) =>
            {
                let start = text.len();
                text.push_str(&line[copied..at]);
                pieces.push(Piece { in_text: start..text.len(), in_line: copied..at, is_copy: true });
                text.push_str("; ");
                copied = at;
            }
            _ => {}
        }
    }
    let start = text.len();
    text.push_str(&line[copied..]);
    pieces.push(Piece { in_text: start..text.len(), in_line: copied..line.len(), is_copy: true });
    (text, pieces)
}

impl Reading {
    /// The byte of the line at which the word begins that begins at the byte `at` of `text`; `None` if that byte is inside a replacement.
    #[must_use]
    pub fn start_in_line(&self, at: usize) -> Option<usize> {
        let piece = self.pieces.iter().find(|piece| piece.in_text.contains(&at))?;
        let inside = at - piece.in_text.start;
        (piece.is_copy || inside == 0).then_some(piece.in_line.start + inside)
    }

    /// The same of where a word ends.
    #[must_use]
    pub fn end_in_line(&self, at: usize) -> Option<usize> {
        let piece = self.pieces.iter().find(|piece| piece.in_text.start < at && at <= piece.in_text.end)?;
        let missing = piece.in_text.end - at;
        (piece.is_copy || missing == 0).then(|| piece.in_line.end - missing)
    }
}

/// The replacements and the bytes that they replace, in order and without overlap.
fn changes(shell: Shell, line: &str, spans: &[RawSpan], vocabulary: &dyn Vocabulary) -> Vec<(Range<usize>, String)> {
    let mut found = Vec::new();
    // The output is a list of words there: no word may be left out, or differ from its judged form.
    let hands_on = line.contains("xargs");
    let mut is_name = true;
    let mut name = "";
    for (at, span) in spans.iter().enumerate() {
        is_name |= span.begins_command;
        let raw = &line[span.range.clone()];
        if shell == Shell::Fish && is_name && JOINERS.contains(&raw) {
            found.push((span.range.clone(), String::new()));
            continue;
        }
        if shell == Shell::Zsh && span.is_target && span.begins_command {
            if let Some(moved) = moved_input(line, spans, at) {
                found.extend(moved);
            }
            continue;
        }
        let mut of_command = spans[at + 1..].iter().take_while(|span| !span.begins_command);
        let is_last = raw.ends_with(')') && of_command.all(|span| span.is_target);
        let command = Of { name, vocabulary, is_last, hands_on };
        if !is_name
            && !span.is_target
            && let Some(text) = plain_word(shell, raw, &command)
        {
            found.push((span.range.clone(), text));
        }
        if is_name && !span.is_target {
            // The name follows the launcher.
            let word = |at: usize| spans.get(at).map_or("", |span| &line[span.range.clone()]);
            name = if raw.starts_with('/') && word(at + 1) == "--" { word(at + 2) } else { raw };
            is_name = false;
        }
    }
    found.sort_by_key(|(range, _)| (range.start, range.end));
    found
}

/// `<file cmd a` is `cmd a <file`, as long as nothing else is redirected.
fn moved_input(line: &str, spans: &[RawSpan], at: usize) -> Option<[(Range<usize>, String); 2]> {
    let target = &spans[at];
    let sign = line[..target.range.start].trim_end_matches([' ', '\t']).strip_suffix('<')?.len();
    let is_plain = line[..sign].trim_end_matches([' ', '\t']).is_empty()
        || line[..sign].trim_end_matches([' ', '\t']).ends_with([';', '|', '\n', '&']);
    let of_command = spans[at + 1..].iter().take_while(|span| !span.begins_command);
    let last = of_command.clone().last()?;
    if !is_plain || of_command.clone().any(|span| span.is_target || line[span.range.clone()].contains(['(', '{'])) {
        return None;
    }
    let input = line[sign..target.range.end].to_owned();
    Some([(sign..target.range.end, String::new()), (last.range.end..last.range.end, format!(" {input}"))])
}

/// The bash form of a word of this shell; `None` if it is the same.
fn plain_word(shell: Shell, raw: &str, command: &Of<'_>) -> Option<String> {
    let chosen = match shell {
        Shell::Zsh if command.hands_on => None,
        Shell::Zsh if raw.starts_with('=') => program(raw, command),
        Shell::Zsh => match qualifiers::without(raw, command) {
            Some(bare) => choices(bare, '(', '|', ')')
                .filter(|_| has_wildcard(bare))
                .or_else(|| (!bare.contains('(')).then(|| bare.to_owned())),
            None => choices(raw, '(', '|', ')').filter(|_| has_wildcard(raw)),
        },
        _ => None,
    };
    match choices(chosen.as_deref().unwrap_or(raw), '{', ',', '}') {
        Some(_) if chosen.is_some() => None,
        Some(words) => Some(words),
        None => chosen,
    }
}

/// A word in the place of `=ls`, which is the place of that program: another plain path.
fn program(raw: &str, command: &Of<'_>) -> Option<String> {
    let name = raw.strip_prefix('=')?;
    let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    (is_plain && !name.is_empty() && command.vocabulary.reports_programs(command.name)).then(|| format!("./{name}"))
}

/// Whether a pattern stands in a word outside of what is quoted in it.
fn has_wildcard(raw: &str) -> bool {
    raw.contains(['*', '?']) && !raw.contains(['\'', '"', '\\'])
}

/// The words of `a{b,c}d`, as one text; `None` if it is not a plain list of choices.
fn choices(raw: &str, open: char, between: char, close: char) -> Option<String> {
    let (before, rest) = raw.split_once(open)?;
    let (inside, after) = rest.split_once(close)?;
    let is_plain_name = |text: &str| {
        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte))
    };
    let are_plain = inside.contains(between) && inside.split(between).all(is_plain_name);
    let signs = ['(', ')', '{', '}', '\'', '"', '\\', '$', '`', '~'];
    let is_lone = ![before.strip_prefix("~/").unwrap_or(before), after].concat().contains(signs);
    let is_joined = before.ends_with(['@', '^', '*', '?', '+', '!', '#']) || (open == '(' && before.is_empty());
    if !are_plain || !is_lone || is_joined || inside.split(between).count() > MAX_CHOICES {
        return None;
    }
    Some(inside.split(between).map(|choice| format!("{before}{choice}{after}")).collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests;
