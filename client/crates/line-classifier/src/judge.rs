//! Judges a line: the first rule with an opinion decides, else the weights do, and near their threshold names of files.

use super::{
    decision::Decision,
    first_word::Standing,
    line::{Line, Shape},
    names::Names,
    reason::{self, Reason},
    rules,
    score::score,
    weights::Weights,
};

/// A sum of weights above this means the assistant.
const THRESHOLD: f32 = 0.0;
/// Within this distance above the threshold, files named in the line count, too.
pub(crate) const UNSURE: f32 = 2.0;
/// Most arguments that are looked up.
pub(crate) const MAX_LOOKS: usize = 4;

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
