//! Explains a decision in a few lines of text for people.

use std::fmt::Write as _;

use super::{
    DecisionTrace, Names, decide,
    feature_names::FEATURES,
    features::features,
    hashing::{Mark, each_hashed},
    line::Line,
    reason::shown,
    weights::Weights,
};

/// Most weights that are shown.
const TOLD: usize = 6;
/// Least absolute weight that is shown.
const SMALLEST: f32 = 0.05;

/// Explains a line in a few lines: decision, reason, facts about its first word, and the strongest weights.
#[must_use]
pub fn explain(line: &str, names: &dyn Names) -> String {
    let weights = Weights::embedded();
    let read = Line::read(line);
    let verdict = decide(&read, line, names, weights);
    let mut text = format!("{:<12}{}\n", verdict.decision.word(), verdict.reason.text);
    if let Some(first) = read.first() {
        let _ = writeln!(text, "{:<12}`{}` {}", "first word", shown(first.text), standing(&verdict));
    }
    let _ = match (verdict.rule, verdict.score) {
        (None, Some(score)) => writeln!(text, "{:<12}by weights, {score:+.2} (above 0: ai)", "decided"),
        (Some(rule), Some(score)) => {
            writeln!(text, "{:<12}by the rule `{rule}`, weights say {score:+.2} (above 0: ai)", "decided")
        }
        (rule, None) => writeln!(text, "{:<12}by the rule `{}`", "decided", rule.unwrap_or_default()),
    };
    if verdict.score.is_some() {
        for (what, weight) in strongest(&read, &verdict, weights) {
            let _ = writeln!(text, "{weight:>+10.2}  {what}");
        }
    }
    text
}

fn standing(verdict: &DecisionTrace) -> &'static str {
    let standing = verdict.standing;
    match (standing.is_builtin, standing.resolves, standing.is_well_known) {
        (true, ..) => "is a builtin or keyword of a shell",
        (false, true, true) => "is a command here, and a well-known one",
        (false, true, false) => "is a command here",
        (false, false, true) => "is a well-known command, but not here",
        (false, false, false) => "is no command",
    }
}

/// The features and words that weighed most, the heaviest first.
fn strongest(line: &Line<'_>, verdict: &DecisionTrace, weights: &Weights) -> Vec<(String, f32)> {
    let values = features(line, verdict.standing);
    let products = values.iter().zip(&weights.dense).map(|(value, weight)| value * weight);
    let mut parts: Vec<(String, f32)> = FEATURES.iter().map(|name| (*name).to_owned()).zip(products).collect();
    each_hashed(line, |mark, at, index| {
        let word = line.tokens.get(at).map(|token| shown(token.text)).unwrap_or_default();
        let what = match mark {
            Mark::Word => format!("the word `{word}`"),
            Mark::First => format!("`{word}` in front"),
            Mark::Second => format!("`{word}` as second word"),
            Mark::Pair => format!("`{word}` behind the first word"),
            Mark::Last => format!("`{word}` at the end"),
        };
        parts.push((what, f32::from(weights.hashed[index]) * weights.scale));
    });
    parts.retain(|(_, weight)| weight.abs() >= SMALLEST);
    parts.sort_by(|(_, left), (_, right)| right.abs().total_cmp(&left.abs()));
    parts.truncate(TOLD);
    parts
}
