//! Lists the required cases and their shells.

use std::{collections::BTreeMap, fs, path::Path};

const ALL: &[&str] = &["bash", "zsh", "fish", "fish4"];
const BASH_ZSH: &[&str] = &["bash", "zsh"];
const BASH: &[&str] = &["bash"];
const ZSH: &[&str] = &["zsh"];
const FISH: &[&str] = &["fish", "fish4"];

/// Cases that concern the client or the daemon and have end-to-end tests there: the client inside tmux, its signals, the daemon's death,
/// its start.
const ELSEWHERE: &[u16] = &[74, 92, 93, 103, 104, 105];

fn shells_of(case: u16) -> &'static [&'static str] {
    match case {
        18 | 55..=60 | 67 | 77 | 78 | 82 => BASH_ZSH,
        80 | 81 | 100 => BASH,
        83 | 89 => ZSH,
        95 | 98 => FISH,
        70 => &["zsh", "fish", "fish4"],
        _ => ALL,
    }
}

/// The shells of each case, those excepted included, as the sources name them.
fn written() -> BTreeMap<u16, Vec<String>> {
    let mut cases: BTreeMap<u16, Vec<String>> = BTreeMap::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/live/cases");
    for entry in fs::read_dir(folder).unwrap() {
        let source = fs::read_to_string(entry.unwrap().path()).unwrap();
        for case in source.split("\ncase!(").skip(1).filter_map(|case| case.trim_start().strip_prefix("case_")) {
            let head = &case[..case.find(" |").unwrap()];
            let number: u16 = head[..head.find('_').unwrap()].parse().unwrap();
            let words = head.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| ALL.contains(word));
            cases.entry(number).or_default().extend(words.map(str::to_owned));
        }
    }
    cases
}

#[test]
fn every_case_is_there_in_every_shell_it_applies_to() {
    let written = written();
    let missing: Vec<String> = (1..=106)
        .filter(|case| !ELSEWHERE.contains(case))
        .flat_map(|case| shells_of(case).iter().map(move |shell| (case, *shell)))
        .filter(|(case, shell)| !written.get(case).is_some_and(|shells| shells.iter().any(|one| one == shell)))
        .map(|(case, shell)| format!("{case} in {shell}"))
        .collect();
    assert!(missing.is_empty(), "cases without a test: {}", missing.join(", "));
}
