//! Decides whether a line is natural language or a command, one line at a time, before Enter takes effect.
//!
//! [`judge`] reads the line once ([mod@line]). The first of the [`rules`] that has an opinion decides; for all other lines a linear
//! model does, over [`features`] and hashed words ([`hashing`]), with [`weights`] that `scripts/train-gate` learned. Near the threshold
//! of the model, the files that the line names are looked at, too. In doubt the shell gets the line.
//!
//! - [`Names`] says what a word is in the user's shell and folder; the caller implements it.
//! - [`corrections`] remembers lines that the user sent elsewhere; [`explain`] shows people how a line was judged.
//!
//! This crate is pure: it looks at no file, no environment and no clock.

pub mod builtins;

pub mod corrections;
pub mod explain;
pub mod features;
pub mod hashing;
pub mod line;

pub mod first_word;
pub mod reason;
pub mod rules;
pub mod weights;
pub mod words;

#[cfg(test)]
mod adversarial_tests;
#[cfg(test)]
mod decision_tests;
#[cfg(test)]
mod held_out_tests;
#[cfg(test)]
mod judge_tests;
#[cfg(test)]
mod property_tests;
#[cfg(any(test, feature = "testing"))]
pub mod test_names;

use first_word::Standing;
use line::{Line, Shape};
use reason::Reason;
use weights::Weights;

/// What the sum of weights must exceed for the assistant.
const THRESHOLD: f32 = 0.0;
/// So little above the threshold the files that the line names are looked at.
const UNSURE: f32 = 2.0;
/// How many arguments are looked at.
const MAX_LOOKS: usize = 4;

/// Who gets a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Decision {
    /// The shell: it is a command, or may be one.
    Shell,
    /// The assistant: it is natural language.
    Assistant,
}

impl Decision {
    /// Its word in files and on standard output: `shell` or `ai`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Shell => "shell",
            Self::Assistant => "ai",
        }
    }
}

/// A decision about a line, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// Who gets it.
    pub decision: Decision,
    /// Why, a few words for people.
    pub reason: String,
    /// A rule decided, and not the weights.
    pub is_by_rule: bool,
}

/// What the words of a line are in the user's shell and folder.
pub trait Names {
    /// Whether the shell would run something by this name: an alias, a function, a builtin, a program on its `PATH`.
    fn resolves(&self, name: &str) -> bool;
    /// Whether a file, a target of the build, a branch by this name is there.
    fn exists(&self, argument: &str) -> bool;
}

/// Judges a line.
#[must_use]
pub fn judge(line: &str, names: &dyn Names) -> Judgement {
    let verdict = decide(&Line::read(line), line, names, Weights::embedded());
    Judgement { decision: verdict.decision, reason: verdict.reason.text, is_by_rule: verdict.rule.is_some() }
}

/// A decision with all that led to it.
#[derive(Clone, Debug)]
pub struct DecisionTrace {
    /// Who gets the line.
    pub decision: Decision,
    /// Why.
    pub reason: Reason,
    /// What is known of the first word.
    pub standing: Standing,
    /// The rule that decided, or nothing if the weights did.
    pub rule: Option<&'static str>,
    /// The sum of the weights; nothing if it was not needed.
    pub score: Option<f32>,
}

/// Decides about a line that was read; `whole` is the line as it was typed.
#[must_use]
pub fn decide(line: &Line<'_>, whole: &str, names: &dyn Names, weights: &Weights) -> DecisionTrace {
    let standing = Standing::of(line, names, weights);
    let case = rules::Case { line, whole, standing, names, weights };
    if let Some((rule, decision, reason)) = rules::first_opinion(&case) {
        return DecisionTrace { decision, reason, standing, rule: Some(rule), score: None };
    }
    let score = score(line, standing, weights);
    if score > THRESHOLD
        && score < THRESHOLD + UNSURE
        && let Some(found) = existing_argument(line, standing, names)
    {
        let reason = Reason::about(found, "is here, so it is meant as an argument");
        return DecisionTrace { decision: Decision::Shell, reason, standing, rule: Some("exists"), score: Some(score) };
    }
    let decision = if score > THRESHOLD { Decision::Assistant } else { Decision::Shell };
    let reason = reason::of_score(line, standing, decision);
    DecisionTrace { decision, reason, standing, rule: None, score: Some(score) }
}

/// The sum of the weights: the higher, the more the line reads as language.
#[must_use]
pub fn score(line: &Line<'_>, standing: Standing, weights: &Weights) -> f32 {
    let features = features::features(line, standing);
    let dense: f32 = features.iter().zip(&weights.dense).map(|(value, weight)| value * weight).sum();
    let mut hashed: i32 = 0;
    hashing::each_hashed(line, |_, _, index| hashed += i32::from(weights.hashed[index]));
    weights.bias + dense + hashed as f32 * weights.scale
}

/// An argument that is there: a file, a target, a branch. Plain words count only where nothing reads as a sentence, and behind a word that
/// is no command nothing is an argument.
fn existing_argument<'a>(line: &Line<'a>, standing: Standing, names: &dyn Names) -> Option<&'a str> {
    let is_prose = line.strong_count() > 0;
    let asked = line.tokens.iter().enumerate().filter(|(at, token)| match token.shape {
        _ if *at > 0 && !standing.is_known() => false,
        Shape::Path => true,
        Shape::Plain => *at > 0 && !is_prose && !token.is_stop(),
        Shape::Other => *at > 0 && token.text.is_ascii(),
        Shape::Flag | Shape::Number | Shape::Quoted => false,
    });
    asked.take(MAX_LOOKS).map(|(_, token)| token.text).find(|text| names.exists(text))
}
