//! Finished turns as a model reads them, and the facts in its answer. Pure.
//!
//! Turns that had read text of strangers are left out. The user's own commands are no part of a turn, so they are never sent. The answer is
//! checked fact by fact: what does not have the form is dropped.

use std::path::{Path, PathBuf};

use cohab_secrets::holds_placeholder;
use cohab_text::{
    cut::head,
    sanitize::{one_line, sanitize},
};
use jiff::{Timestamp, ToSpan as _, tz::TimeZone};
use serde::Deserialize;

use crate::{
    inbox::{NewProposal, Proposed},
    past::record::{NewTurn, PastTurn},
    record::{LEAST_TRUST, Scope, Source},
    statement,
};

/// The model's task.
pub const PROMPT: &str = include_str!("prompt.md");
/// Most turns of one request.
pub const MAX_EPISODES: usize = 50;
/// Most facts of one answer; further ones are dropped.
pub const MAX_FACTS: usize = 5;
/// Longest fact, in characters.
const MAX_FACT_CHARS: usize = 200;
/// Most bytes of the texts of a turn.
const QUESTION_BYTES: usize = 400;
const ANSWER_BYTES: usize = 600;
const LINE_BYTES: usize = 160;
/// Most commands of a turn.
const MAX_COMMANDS: usize = 8;
/// A request waits for so many turns, or until the oldest one is so old.
const GATHERED: usize = 5;
const GATHERED_HOURS: i64 = 1;
/// Trust of what a model wrote, at most.
const TRUST: f64 = 0.7;

/// Whether it is time to look at these turns, the oldest first: a request for each one would cost more than it is worth.
#[must_use]
pub fn is_due(turns: &[PastTurn], now: Timestamp) -> bool {
    let is_old = |turn: &PastTurn| now.checked_sub(GATHERED_HOURS.hours()).is_ok_and(|old| turn.turn.at <= old);
    turns.len() >= GATHERED || turns.first().is_some_and(is_old)
}

/// Turns of one request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Episodes<'a> {
    /// What the model reads; empty if none of the turns may be read.
    pub text: String,
    /// The number of the last turn that is looked at or left out by this request.
    pub last: Option<u64>,
    turns: Vec<&'a NewTurn>,
}

impl<'a> Episodes<'a> {
    /// As many of these turns as fit into so many bytes, at least one, between marks that no turn can guess. Those for which `may_read` returns
    /// false are left out, and so are those that had read text of strangers.
    #[must_use]
    pub fn of(turns: &'a [PastTurn], max_bytes: usize, mark: &str, may_read: &dyn Fn(&NewTurn) -> bool) -> Self {
        let mut episodes = Self::default();
        for PastTurn { id, turn } in turns.iter().take(MAX_EPISODES) {
            if turn.trust >= LEAST_TRUST && may_read(turn) {
                let text = episode(turn, episodes.turns.len() + 1, mark);
                if !episodes.text.is_empty() && episodes.text.len() + text.len() > max_bytes {
                    break;
                }
                episodes.text.push_str(&text);
                episodes.turns.push(turn);
            }
            episodes.last = Some(*id);
        }
        episodes
    }

    /// The facts in an answer, with the turns that they come from; `root` returns the root of the project around a folder.
    #[must_use]
    pub fn facts(&self, answer: &str, root: &dyn Fn(&Path) -> PathBuf) -> Vec<NewProposal> {
        let Ok(AnsweredFacts { facts }) = serde_json::from_str(bare(answer)) else { return Vec::new() };
        let mut proposals = Vec::<NewProposal>::new();
        for fact in facts.into_iter().filter_map(|fact| self.fact(fact, root)) {
            if proposals.len() < MAX_FACTS && proposals.iter().all(|known| known.what != fact.what) {
                proposals.push(fact);
            }
        }
        proposals
    }

    fn fact(&self, value: serde_json::Value, root: &dyn Fn(&Path) -> PathBuf) -> Option<NewProposal> {
        let fact: AnsweredFact = serde_json::from_value(value).ok()?;
        let turn = self.turns.get(fact.episode.checked_sub(1)?)?;
        let text = statement::clean(&fact.text).ok()?;
        // A text that has to be cleaned was not written as a fact.
        if text != fact.text || text.chars().count() > MAX_FACT_CHARS || holds_placeholder(&text) {
            return None;
        }
        // The model may have mixed them up: no fact is worth more than the least of them.
        let trust = self.turns.iter().map(|turn| turn.trust).fold(TRUST, f64::min);
        let day = turn.at.to_zoned(TimeZone::UTC).strftime("%-d %b %Y");
        Some(NewProposal {
            what: Proposed::Fact { text },
            scope: match fact.scope {
                AnsweredScope::Project => Scope::Project(root(&turn.folder)),
                AnsweredScope::User => Scope::Everywhere,
            },
            trust,
            sources: vec![Source::Turn(turn.turn.clone())],
            evidence: format!("read in a conversation of {day}"),
            folder: turn.folder.clone(),
        })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AnsweredFacts {
    facts: Vec<serde_json::Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AnsweredFact {
    episode: usize,
    scope: AnsweredScope,
    text: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum AnsweredScope {
    Project,
    User,
}

/// The answer without the fence of a code block around it.
fn bare(answer: &str) -> &str {
    let answer = answer.trim();
    let inside = answer.strip_prefix("```json").or_else(|| answer.strip_prefix("```"));
    inside.and_then(|inside| inside.strip_suffix("```")).unwrap_or(answer).trim()
}

/// A turn with each line behind a bar.
fn episode(turn: &NewTurn, number: usize, mark: &str) -> String {
    let mut text = format!("<episode {number} {mark}>\n");
    let mut add = |what: &str, part: &str, most: usize| {
        for line in sanitize(head(part, most)).lines().filter(|line| !line.trim().is_empty()) {
            text.push_str(&format!("| {what}{line}\n"));
        }
    };
    add("folder: ", &one_line(&turn.folder.to_string_lossy(), LINE_BYTES), LINE_BYTES);
    add("user: ", &turn.question, QUESTION_BYTES);
    for command in turn.commands.iter().take(MAX_COMMANDS) {
        let outcome = command.exit_code.map_or_else(|| "did not end".to_owned(), |code| format!("exit {code}"));
        add(&format!("ran ({outcome}): "), &command.line, LINE_BYTES);
    }
    add("assistant: ", &turn.answer, ANSWER_BYTES);
    text + &format!("</episode {mark}>\n")
}

#[cfg(test)]
#[path = "episodes_tests.rs"]
mod tests;
