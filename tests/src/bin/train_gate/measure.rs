//! Measures the share of correctly decided lines.

use std::fmt::Write as _;

use cohab_line_classifier::{Decision, DecisionTrace, Names, decide, line::Line, weights::Weights};

use crate::{
    data::{NameSet, Sample, Source},
    world::{Bare, Full},
};

const KINDS: [&str; 6] =
    ["commands", "language", "language, command first", "own commands", "own language", "own language, command first"];

fn kind(sample: &Sample<'_>, names: &NameSet) -> usize {
    let kind = if sample.is_language() { 1 + usize::from(names.contains(sample.first_word())) } else { 0 };
    if sample.source == Source::Spoken { kind + 3 } else { kind }
}

fn verdict(sample: &Sample<'_>, names: &dyn Names, weights: &Weights) -> DecisionTrace {
    decide(&Line::read(sample.text), sample.text, names, weights)
}

/// A row for each kind and machine, and the first `shown` mistakes of each.
pub(crate) fn table(samples: &[Sample<'_>], weights: &Weights, names: &NameSet, shown: usize) -> String {
    let mut text = String::new();
    let machines: [(&str, &dyn Names); 2] = [("bare", &Bare), ("full", &Full(names))];
    for (machine, machine_names) in machines {
        let mut rows = [(0_usize, 0_usize, 0_usize); KINDS.len()];
        let mut mistakes = String::new();
        for sample in samples {
            let row = &mut rows[kind(sample, names)];
            let verdict = verdict(sample, machine_names, weights);
            row.0 += 1;
            row.2 += usize::from(verdict.score.is_none());
            if verdict.decision != sample.decision {
                row.1 += 1;
                if row.1 <= shown {
                    let _ = writeln!(
                        mistakes,
                        "    {:?} {:?} {}: {}",
                        sample.decision, verdict.score, verdict.reason.text, sample.text
                    );
                }
            }
        }
        for (kind, (lines, wrong, ruled)) in KINDS.iter().zip(rows) {
            let share = 100.0 * (1.0 - wrong as f64 / lines.max(1) as f64);
            let _ =
                writeln!(text, "  {machine}: {kind:<28} {share:7.2} % of {lines} ({wrong} wrong), {ruled} by a rule");
        }
        text.push_str(&mistakes);
    }
    text
}

/// The results of other thresholds on the bare machine.
pub(crate) fn thresholds(samples: &[Sample<'_>], weights: &Weights, names: &NameSet) -> String {
    let verdicts: Vec<(usize, DecisionTrace)> =
        samples.iter().map(|sample| (kind(sample, names), verdict(sample, &Bare, weights))).collect();
    let mut text = String::new();
    for step in -4_i8..=12 {
        let threshold = f32::from(step) * 0.25;
        let right = |kind: usize| {
            let of_kind = verdicts.iter().filter(|(of, _)| *of == kind);
            let decided = of_kind.map(|(_, verdict)| match verdict.score {
                Some(score) => score > threshold,
                None => verdict.decision == Decision::Assistant,
            });
            let (count, language) = decided.fold((0, 0), |(count, yes), is| (count + 1, yes + usize::from(is)));
            let share = 100.0 * language as f64 / f64::from(count.max(1));
            if kind.is_multiple_of(3) { 100.0 - share } else { share }
        };
        let _ = writeln!(
            text,
            "  {threshold:5.2}: {:6.2} {:6.2} {:6.2}; {:6.2} {:6.2} {:6.2}",
            right(0),
            right(1),
            right(2),
            right(3),
            right(4),
            right(5)
        );
    }
    text
}
