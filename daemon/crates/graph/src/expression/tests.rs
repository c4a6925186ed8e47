use proptest::prelude::*;

use super::*;
use crate::{
    state::StateKey,
    value::{Reducer, TYPES},
};

/// A key of each type, named like it, with a value in it; `none` is an empty list.
fn keys() -> Vec<StateKey> {
    let of = |name: &str, initial| StateKey { name: name.into(), reducer: Reducer::Replace, initial };
    vec![
        of("text", StateValue::Text("a panic".into())),
        of("number", StateValue::Number(3.0)),
        of("flag", StateValue::Flag(true)),
        of("list", StateValue::List(vec!["x".into(), "y z".into()])),
        of("map", StateValue::Map([("name".into(), "text".into())].into())),
        of("none", StateValue::List(Vec::new())),
    ]
}

fn holds(text: &str) -> Result<bool, ExpressionError> {
    let keys = keys();
    let key = |name: &str| {
        let place = keys.iter().position(|key| key.name == name)?;
        Some((KeyId(place), keys[place].kind()))
    };
    Ok(Condition::read(text, &key)?.holds(&FlowState::new(&keys)))
}

#[test]
fn a_condition_holds_as_its_words_say() {
    for (text, expected) in [
        ("flag", true),
        ("not flag", false),
        ("true and not false", true),
        ("number == 3", true),
        ("number != 3.0", false),
        ("number >= 3 and number <= 3 and not number > 3", true),
        ("number < -1e3", false),
        ("text == \"a panic\"", true),
        (r#"text != "a \"panic\"""#, true),
        ("text contains \"panic\"", true),
        ("list contains \"y z\" and not list contains \"y\"", true),
        ("list contains text", false),
        ("map contains \"name\"", true),
        ("none is_empty and not list is_empty", true),
        ("flag == false or none is_empty", true),
        // `not` before `and` before `or`.
        ("true or false and false", true),
        ("(true or false) and false", false),
        ("not false and false", false),
        ("not not flag", true),
        ("((flag))", true),
    ] {
        assert_eq!(holds(text), Ok(expected), "{text}");
    }
}

#[test]
fn a_fault_has_its_place_and_says_what_to_do() {
    for (text, at, message) in [
        ("", 0, "a key, a number or a \"text\" is missing at the end"),
        ("number", 0, "this is a number, which neither holds nor fails; compare it, as in `x == …`"),
        ("flag and text", 9, "this is a text, which neither holds nor fails; compare it, as in `x == …`"),
        ("number = 3", 7, "`=` is not a comparison; write `==`"),
        ("number == \"3\"", 7, "a number cannot be compared with a text"),
        ("list == list", 5, "a list cannot be compared with a list"),
        ("text < \"b\"", 5, "only numbers have an order, and this is a text"),
        ("number is_empty", 7, "a number is never empty"),
        ("list contains 3", 5, "a list does not contain a number"),
        ("nope == 3", 0, "`nope` is no key of the state"),
        ("(flag", 5, "a `)` is missing"),
        ("flag flag", 5, "`flag` does not belong here; join conditions with `and` or `or`"),
        ("flag == (flag and flag)", 5, "join conditions with `and` or `or` instead of comparing them"),
        ("text == \"a", 8, "the text has no closing `\"`"),
        ("number == 1e999", 10, "this is no number"),
        ("flag && flag", 5, "`&` has no meaning here"),
        ("== 3", 0, "`==` stands where a key, a number or a \"text\" must be"),
    ] {
        assert_eq!(holds(text), Err(error(at, message)), "{text}");
    }
}

#[test]
fn length_and_depth_are_bounded() {
    let deep = |depth: usize| format!("{}flag{}", "(".repeat(depth), ")".repeat(depth));
    assert_eq!(holds(&deep(MAX_DEPTH)), Ok(true));
    assert!(holds(&deep(MAX_DEPTH + 1)).is_err_and(|error| error.message.contains("nested")));
    assert!(holds(&"not ".repeat(1_000)).is_err_and(|error| error.message.contains("nested")));
    assert!(holds(&" ".repeat(EXPRESSION_MAX_BYTES + 1)).is_err());
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused_at_a_place_in_it(text in r#"(?s)([a-z]{1,6}|[0-9.]+|[()"<>=! \\é]|and|or|not|flag|number|list contains|is_empty){0,12}"#) {
        if let Err(error) = holds(&text) {
            prop_assert!(error.at <= text.len());
            prop_assert!(text.is_char_boundary(error.at));
        }
    }
}

#[test]
fn keys_of_each_type_are_tried() {
    let kinds: Vec<ValueType> = keys().iter().map(StateKey::kind).collect();
    assert!(TYPES.iter().all(|(_, kind)| kinds.contains(kind)));
}
