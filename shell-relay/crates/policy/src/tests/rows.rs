//! Tests that rows of the tables only allow: without the rows of one program no further line is allowed.

use super::super::options::{REMOVED, phrases_with_rules, programs};
use super::*;

fn without(program: &str, line: &str) -> Level {
    REMOVED.set(Some(program.to_owned()));
    let level = level(line);
    REMOVED.set(None);
    level
}

fn all_lines() -> Vec<String> {
    [TUNED_EVERYDAY, HELD_OUT_EVERYDAY, DANGER, NEVER_ALLOWED, ASK].into_iter().flat_map(lines).collect()
}

#[test]
fn without_the_rows_of_a_program_its_lines_are_not_allowed_more() {
    let all = all_lines();
    let mut with_rows = 0;
    for program in programs() {
        let names =
            |line: &&String| line.split(|c: char| c.is_whitespace() || "|;&".contains(c)).any(|word| word == program);
        for line in all.iter().filter(names) {
            with_rows += 1;
            assert!(without(&program, line) > Level::Allow || level(line) == Level::Allow, "{program}: {line}");
        }
    }
    assert!(with_rows > 500, "{with_rows}");
}

#[test]
fn reasons_name_programs_and_no_rules_of_the_tables() {
    let odd = ["", "x", "x y z", "1.1.1.1", "-c 3 1.1.1.1", "-x", "--format=json", "/tmp/x", "a:b", "{}", "--help x"];
    let phrases = phrases_with_rules();
    assert!(phrases.len() > 100, "{}", phrases.len());
    for (phrase, rule) in &phrases {
        for operands in odd {
            let line = format!("{phrase} {operands}");
            let named = format!("`{rule}`");
            let reasons = assess_line(&line, context()).reasons;
            let is_word = line.split(' ').any(|word| word == *rule);
            assert!(is_word || !reasons.iter().any(|reason| reason.contains(&named)), "{line}: {reasons:?}");
        }
    }
    let reasons = assess_line("ping -c 3 -W 3 1.1.1.1", context()).reasons;
    assert_eq!(reasons, ["not known to be read-only: `ping` with these operands"]);
}

proptest! {
    #[test]
    fn without_the_rows_of_any_program_no_line_is_allowed_more(program in prop::sample::select(programs()), line in prop::sample::select(all_lines())) {
        prop_assert!(without(&program, &line) > Level::Allow || level(&line) == Level::Allow, "{}: {}", program, line);
    }
}
