//! Tests that the table of formats is complete. The scrubber is tested in `tests/scrub`.

use std::collections::BTreeSet;

use super::{
    detect::{AHEAD_BYTES, BACK_BYTES},
    rules::{Place, Rules},
};

#[test]
fn every_line_of_the_table_is_a_rule_that_can_be_made() {
    let rules = Rules::get();
    let lines = include_str!("rules.table").lines().filter(|line| !line.starts_with('#')).count();
    assert_eq!(rules.all.len(), lines, "a line of the table cannot be read");
    assert_eq!(rules.automata.len(), 2);
    let own = [
        Place::Generic,
        Place::Chosen,
        Place::Block,
        Place::Manifest,
        Place::Cookie,
        Place::Netrc,
        Place::LookAlike,
        Place::File,
    ];
    for rule in rules.all.iter().filter(|rule| !own.contains(&rule.place)) {
        let regex = rule.regex().unwrap_or_else(|| panic!("the pattern of {rule:?} cannot be made"));
        assert!(regex.captures_len() == 2, "{rule:?} needs one group");
    }
}

#[test]
fn every_rule_is_reached_by_a_literal_that_fits_the_window() {
    let rules = Rules::get();
    let reached: BTreeSet<usize> = rules.literals.iter().flat_map(|literal| literal.rules.iter().copied()).collect();
    for (at, rule) in rules.all.iter().enumerate() {
        assert!(reached.contains(&at) || rule.place == Place::File, "{rule:?}");
        if let Place::Token(before) | Place::Group(before) | Place::Typed(before) = rule.place {
            assert!(before < BACK_BYTES, "{rule:?}");
        }
    }
    assert!(rules.literals.iter().all(|literal| !literal.text.is_empty() && literal.text.len() < AHEAD_BYTES));
}

#[test]
fn kinds_are_short_words() {
    for rule in &Rules::get().all {
        let is_word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        assert!(rule.kind.len() <= 40 && rule.kind.bytes().all(is_word), "{rule:?}");
    }
}
