//! Tests of the accuracy on lines that were not used for learning. `scripts/train-gate` chooses them; see
//! `client/crates/line-classifier/assets/gate.NOTICE.md`.

use super::{
    Decision, judge,
    test_names::{BARE, DEVELOPERS, Machine, rows},
    weights::Weights,
};

const HELD_OUT: &str = include_str!("fixtures/held_out.tsv");
/// A label of the table, the right decision for its lines, and the percentage that must be right. `ai+` lines begin with the name of a
/// command.
const BARS: &[(&str, Decision, f64)] =
    &[("shell", Decision::Shell, 99.7), ("ai", Decision::Assistant, 98.0), ("ai+", Decision::Assistant, 97.0)];

fn share(label: &str, decision: Decision, machine: &Machine) -> (usize, f64) {
    let judged = rows(HELD_OUT).filter(|(of, _)| *of == label).map(|(_, line)| judge(line, machine).decision);
    let (lines, right) = judged.fold((0, 0), |(lines, right), is| (lines + 1, right + usize::from(is == decision)));
    (
        lines,
        100.0 * f64::from(u32::try_from(right).expect("few lines"))
            / f64::from(u32::try_from(lines).expect("few lines")),
    )
}

#[test]
fn lines_never_learned_from_are_judged_right_on_any_machine() {
    for (label, decision, bar) in BARS {
        for machine in [BARE, DEVELOPERS] {
            let (lines, share) = share(label, *decision, &machine);
            assert!(lines >= 400, "{lines} lines of {label}");
            assert!(
                share >= *bar,
                "{label}: {share:.2} % of {lines}, bar {bar}, developer's machine: {}",
                machine.is_developers
            );
        }
    }
}

#[test]
fn what_was_learned_is_whole_and_small() {
    let weights = Weights::embedded();
    assert!(weights.scale > 0.0 && weights.names.len() > 3_000, "{} names", weights.names.len());
    assert!(weights.names.is_sorted());
    assert!(Weights::embedded_bytes() <= 100 * 1024, "{} bytes", Weights::embedded_bytes());
    assert_eq!(Weights::parse(&weights.to_file()).map(|read| read.to_file()), Some(weights.to_file()));
}

#[test]
fn a_broken_file_is_no_weights() {
    let file = Weights::embedded().to_file();
    assert!(
        Weights::parse(&[]).is_none() && Weights::parse(&file[..100]).is_none() && Weights::parse(&file[1..]).is_none()
    );
    assert!(Weights::parse(&file[..file.len() - 1]).is_none());
}
