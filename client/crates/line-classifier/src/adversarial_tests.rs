//! Tests on lines that are easily taken for the other kind, in several languages. One table was used while the rules were written; the
//! others were written by people who knew no rule, and never used since.

use super::{
    Decision, judge,
    test_names::{BARE, DEVELOPERS, Machine, rows},
};

const TUNED: &str = include_str!("fixtures/adversarial_tuned.tsv");
const BLIND: &str = include_str!("fixtures/adversarial_blind.tsv");
/// Language with signs of a shell, and commands of plain words.
const SIGNS: &str = include_str!("fixtures/adversarial_signs.tsv");
/// Requests in the style of telegrams, and commands that read like them.
const TERSE: &str = include_str!("fixtures/adversarial_terse.tsv");
/// Share of lines that must be right, in percent.
const BAR: f64 = 95.0;
/// The same for [`SIGNS`]. Some of its commands nobody could tell without their writer.
const BARS_OF_SIGNS: [(&str, f64); 2] = [("ai", 97.0), ("shell", 97.0)];

/// The same for [`TERSE`].
const BARS_OF_TERSE: [(&str, f64); 2] = [("ai", 97.0), ("shell", 98.5)];

/// The share of right rows of one label, in percent, and the wrong rows.
fn share(table: &'static str, label: &str, machine: &Machine) -> (f64, Vec<String>) {
    let wanted = if label == "ai" { Decision::Assistant } else { Decision::Shell };
    let lines: Vec<&str> = rows(table).filter(|(of, _)| *of == label).map(|(_, line)| line).collect();
    let wrong = lines.iter().filter_map(|line| {
        let judgement = judge(line, machine);
        (judgement.decision != wanted).then(|| format!("{line}  ({})", judgement.reason))
    });
    let wrong: Vec<String> = wrong.collect();
    (100.0 * (1.0 - wrong.len() as f64 / lines.len() as f64), wrong)
}

#[test]
fn lines_that_are_easily_mistaken_are_judged_right() {
    for label in ["shell", "ai"] {
        for machine in [DEVELOPERS, BARE] {
            let (share, wrong) = share(TUNED, label, &machine);
            assert!(share >= BAR, "{share:.1} % of {label}, wrong: {wrong:#?}");
        }
    }
}

/// Reports a figure and no line, so that no rule is fitted to the lines.
#[test]
fn lines_that_nobody_looked_at_are_judged_right() {
    for (table, bars) in [(BLIND, [("ai", BAR), ("shell", BAR)]), (SIGNS, BARS_OF_SIGNS), (TERSE, BARS_OF_TERSE)] {
        for (label, bar) in bars {
            for machine in [DEVELOPERS, BARE] {
                let (share, _) = share(table, label, &machine);
                assert!(share >= bar, "{share:.1} % of {label}, developer's machine: {}", machine.is_developers);
            }
        }
    }
}
