//! The rule for sentences that hold or begin with signs of the shell: `$? is 137, what does that mean`. What quotes, `echo` and comments
//! hold says nothing about a line; of the other words, those that commands rarely have count.

use super::{Case, Judge, Opinion, assistant, keywords, script, start, structure};
use crate::{
    builtins::is_keyword,
    first_word::{self, is_assignment},
    line::{Shape, Token},
    words::{Lower, SPEAKER, asks_about_rest, has, is_predicate, opens_request},
};

/// The points of a question mark behind a word.
const QUESTION: usize = 2;
/// The points that make a sentence of a line that begins with a command and has no signs.
const PLAIN: usize = 4;

pub(super) fn opinion(case: &Case<'_>) -> Opinion {
    let has_signs =
        [keywords::opinion, start::opinion, structure::opinion].iter().any(|rule: &Judge| rule(case).is_some());
    let needed = if has_signs || !case.standing.is_known() { needed(case)? } else { return None };
    if points(case) < needed {
        None
    } else if has_signs {
        assistant("reads as a sentence, although it has signs of the shell")
    } else {
        assistant("reads as a sentence")
    }
}

/// The same of a line that begins with a command.
pub(super) fn behind_command(case: &Case<'_>) -> Opinion {
    // Most commands are seen here to be none.
    let may_be_one = case.line.strong_count() > 0 || case.line.is_question() || !case.line.text.is_ascii();
    let is_one = case.standing.is_known() && may_be_one && points(case) >= PLAIN;
    if is_one { assistant("reads as a sentence") } else { None }
}

/// The points that make a sentence of a line; `None` if it is the shell's in any case.
fn needed(case: &Case<'_>) -> Option<usize> {
    let first = case.line.first()?;
    let text = first.text;
    let behind = case.line.tokens.get(first_word::head_at(case.line))?;
    let opens_subshell = text.strip_prefix('(').is_some_and(|name| name.is_empty() || case.is_command(name));
    let is_never = matches!(text, "{" | ":")
        || text.ends_with("()")
        || opens_subshell
        || text.contains("=(")
        || text.starts_with('#') && !text.starts_with("#!");
    match () {
        () if is_never => None,
        () if is_keyword(text) || text.starts_with('[') || case.line.signs.background => Some(5),
        // A question word behind it is no program: `IFS=: why the colon`. `WHAT=this is it` may be a program `is`.
        () if is_assignment(text)
            && behind.is_strong()
            && !is_predicate(behind.word)
            && !case.is_command(behind.text) =>
        {
            Some(2)
        }
        () if case.standing.is_known() || is_assignment(text) || names_history(text) => Some(4),
        () if text.starts_with('-') || text.contains("://") => Some(1),
        () if first.is_plain() || is_no_name(text) => Some(2),
        () => Some(3),
    }
}

/// Whether a word is a line of the history by its begin: `!make`.
fn names_history(text: &str) -> bool {
    text.strip_prefix('!').is_some_and(|name| name.starts_with(|first: char| first.is_ascii_alphanumeric()))
}

/// Whether a word names nothing that could run: a folder, signs and digits only.
fn is_no_name(text: &str) -> bool {
    text.ends_with('/') || text.bytes().all(|byte| byte.is_ascii_punctuation() || byte.is_ascii_digit())
}

/// How much a line reads as a sentence.
fn points(case: &Case<'_>) -> usize {
    let line = case.line;
    let first = line.tokens.first().map_or("", |first| first.text);
    let is_compound = is_keyword(first);
    let (mut points, mut has_predicate, mut was_comma) = (0, false, false);
    for (at, token, is_head) in (Spoken { tokens: &line.tokens, at: 0, is_head: true }) {
        let counts = match at {
            0 => !(case.standing.is_known() || names_history(first)),
            // `ls; which less`
            _ if is_head => !case.is_command(token.text.trim_end_matches(';')),
            _ => !(is_compound && is_keyword(token.text)),
        };
        has_predicate |= at > 0 && is_predicate(token.word);
        let opens = was_comma && opens_request(&Lower::of(token.word));
        let asks = at > 0 && asks_about_rest(token.word);
        points += [counts && token.is_strong(), opens, asks].map(usize::from).iter().sum::<usize>();
        points += script::words_in(token);
        was_comma = token.text.ends_with([',', ':', '?', '.']) && token.text.len() > 1;
    }
    let asks = line.is_question() && line.tokens.last().is_some_and(|last| last.is_plain() || last.word.is_empty());
    points + usize::from(asks) * QUESTION + usize::from(has_predicate) + usize::from(line.signs.comma)
}

/// The words of a line that somebody says: not what is quoted, what a command prints, or what follows `#`. With its place comes whether a
/// word is the first one of a command.
struct Spoken<'a> {
    tokens: &'a [Token<'a>],
    at: usize,
    /// Whether the next word is the first one of a command.
    is_head: bool,
}

impl<'a> Iterator for Spoken<'a> {
    type Item = (usize, &'a Token<'a>, bool);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let at = self.at;
            let token = self.tokens.get(at)?;
            if token.text == "#" {
                return None;
            }
            self.at += 1;
            let (is_behind, word) = last_command(token);
            let is_head = self.is_head || is_behind;
            self.is_head = is_behind && word.is_empty() || is_head && is_keyword(word);
            if is_head && has(word, SPEAKER) {
                let rest = &self.tokens[self.at..];
                self.at += rest.iter().position(|token| last_command(token).0).unwrap_or(rest.len());
            } else if token.shape != Shape::Quoted {
                return Some((at, token, is_head && !is_behind));
            }
        }
    }
}

/// Whether a sign in a word ends a command, and the text behind the last one: of `sort|echo`, `echo`.
fn last_command<'a>(token: &Token<'a>) -> (bool, &'a str) {
    let signs = if token.shape == Shape::Quoted { None } else { token.text.rfind(['|', ';', '&']) };
    signs.map_or((false, token.text), |at| (true, &token.text[at + 1..]))
}
