//! The rules, which decide without weights. Each file holds one rule. The rules are asked in the order of [`RULES`]; the first rule
//! with an opinion decides.

mod free_text;
mod keywords;
mod pair;
mod phrases;
mod script;
mod single;
mod start;
mod structure;
mod tools;
mod verbs;

use super::{Decision, Names, first_word::Standing, line::Line, reason::Reason, weights::Weights};

/// A line and what is known about it.
#[derive(Clone, Copy)]
pub struct Case<'a> {
    /// As it was read.
    pub line: &'a Line<'a>,
    /// As it was typed.
    pub whole: &'a str,
    /// What is known of its first word.
    pub standing: Standing,
    /// What the words of the line are in the user's shell.
    pub names: &'a dyn Names,
    /// What was learned.
    pub weights: &'a Weights,
}

impl Case<'_> {
    /// Whether this word would be run: by the user's shell, or by that of someone who has the program.
    fn is_command(&self, word: &str) -> bool {
        super::builtins::is_builtin_somewhere(word) || self.weights.knows(word) || self.names.resolves(word)
    }
}

/// `docker is slow`, `apt says no`: the second word says something about the first.
fn has_predicate(case: &Case<'_>) -> bool {
    case.line.tokens.get(1).is_some_and(|second| super::words::is_predicate(second.word))
}

/// What a rule thinks.
pub type Opinion = Option<(Decision, Reason)>;

/// A rule.
pub type Rule = fn(&Case<'_>) -> Opinion;

/// All rules by name, in the order in which they are asked.
pub const RULES: &[(&str, Rule)] = &[
    ("start", start::opinion),
    ("keywords", keywords::opinion),
    ("structure", structure::opinion),
    ("phrases", phrases::opinion),
    ("single", single::opinion),
    ("script", script::opinion),
    ("pair", pair::opinion),
    ("free_text", free_text::opinion),
    ("tools", tools::opinion),
    ("verbs", verbs::opinion),
];

/// The first opinion there is, and the name of its rule.
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

#[cfg(test)]
pub(super) fn phrases_said() -> &'static [&'static str] {
    phrases::SAID
}

#[cfg(test)]
pub(super) fn tools_operands() -> &'static [&'static str] {
    tools::OPERANDS
}
