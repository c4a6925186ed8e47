use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::blocks::conformance::block;

fn append(text: &str) -> BlockChange {
    BlockChange::Append { text: text.to_owned() }
}

fn prepend(text: &str) -> BlockChange {
    BlockChange::Prepend { text: text.to_owned() }
}

fn set(text: &str) -> BlockChange {
    BlockChange::Set { text: text.to_owned() }
}

fn replace(old: &str, new: &str) -> BlockChange {
    BlockChange::Replace { old: old.to_owned(), new: new.to_owned() }
}

/// The text after a change of a block with this text and a limit of 20 characters.
fn applied(value: &str, change: &BlockChange) -> Result<String, BlockFault> {
    let block = Block { max_chars: 20, template: "begin".to_owned(), ..block("notes", value) };
    change.applied(&block, &|text| text.contains("sesame"))
}

#[test]
fn texts_are_added_as_lines() {
    for (value, change, expected) in [
        ("", append("one"), "one"),
        ("one", append(" two\n"), "one\n two"),
        ("", prepend("one"), "one"),
        ("two", prepend("one"), "one\ntwo"),
        ("one", set("two\nthree"), "two\nthree"),
        ("one", BlockChange::Clear, "begin"),
    ] {
        assert_eq!(applied(value, &change).as_deref(), Ok(expected), "{change:?}");
    }
}

#[test]
fn a_part_is_replaced_if_it_is_there_once() {
    for (value, old, new, expected) in [
        ("tea at four", "four", "five", Ok("tea at five")),
        ("tea at four", " at four", "", Ok("tea")),
        ("tea at four", "tea at four", "", Ok("")),
        ("one\ntwo", "one\ntwo", "x", Ok("x")),
        ("tea at four", "Four", "x", Err(BlockFault::NotFound)),
        ("", "four", "x", Err(BlockFault::NotFound)),
        ("four or four", "four", "x", Err(BlockFault::NotUnique)),
        ("aaa", "aa", "x", Err(BlockFault::NotUnique)),
        ("tea", "", "x", Err(BlockFault::Empty)),
        ("tea", "\u{1b}[31m", "x", Err(BlockFault::Empty)),
        ("tea", "tea", "twenty-one characters", Err(BlockFault::TooLong { chars: 21, max_chars: 20 })),
    ] {
        assert_eq!(applied(value, &replace(old, new)), expected.map(str::to_owned), "{value} {old}");
    }
}

#[test]
fn constraints_are_checked_on_the_whole_text() {
    for change in [append(" \n\u{7}"), prepend(""), set("\u{202e}")] {
        assert_eq!(applied("one", &change), Err(BlockFault::Empty), "{change:?}");
    }
    let full = "ä".repeat(19);
    assert_eq!(applied(&full, &append("")), Err(BlockFault::Empty));
    assert_eq!(applied(&full, &append("x")), Err(BlockFault::TooLong { chars: 21, max_chars: 20 }));
    assert_eq!(applied("x", &set(&"long ".repeat(2_000_000))).unwrap_err(), {
        BlockFault::TooLong { chars: 9_999_999, max_chars: 20 }
    });
    assert_eq!(applied("", &set("open sesame")), Err(BlockFault::Secret));
    assert_eq!(applied("sesXame", &replace("X", "")), Err(BlockFault::Secret), "made of two harmless parts");
}

#[test]
fn a_description_is_one_short_line() {
    assert_eq!(clean_description(" two\nlines\u{1b}[m ").as_deref(), Ok("two lines"));
    assert_eq!(clean_description(""), Ok(String::new()));
    assert_eq!(clean_description(&"x".repeat(201)), Err(BlockFault::TooLong { chars: 201, max_chars: 200 }));
}

#[test]
fn an_edit_is_stored_as_json_and_read_again() {
    let edits = [append("a"), prepend("b"), replace("c", "d"), set("e"), BlockChange::Clear];
    for change in edits {
        let edit = BlockEdit { label: "notes".parse().unwrap(), change };
        let json = serde_json::to_value(&edit).unwrap();
        assert_eq!(json["change"]["op"], edit.change.deed().word());
        assert_eq!(serde_json::from_value::<BlockEdit>(json).unwrap(), edit);
    }
    let stored = json!({"label": "human", "change": {"op": "replace", "old": "c", "new": "d"}});
    let edit = BlockEdit { label: "human".parse().unwrap(), change: replace("c", "d") };
    assert_eq!(serde_json::to_value(&edit).unwrap(), stored);
    for wrong in [
        json!({"label": "No", "change": {"op": "clear"}}),
        json!({"label": "human", "change": {"op": "rm"}}),
        json!({"label": "human", "change": {"op": "append", "text": "x", "more": 1}}),
    ] {
        assert!(serde_json::from_value::<BlockEdit>(wrong.clone()).is_err(), "{wrong}");
    }
}

proptest! {
    #[test]
    fn any_text_is_clean_afterwards(value in "(?s).{0,80}", text in "(?s).{0,200}", old in "(?s).{1,3}") {
        let value = clean(&value);
        let block = Block { max_chars: 200, ..block("notes", &value) };
        prop_assert_eq!(clean(&value), value);
        for change in [append(&text), prepend(&text), set(&text), replace(&old, &text)] {
            let cleaned = change.clone().cleaned();
            prop_assert_eq!(cleaned.clone().cleaned(), cleaned.clone());
            prop_assert_eq!(cleaned.applied(&block, &|_| false), change.applied(&block, &|_| false));
            if let Ok(changed) = change.applied(&block, &|_| false) {
                prop_assert!(!changed.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t')));
                prop_assert!(changed.chars().count() <= 200);
                prop_assert_eq!(clean(&changed), changed);
            }
        }
    }
}
