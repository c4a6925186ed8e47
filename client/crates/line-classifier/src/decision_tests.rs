//! Tests that the decision and its reason for every line of every table stay the same. A refactoring leaves the snapshot unchanged.

use super::{
    Decision, judge,
    test_names::{BARE, DEVELOPERS, rows},
};

const TABLES: [(&str, &str); 3] = [
    ("adversarial_blind", include_str!("fixtures/adversarial_blind.tsv")),
    ("adversarial_tuned", include_str!("fixtures/adversarial_tuned.tsv")),
    ("held_out", include_str!("fixtures/held_out.tsv")),
];

/// FNV-1a: the same on each machine and in each release of Rust.
fn mixed(hash: u64, text: &str) -> u64 {
    text.bytes().chain([0]).fold(hash, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[test]
fn every_decision_on_the_tables_is_as_it_was() {
    let mut seen =
        "table: shell, assistant | the same on a developer's machine | hash of lines and reasons\n".to_owned();
    for (name, table) in TABLES {
        let (mut counts, mut hash) = ([[0_usize; 2]; 2], 0xcbf2_9ce4_8422_2325);
        for (_, line) in rows(table) {
            for (counts, machine) in counts.iter_mut().zip([BARE, DEVELOPERS]) {
                let judgement = judge(line, &machine);
                counts[usize::from(judgement.decision == Decision::Assistant)] += 1;
                hash = mixed(mixed(hash, line), &judgement.reason);
            }
        }
        let [bare, developers] = counts.map(|[shell, assistant]| format!("{shell:>5} {assistant:>5}"));
        seen += &format!("{name:<18} | {bare} | {developers} | {hash:016x}\n");
    }
    insta::assert_snapshot!(seen);
}
