//! Tests known ways around a policy, by kind: no line of the table is allowed in any shell, and text behind `!! ` is danger.

use super::*;

const BYPASSES: &str = include_str!("bypasses.txt");

/// The kinds with their lines, and whether each is danger.
fn kinds() -> Vec<(&'static str, Vec<(bool, String)>)> {
    let kinds = BYPASSES.split("## ").filter(|kind| !kind.is_empty());
    let line = |text: &'static str| {
        let (is_danger, text) = text.strip_prefix("!! ").map_or((false, text), |text| (true, text));
        (is_danger, text.strip_prefix("%% ").map_or_else(|| text.to_owned(), unescape))
    };
    kinds
        .map(|kind| {
            let (name, rest) = kind.split_once('\n').expect("a heading");
            (name, rest.lines().filter(|text| !text.is_empty()).map(line).collect())
        })
        .collect()
}

#[test]
fn each_kind_of_bypass_has_five_lines_at_least_and_none_is_allowed() {
    let kinds = kinds();
    assert!(kinds.len() >= 16, "{}", kinds.len());
    let mut wrong = Vec::new();
    for (name, lines) in kinds {
        assert!(lines.len() >= 5, "{name}");
        for (is_danger, line) in lines {
            for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
                let judged = level_in(shell, &line);
                if judged == Level::Allow || (is_danger && judged < Level::Danger) {
                    wrong.push(format!("{name}: {shell:?} {judged:?}: {line}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
