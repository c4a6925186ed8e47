//! Tables that were written before the rules they judge and are not tuned to: see `ARCHITECTURE.md`.

use super::*;

const HARM: &str = include_str!("catalogue_harm.txt");
const READING: &str = include_str!("daily_reading.txt");
const DESTRUCTIVE: &str = include_str!("destructive.txt");
const ADVISORIES_HARM: &str = include_str!("advisories_harm.txt");
const ADVISORIES_READING: &str = include_str!("advisories_reading.txt");
const ADVISORIES_DESTRUCTIVE: &str = include_str!("advisories_destructive.txt");
const UNSEEN_HARM: &str = include_str!("unseen_harm.txt");
const UNSEEN_READING: &str = include_str!("unseen_reading.txt");
const UNSEEN_DESTRUCTIVE: &str = include_str!("unseen_destructive.txt");

/// All lines that `{{a|b}}` in `line` stands for.
fn alternatives(line: &str) -> Vec<String> {
    let Some((before, rest)) = line.split_once("{{") else { return vec![line.to_owned()] };
    let (choices, after) = rest.split_once("}}").expect("closed");
    choices.split('|').flat_map(|choice| alternatives(&format!("{before}{choice}{after}"))).collect()
}

#[test]
fn none_of_two_thousand_lines_of_the_catalogues_is_allowed() {
    let all: Vec<_> = lines(HARM).flat_map(|line| alternatives(&line)).collect();
    let allowed: Vec<_> = all.iter().filter(|line| level(line) == Level::Allow).cloned().collect();
    assert!(all.len() >= 2_000, "{}", all.len());
    assert!(allowed.is_empty(), "{} of {}:\n{}", allowed.len(), all.len(), allowed.join("\n"));
}

#[test]
fn what_is_read_every_day_is_allowed_but_for_one_in_twenty() {
    let (refused, all) = refused(READING);
    assert!(refused.len() * 20 <= all, "{} of {all}:\n{}", refused.len(), refused.join("\n"));
}

#[test]
fn what_destroys_or_leaks_is_flagged_but_for_one_in_twenty() {
    let (missed, all) = missed(DESTRUCTIVE);
    assert!(missed.len() * 20 <= all, "{} of {all}:\n{}", missed.len(), missed.join("\n"));
}

#[test]
fn no_line_of_the_advisories_is_allowed() {
    let allowed: Vec<_> = lines(ADVISORIES_HARM).filter(|line| level(line) == Level::Allow).collect();
    let all = lines(ADVISORIES_HARM).count();
    assert!(all >= 4_000, "{all}");
    assert!(allowed.is_empty(), "{} of {all}:\n{}", allowed.len(), allowed.join("\n"));
}

#[test]
fn what_assistants_read_is_allowed_but_for_one_in_twenty() {
    let (refused, all) = refused(ADVISORIES_READING);
    assert!(refused.len() * 20 <= all, "{} of {all}:\n{}", refused.len(), refused.join("\n"));
}

#[test]
fn what_the_advisories_destroy_or_leak_is_flagged_but_for_one_in_twenty() {
    let (missed, all) = missed(ADVISORIES_DESTRUCTIVE);
    assert!(missed.len() * 20 <= all, "{} of {all}:\n{}", missed.len(), missed.join("\n"));
}

#[test]
fn no_line_of_a_sample_written_without_sight_of_the_rules_is_allowed() {
    let allowed: Vec<_> = lines(UNSEEN_HARM).filter(|line| level(line) == Level::Allow).collect();
    let all = lines(UNSEEN_HARM).count();
    assert_eq!(all, 600);
    assert!(allowed.is_empty(), "{} of {all}:\n{}", allowed.len(), allowed.join("\n"));
}

#[test]
fn eighty_six_of_a_hundred_unseen_reading_lines_are_allowed() {
    let (refused, all) = refused(UNSEEN_READING);
    assert_eq!(all, 400);
    assert!(refused.len() * 100 <= all * 14, "{} of {all}:\n{}", refused.len(), refused.join("\n"));
}

#[test]
fn what_the_unseen_sample_destroys_or_leaks_is_flagged_but_for_one_in_twenty() {
    let (missed, all) = missed(UNSEEN_DESTRUCTIVE);
    assert_eq!(all, 300);
    assert!(missed.len() * 20 <= all, "{} of {all}:\n{}", missed.len(), missed.join("\n"));
}
