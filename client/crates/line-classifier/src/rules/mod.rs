//! The rules, which decide without weights. Each file holds one rule. The rules are asked in the order of [`RULES`]; the first rule with
//! an opinion decides. Lines without an opinion are left to the linear model.

mod forced;
mod free_text;
mod happening;
mod harm;
mod keywords;
mod message;
mod named;
mod own;
mod pair;
mod phrases;
mod relation;
mod script;
mod sentence;
mod single;
mod start;
mod structure;
mod tools;
mod verbs;

use super::{Decision, Names, first_word::Standing, line::Line, reason::Reason, weights::Weights};

/// A line and the known facts about it.
#[derive(Clone, Copy)]
pub struct Case<'a> {
    /// The parsed line.
    pub line: &'a Line<'a>,
    /// The line as it was typed.
    pub whole: &'a str,
    /// Facts about its first word.
    pub standing: Standing,
    /// Looks up words in the user's shell.
    pub names: &'a dyn Names,
    /// The learned weights.
    pub weights: &'a Weights,
}

impl Case<'_> {
    /// Whether the word is a command: of the user's shell, or a program that is not installed.
    fn is_command(&self, word: &str) -> bool {
        super::builtins::is_builtin_somewhere(word) || self.weights.knows(word) || self.names.resolves(word)
    }
}

/// Whether the second word is a predicate of the first: `docker is slow`, `apt says no`.
fn has_predicate(case: &Case<'_>) -> bool {
    case.line.tokens.get(1).is_some_and(|second| super::words::is_predicate(second.word))
}

/// The opinion of a rule, if it has one.
pub type Opinion = Option<(Decision, Reason)>;

/// A rule.
pub type Rule = fn(&Case<'_>) -> Opinion;

/// All rules by name, in the order in which they are asked.
pub const RULES: &[(&str, Rule)] = &[
    ("own", own::opinion),
    ("forced", forced::opinion),
    ("message", message::opinion),
    ("named", named::opinion),
    ("sentence", sentence::opinion),
    ("harm", harm::opinion),
    ("happening", happening::opinion),
    ("keywords", keywords::opinion),
    ("start", start::opinion),
    ("structure", structure::opinion),
    ("phrases", phrases::opinion),
    ("single", single::opinion),
    ("free_text", free_text::opinion),
    ("sentence behind a command", sentence::behind_command),
    ("relation", relation::opinion),
    ("script", script::opinion),
    ("pair", pair::opinion),
    ("tools", tools::opinion),
    ("verbs", verbs::opinion),
];

/// The first opinion, with the name of its rule.
#[must_use]
pub fn first_opinion(case: &Case<'_>) -> Option<(&'static str, Decision, Reason)> {
    RULES.iter().find_map(|(name, rule)| rule(case).map(|(decision, reason)| (*name, decision, reason)))
}

fn shell(reason: &'static str) -> Opinion {
    Some((Decision::Shell, reason.into()))
}

fn assistant(reason: &'static str) -> Opinion {
    Some((Decision::Assistant, reason.into()))
}

fn shell_for(word: &str, what: &str) -> Opinion {
    Some((Decision::Shell, Reason::about(word, what)))
}
