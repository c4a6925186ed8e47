//! Decides whether a line is natural language or a command, one line at a time, before Enter takes effect.
//!
//! [`judge`] reads the line once ([mod@line]). The first of the [`rules`] with an opinion decides; for all other lines a linear model
//! decides, over [`features`] and hashed words ([`hashing`]), with [`weights`] that `scripts/train-gate` learned. The model also overrules
//! rules that saw no more than signs of a command. Near its threshold, files named in the line count, too. In doubt the shell gets the line.
//!
//! - [`Names`] looks up words in the user's shell and folder; the caller implements it.
//! - [`corrections`] remembers lines that the user sent elsewhere; [`explain`] explains a decision to people.
//!
//! This crate is pure: it reads no file, no environment and no clock.

pub mod builtins;

pub mod corrections;
pub mod explain;
pub mod feature_names;
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

/// A sum of weights above this means the assistant.
const THRESHOLD: f32 = 0.0;
/// Added to the sum of a line whose well-known command is not here: it could not run, so less is lost if the assistant gets it.
const ABSENT: f32 = 0.5;
/// Within this distance above the threshold, files named in the line count, too.
const UNSURE: f32 = 2.0;
/// Most arguments that are looked up.
const MAX_LOOKS: usize = 4;

/// The receiver of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Decision {
    /// The shell: the line is a command, or may be one.
    Shell,
    /// The assistant: the line is natural language.
    Assistant,
}

impl Decision {
    /// Its name in files and on standard output: `shell` or `ai`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Shell => "shell",
            Self::Assistant => "ai",
        }
    }
}

/// A decision about a line, with its reason.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// The receiver of the line.
    pub decision: Decision,
    /// The reason, a few words for people.
    pub reason: String,
    /// Whether a rule decided, and not the weights.
    pub is_by_rule: bool,
}

/// Looks up words of a line in the user's shell and folder.
pub trait Names {
    /// Whether the shell would run something by this name: an alias, a function, a builtin, a program on its `PATH`.
    fn resolves(&self, name: &str) -> bool;
    /// Whether a file, a build target or a branch of this name exists.
    fn exists(&self, argument: &str) -> bool;
    /// Whether the user has given this name to something in their shell: an alias, a function, an abbreviation.
    fn is_own(&self, _name: &str) -> bool {
        false
    }
    /// The subcommands of `cohab` itself, if it is known here.
    fn subcommands_of_cohab(&self) -> &[&str] {
        &[]
    }
}

/// Judges a line.
#[must_use]
pub fn judge(line: &str, names: &dyn Names) -> Judgement {
    let verdict = decide(&Line::read(line), line, names, Weights::embedded());
    Judgement { decision: verdict.decision, reason: verdict.reason.text, is_by_rule: verdict.rule.is_some() }
}

/// A decision with everything that led to it.
#[derive(Clone, Debug)]
pub struct DecisionTrace {
    /// Who gets the line.
    pub decision: Decision,
    /// The reason.
    pub reason: Reason,
    /// Facts about the first word.
    pub standing: Standing,
    /// The rule that decided, or `None` if the weights did.
    pub rule: Option<&'static str>,
    /// The sum of the weights; `None` if it was not needed.
    pub score: Option<f32>,
}

/// Decides about a parsed line; `whole` is the line as it was typed.
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

/// The sum of the weights: the higher, the more the line resembles language. Above [`THRESHOLD`], it is language.
#[must_use]
pub fn score(line: &Line<'_>, standing: Standing, weights: &Weights) -> f32 {
    let features = features::features(line, standing);
    let dense: f32 = features.iter().zip(&weights.dense).map(|(value, weight)| value * weight).sum();
    let mut hashed: i32 = 0;
    hashing::each_hashed(line, |_, _, index| hashed += i32::from(weights.hashed[index]));
    weights.bias
        + dense
        + hashed as f32 * weights.scale
        + if standing.is_well_known && !standing.resolves { ABSENT } else { 0.0 }
}

/// An argument that exists: a file, a target, a branch. Plain words count only if the line does not read as a sentence, and after a word
/// that is not a command, no word is an argument.
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
