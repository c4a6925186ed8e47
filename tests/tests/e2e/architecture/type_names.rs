//! Checks that a name of a type stands for few things.

use std::collections::BTreeMap;

use crate::sources::{Source, made_up, sources, without_visibility};

const MOST_MEANINGS: usize = 4;

/// The name of the type that this line defines. An indented `type` is an item of an implementation or a trait.
fn defined(line: &str) -> Option<&str> {
    let item = without_visibility(line.trim_start());
    let kinds: &[&str] =
        if line.starts_with(' ') { &["struct ", "enum ", "trait "] } else { &["struct ", "enum ", "trait ", "type "] };
    let rest = kinds.iter().find_map(|kind| item.strip_prefix(kind))?;
    let name = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()?;
    name.starts_with(char::is_uppercase).then_some(name)
}

/// The names that are defined too often, each with its places.
fn with_many_meanings(sources: &[Source]) -> Vec<String> {
    let mut places: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for source in sources.iter().filter(|source| source.package().is_some_and(|package| package != "tests")) {
        for name in source.statements().filter_map(defined) {
            places.entry(name).or_default().push(&source.path);
        }
    }
    assert!(sources.len() < 100 || places.len() > 500, "only {} names were found", places.len());
    let many = places.iter().filter(|(_, places)| places.len() > MOST_MEANINGS);
    many.map(|(name, places)| format!("{name}: {}", places.join(", "))).collect()
}

#[test]
fn a_name_of_a_type_means_few_things() {
    let many = with_many_meanings(&sources());
    assert!(many.is_empty(), "names of more than {MOST_MEANINGS} types:\n{}", many.join("\n"));
}

#[test]
fn a_name_with_too_many_meanings_is_found() {
    let texts = [
        "struct State;",
        "pub(crate) enum State<T> {\n}",
        "pub trait State {\n    type Error;\n}",
        "type State = u8;",
        "impl A for B {\n    type State = u8;\n}\n// struct State;\n#[cfg(test)]\nmod tests {\n    struct State;\n}",
    ];
    let mut sources: Vec<Source> = texts.iter().map(|text| made_up("client/src/a.rs", text)).collect();
    sources.push(made_up("tests/src/state.rs", "struct State;"));
    sources.push(made_up("client/src/tests/state.rs", "struct State;"));
    assert_eq!(with_many_meanings(&sources), Vec::<String>::new());
    sources.push(made_up("daemon/src/b.rs", "fn f() {\n    struct State(u8);\n}"));
    let places = "client/src/a.rs, client/src/a.rs, client/src/a.rs, client/src/a.rs, daemon/src/b.rs";
    assert_eq!(with_many_meanings(&sources), [format!("State: {places}")]);
}
