//! Tests that rows of the tables only allow: without the rows of one program no further line is allowed.

use super::super::options::{REMOVED, programs};
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

proptest! {
    #[test]
    fn without_the_rows_of_any_program_no_line_is_allowed_more(program in prop::sample::select(programs()), line in prop::sample::select(all_lines())) {
        prop_assert!(without(&program, &line) > Level::Allow || level(&line) == Level::Allow, "{}: {}", program, line);
    }
}
