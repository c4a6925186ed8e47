//! The rules, which decide without weights. Each file holds one rule. The rules are asked in the order of [`RULES`]; the first rule with
//! an opinion decides. Lines without an opinion are left to the linear model, which also overrules some rules where it clearly sees language.

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
mod runner;
mod script;
mod sentence;
mod single;
mod start;
mod structure;
mod tools;
mod unreadable;
mod verbs;

use super::{
    decision::Decision, first_word::Standing, line::Line, names::Names, reason::Reason, score::score, weights::Weights,
};

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

/// What a rule is called with and returns.
pub type Judge = fn(&Case<'_>) -> Opinion;

/// A rule.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Its name.
    pub name: &'static str,
    judge: Judge,
    /// Whether weights that clearly see language overrule it where it gives a line to the shell.
    yields: bool,
}

const fn firm(name: &'static str, judge: Judge) -> Rule {
    Rule { name, judge, yields: false }
}

const fn yielding(name: &'static str, judge: Judge) -> Rule {
    Rule { name, judge, yields: true }
}

/// All rules, in the order in which they are asked.
pub const RULES: &[Rule] = &[
    firm("own", own::opinion),
    firm("unreadable", unreadable::opinion),
    firm("forced", forced::opinion),
    firm("message", message::opinion),
    firm("named", named::opinion),
    firm("sentence", sentence::opinion),
    firm("harm", harm::opinion),
    firm("happening", happening::opinion),
    firm("keywords", keywords::opinion),
    yielding("start", start::opinion),
    yielding("structure", structure::opinion),
    firm("phrases", phrases::opinion),
    firm("single", single::opinion),
    firm("free_text", free_text::opinion),
    yielding("runner", runner::opinion),
    firm("sentence behind a command", sentence::behind_command),
    firm("relation", relation::opinion),
    firm("script", script::opinion),
    yielding("pair", pair::opinion),
    yielding("tools", tools::opinion),
    firm("verbs", verbs::opinion),
];

/// The sum of weights above which a line is language although a rule sees a command.
const OVERRULES: f32 = 0.75;

/// The first opinion, with the name of its rule.
#[must_use]
pub fn first_opinion(case: &Case<'_>) -> Option<(&'static str, Decision, Reason)> {
    let (rule, (decision, reason)) = RULES.iter().find_map(|rule| (rule.judge)(case).map(|opinion| (rule, opinion)))?;
    if decision == Decision::Shell && rule.yields && is_overruled(case) {
        let reason = "reads as a sentence, although it has signs of a command";
        return Some((rule.name, Decision::Assistant, reason.into()));
    }
    Some((rule.name, decision, reason))
}

/// Least words of a sentence with a sign that connects commands or files.
const SENTENCE_WITH_SIGNS: usize = 6;
/// Least words of a sentence about a variable: `$EDITOR the notes` is none.
const SENTENCE_OF_VARIABLE: usize = 4;

/// Whether the weights clearly see language. No sentence begins with a comment, a line of the history or the path of a script.
fn is_overruled(case: &Case<'_>) -> bool {
    let first = case.line.first().map_or("", |first| first.text);
    if first.starts_with(['#', '!', '~']) || first.starts_with("./") || first.starts_with("../") {
        return false;
    }
    let signs = case.line.signs;
    let needed = match () {
        () if signs.pipe || signs.redirection || signs.separator || signs.background => SENTENCE_WITH_SIGNS,
        () if first.starts_with('$') => SENTENCE_OF_VARIABLE,
        () => 0,
    };
    case.line.tokens.len() >= needed && score(case.line, case.standing, case.weights) > OVERRULES
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
