//! The tests that every [`MemoryStore`] has to pass. Each takes an empty store and panics when the store breaks the contract.

#![expect(clippy::unwrap_used, reason = "tests")]

use std::path::Path;

use jiff::Timestamp;

use crate::{
    record::{Memory, MemoryId, NewMemory, Origin, Scope, Source},
    store::{MemoryStore, Remembered},
};

/// All of them.
pub fn all<S: MemoryStore>(empty: impl Fn() -> S) {
    a_fact_is_found_by_each_form_of_its_words(&mut empty());
    the_same_fact_is_remembered_once(&mut empty());
    many_facts_are_remembered_at_once(&mut empty());
    a_newer_record_supersedes_and_keeps_the_history(&mut empty());
    a_fact_of_a_project_is_not_seen_from_another(&mut empty());
    a_forgotten_fact_is_gone_with_its_versions(&mut empty());
    a_source_is_revoked_with_all_that_came_of_it(&mut empty());
    trust_is_never_higher_than_its_origin_allows(&mut empty());
    hostile_texts_and_words_are_data(&mut empty());
    an_untouched_store_has_no_faults(&mut empty());
}

/// A fact of the user that holds everywhere.
#[must_use]
pub fn fact(text: &str) -> NewMemory {
    NewMemory::stated(text.to_owned(), Scope::Everywhere, Origin::Prompt, "/home/ann".into())
}

/// A fact that holds below `root`.
#[must_use]
pub fn fact_of(root: &str, text: &str) -> NewMemory {
    NewMemory { scope: Scope::Project(root.into()), ..fact(text) }
}

/// A stored fact of the user that holds everywhere, stated on 3 November 2026.
#[must_use]
pub fn memory(id: u64, text: &str) -> Memory {
    let NewMemory { text, scope, origin, folder, trust, sources } = fact(text);
    Memory {
        id: MemoryId(id),
        text,
        scope,
        origin,
        folder,
        trust,
        stated: at(1_793_664_000),
        valid_to: None,
        superseded_by: None,
        sources,
        is_sound: true,
    }
}

/// A moment, in seconds since the epoch.
#[must_use]
pub fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn add<S: MemoryStore>(store: &mut S, new: &NewMemory, second: i64) -> Memory {
    match store.remember(new, at(second)).unwrap() {
        Remembered::New(memory) => memory,
        Remembered::Known(memory) => panic!("known already: {memory:?}"),
    }
}

fn texts(memories: &[Memory]) -> Vec<&str> {
    memories.iter().map(|memory| memory.text.as_str()).collect()
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn search<S: MemoryStore>(store: &S, wanted: &[&str], folder: Option<&str>) -> Vec<(String, Vec<usize>)> {
    let found = store.search(&words(wanted), folder.map(Path::new)).unwrap();
    let mut hits: Vec<_> = found.hits.into_iter().map(|hit| (hit.memory.text, hit.words)).collect();
    hits.sort();
    hits
}

fn a_fact_is_found_by_each_form_of_its_words<S: MemoryStore>(store: &mut S) {
    let memory = add(store, &fact("this is tested with cargo nextest"), 7);
    assert_eq!((memory.trust, memory.stated, memory.valid_to), (0.9, at(7), None));
    assert_eq!(store.get(memory.id).unwrap(), Some(memory.clone()));
    add(store, &fact("größte Tests laufen nachts"), 8);
    let found = store.search(&words(&["test", "missing", "CARGO"]), None).unwrap();
    assert_eq!((found.total, found.with_word.as_slice()), (2, [2, 0, 1].as_slice()));
    assert_eq!(search(store, &["nextest", "tests"], None).len(), 2);
    assert_eq!(search(store, &["groesste"], None), []);
    assert_eq!(search(store, &["grosste"], None), [("größte Tests laufen nachts".to_owned(), vec![0])]);
    assert_eq!(search(store, &[], None), []);
    assert_eq!(texts(&store.list(None).unwrap()), ["größte Tests laufen nachts", "this is tested with cargo nextest"]);
}

fn the_same_fact_is_remembered_once<S: MemoryStore>(store: &mut S) {
    let first = add(store, &fact("staging is on blue"), 1);
    assert_eq!(store.remember(&fact("staging is on blue"), at(2)).unwrap(), Remembered::Known(first.clone()));
    // Another scope makes another fact.
    let second = add(store, &fact_of("/home/ann/shop", "staging is on blue"), 3);
    assert_ne!(first.id, second.id);
    store.forget(&[first.id]).unwrap();
    let third = add(store, &fact("staging is on blue"), 4);
    assert!(third.id > second.id, "a number is given once");
}

fn many_facts_are_remembered_at_once<S: MemoryStore>(store: &mut S) {
    let known = add(store, &fact("staging is on blue"), 1);
    let facts = ["tea is at four", "staging is on blue", "tea is at four", "lunch is at one"];
    let facts: Vec<_> = facts.into_iter().zip(2..).map(|(text, second)| (fact(text), at(second))).collect();
    assert_eq!((store.remember_all(&facts).unwrap(), store.remember_all(&[]).unwrap()), (2, 0));
    let listed: Vec<_> = store.list(None).unwrap().into_iter().map(|memory| (memory.text, memory.stated)).collect();
    let expected = [("lunch is at one", 5), ("tea is at four", 2), (known.text.as_str(), 1)];
    assert_eq!(listed, expected.map(|(text, second)| (text.to_owned(), at(second))));
    assert_eq!(store.faults().unwrap(), []);
}

fn a_newer_record_supersedes_and_keeps_the_history<S: MemoryStore>(store: &mut S) {
    let old = add(store, &fact("staging is on blue"), 1);
    let new = store.replace(old.id, &fact("staging is on green"), at(5)).unwrap().unwrap();
    let newest = store.replace(new.id, &fact("staging is on red"), at(9)).unwrap().unwrap();
    assert_eq!(texts(&store.list(None).unwrap()), ["staging is on red"]);
    assert_eq!(search(store, &["green", "blue"], None), []);
    let superseded = store.get(old.id).unwrap().unwrap();
    assert_eq!((superseded.valid_to, superseded.superseded_by), (Some(at(5)), Some(new.id)));
    for id in [old.id, new.id, newest.id] {
        let versions = store.versions(id).unwrap();
        assert_eq!(texts(&versions), ["staging is on blue", "staging is on green", "staging is on red"]);
    }
    assert_eq!(store.replace(old.id, &fact("no"), at(10)).unwrap(), None, "only a valid fact can be replaced");
    assert_eq!(store.replace(MemoryId(999), &fact("no"), at(10)).unwrap(), None);
    assert_eq!(store.versions(MemoryId(999)).unwrap(), []);
    assert_eq!(store.faults().unwrap(), []);
}

fn a_fact_of_a_project_is_not_seen_from_another<S: MemoryStore>(store: &mut S) {
    add(store, &fact_of("/home/ann/shop", "deploy with make ship"), 1);
    add(store, &fact_of("/home/ann/blog", "deploy with rsync"), 2);
    add(store, &fact("deploy on fridays never"), 3);
    let seen = |folder: &str| {
        let list = store.list(Some(Path::new(folder))).unwrap();
        let found = store.search(&words(&["deploy"]), Some(Path::new(folder))).unwrap();
        assert_eq!((found.total, found.with_word), (list.len() as u64, vec![list.len() as u64]), "{folder}");
        assert_eq!(found.hits.len(), list.len(), "{folder}");
        list.into_iter().map(|memory| memory.text).collect::<Vec<_>>()
    };
    assert_eq!(seen("/home/ann/shop/src"), ["deploy on fridays never", "deploy with make ship"]);
    assert_eq!(seen("/home/ann/blog"), ["deploy on fridays never", "deploy with rsync"]);
    for elsewhere in ["/home/ann", "/home/ann/shop2", "/", "/home/ann/shop/../blog2"] {
        assert_eq!(seen(elsewhere), ["deploy on fridays never"], "{elsewhere}");
    }
    assert_eq!(store.list(None).unwrap().len(), 3);
}

fn a_forgotten_fact_is_gone_with_its_versions<S: MemoryStore>(store: &mut S) {
    let old = add(store, &fact("the sesame phrase is plugh"), 1);
    let new = store.replace(old.id, &fact("the sesame phrase is xyzzy"), at(2)).unwrap().unwrap();
    let other = add(store, &fact("tea is at four"), 3);
    assert_eq!(store.forget(&[new.id, MemoryId(999)]).unwrap(), 2);
    for id in [old.id, new.id] {
        assert_eq!((store.get(id).unwrap(), store.versions(id).unwrap()), (None, Vec::new()));
    }
    assert_eq!(search(store, &["sesame", "plugh", "xyzzy"], None), []);
    assert_eq!(store.list(None).unwrap(), [other]);
    assert_eq!(store.forget(&[new.id]).unwrap(), 0);
    assert_eq!(store.faults().unwrap(), [], "what was forgotten is not missing");
}

fn a_source_is_revoked_with_all_that_came_of_it<S: MemoryStore>(store: &mut S) {
    let from = |text: &str, sources: &[Source]| NewMemory {
        origin: Origin::Accepted,
        sources: sources.to_vec(),
        ..fact(text)
    };
    let turn = Source::Turn("7".into());
    let first = add(store, &from("blue runs the shop", &[Source::Commands, turn.clone()]), 1);
    let derived = add(store, &from("blue is down on Mondays", &[Source::Fact(first.id)]), 2);
    let edited = store.replace(derived.id, &fact("blue is down on Sundays"), at(3)).unwrap().unwrap();
    let last = add(store, &from("ring Bo on Sundays", &[Source::Fact(edited.id)]), 4);
    // A cycle of sources ends.
    add(store, &from("unrelated", &[Source::Turn("77".into()), Source::Fact(MemoryId(999))]), 5);
    assert_eq!(store.get(first.id).unwrap().unwrap().sources, [Source::Commands, turn.clone()]);
    let all = store.derived_from(&turn).unwrap();
    assert_eq!(all, [first.id, derived.id, edited.id, last.id]);
    assert_eq!(store.derived_from(&Source::Fact(derived.id)).unwrap(), [last.id]);
    assert_eq!(store.derived_from(&Source::Turn("%".into())).unwrap(), []);
    store.forget(&all).unwrap();
    assert_eq!(texts(&store.list(None).unwrap()), ["unrelated"]);
}

fn trust_is_never_higher_than_its_origin_allows<S: MemoryStore>(store: &mut S) {
    let of = |text: &str, origin: Origin, trust: f64| NewMemory { origin, trust, ..fact(text) };
    assert_eq!(add(store, &of("a proposal of a stranger", Origin::Accepted, 0.3), 1).trust, 0.3);
    assert_eq!(add(store, &of("imported", Origin::Import, 0.9), 2).trust, 0.6);
    assert_eq!(add(store, &of("not a number", Origin::Prompt, f64::NAN), 3).trust, 0.0);
}

fn hostile_texts_and_words_are_data<S: MemoryStore>(store: &mut S) {
    let hostile = [
        "a\" OR \"b",
        "x'); DROP TABLE memories; --",
        "NEAR(a b)",
        "column:text",
        "100% of _all_ *",
        "\u{0}nul",
        "🦀 \u{202e}",
    ];
    for (second, text) in hostile.into_iter().enumerate() {
        let memory = add(store, &fact(text), i64::try_from(second).unwrap());
        assert_eq!(store.get(memory.id).unwrap().unwrap().text, text);
    }
    for word in hostile.into_iter().chain(["", " ", "\"", "*", "^", "-", "AND", "a OR b"]) {
        store.search(&words(&[word]), None).unwrap();
    }
    let many: Vec<String> = (0..200).map(|number| format!("word{number}")).collect();
    store.search(&many, Some(Path::new("/"))).unwrap();
    assert_eq!(store.list(None).unwrap().len(), hostile.len());
    assert_eq!(store.faults().unwrap(), []);
}

fn an_untouched_store_has_no_faults<S: MemoryStore>(store: &mut S) {
    assert_eq!(store.faults().unwrap(), []);
    for second in 0..20 {
        let memory = add(store, &fact(&format!("fact number {second} of many")), second);
        if second % 3 == 0 {
            store.replace(memory.id, &fact(&format!("newer fact number {second}")), at(second + 100)).unwrap();
        }
        if second % 4 == 0 {
            store.forget(&[memory.id]).unwrap();
        }
    }
    assert_eq!(store.faults().unwrap(), []);
}
