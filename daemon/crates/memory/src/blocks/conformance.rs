//! The tests that every [`BlockStore`] has to pass. Each takes an empty store and panics when the store breaks the contract.

#![expect(clippy::unwrap_used, reason = "tests")]

use std::path::Path;

use super::{
    change::{BlockChange, BlockFault},
    operations::{self, ChangeError, Changed, RollbackTarget, change, create, import, roll_back},
    record::{Block, BlockDeed, BlockKey, BlockLabel, USUAL_CHARS},
    store::{BlockStore, MAX_VERSIONS},
};
use crate::{conformance::at, record::Scope};

/// The root of a project.
const SHOP: &str = "/home/ann/shop";
/// The root of another one, whose path begins with the same characters.
const SHOP2: &str = "/home/ann/shop2";

/// All of them.
pub fn all<S: BlockStore>(empty: impl Fn() -> S) {
    an_empty_store_has_only_what_is_delivered(&mut empty());
    each_change_is_a_version(&mut empty());
    a_rollback_is_exact_and_a_version(&mut empty());
    a_rollback_to_a_time_takes_what_held_then(&mut empty());
    the_oldest_versions_are_dropped(&mut empty());
    a_block_of_a_project_is_not_seen_from_another(&mut empty());
    a_version_of_an_older_text_is_not_written(&mut empty());
    a_refused_change_stores_nothing(&mut empty());
    a_new_block_satisfies_its_constraints(&mut empty());
    an_imported_block_is_made_or_changed(&mut empty());
    a_forgotten_block_is_gone_with_its_versions(&mut empty());
    hostile_texts_are_data(&mut empty());
}

/// A label.
#[must_use]
pub fn label(text: &str) -> BlockLabel {
    text.parse().unwrap()
}

/// A block that holds everywhere, with this label and text, not written yet.
#[must_use]
pub fn block(name: &str, value: &str) -> Block {
    Block {
        key: BlockKey { label: label(name), scope: Scope::Everywhere },
        description: "about tests".to_owned(),
        max_chars: USUAL_CHARS,
        template: String::new(),
        value: value.to_owned(),
        version: None,
    }
}

/// The same block for the project with this root.
#[must_use]
pub fn of_project(root: &str, block: Block) -> Block {
    Block { key: BlockKey { scope: Scope::Project(root.into()), ..block.key }, ..block }
}

fn changed<S: BlockStore>(store: &mut S, name: &str, how: &BlockChange, second: i64) -> Changed {
    let has_secret = |text: &str| text.contains("sesame");
    change(store, (&label(name), Path::new(SHOP)), how, &has_secret, at(second)).ok().unwrap()
}

fn set<S: BlockStore>(store: &mut S, name: &str, text: &str, second: i64) -> Block {
    match changed(store, name, &BlockChange::Set { text: text.to_owned() }, second) {
        Changed::Written(block) => block,
        Changed::Unchanged(block) => panic!("unchanged: {block:?}"),
    }
}

fn value<S: BlockStore>(store: &S, name: &str, root: &str) -> String {
    let stored = store.blocks(Some(Path::new(root))).unwrap();
    operations::named(&label(name), stored, Path::new(root)).unwrap().value
}

fn values(blocks: &[Block]) -> Vec<&str> {
    blocks.iter().map(|block| block.value.as_str()).collect()
}

fn refused<T: std::fmt::Debug, E: std::fmt::Debug>(result: Result<T, ChangeError<E>>) -> BlockFault {
    match result {
        Err(ChangeError::Refused(fault)) => fault,
        other => panic!("not refused: {other:?}"),
    }
}

fn an_empty_store_has_only_what_is_delivered<S: BlockStore>(store: &mut S) {
    let stored = store.blocks(None).unwrap();
    assert_eq!(stored, []);
    let blocks = operations::visible(stored, Path::new(SHOP));
    assert_eq!(blocks, super::record::delivered(Path::new(SHOP)));
    for block in blocks {
        assert_eq!(store.block_versions(&block.key).unwrap(), []);
        assert_eq!(store.forget_block(&block.key, None, at(1)).unwrap(), 0);
    }
    let unknown = operations::named(&label("notes"), Vec::new(), Path::new(SHOP));
    assert_eq!(unknown, Err(BlockFault::Unknown(label("notes"))));
}

fn each_change_is_a_version<S: BlockStore>(store: &mut S) {
    let first = set(store, "persona", "be brief", 1);
    assert_eq!((first.version.unwrap().at, first.version.unwrap().deed), (at(1), BlockDeed::Set));
    let text = "and kind".to_owned();
    assert!(matches!(changed(store, "persona", &BlockChange::Append { text }, 2), Changed::Written(_)));
    let same = BlockChange::Set { text: "be brief\nand kind\n".to_owned() };
    assert!(matches!(changed(store, "persona", &same, 3), Changed::Unchanged(_)));
    changed(store, "persona", &BlockChange::Clear, 4);
    let versions = store.block_versions(&first.key).unwrap();
    assert_eq!(values(&versions), ["", "be brief\nand kind", "be brief"]);
    let deeds: Vec<BlockDeed> = versions.iter().map(|block| block.version.unwrap().deed).collect();
    assert_eq!(deeds, [BlockDeed::Clear, BlockDeed::Append, BlockDeed::Set]);
    assert_eq!(store.blocks(None).unwrap(), versions.get(..1).unwrap());
    let written = create(store, &block("notes", ""), &|_| false, at(5)).ok().unwrap();
    let labels: Vec<String> = store.blocks(None).unwrap().iter().map(|block| block.key.label.to_string()).collect();
    assert_eq!((labels, written.description.as_str()), (vec!["notes".to_owned(), "persona".to_owned()], "about tests"));
}

fn a_rollback_is_exact_and_a_version<S: BlockStore>(store: &mut S) {
    let exact = "  two\n\n\tlines ä 🦀 \"';--";
    let first = set(store, "human", exact, 1);
    set(store, "human", "two", 2);
    set(store, "human", "three", 3);
    let here = &(label("human"), Path::new(SHOP));
    let back = |store: &mut S, steps: usize, second: i64| {
        roll_back(store, (&here.0, here.1), RollbackTarget::Steps(steps), at(second))
    };
    let Ok(Changed::Written(restored)) = back(store, 2, 4) else { panic!("it is restored") };
    assert_eq!((restored.value.as_str(), restored.version.unwrap().deed), (exact, BlockDeed::Rollback));
    assert_eq!(values(&store.block_versions(&first.key).unwrap()), [exact, "three", "two", exact]);
    assert_eq!(value(store, "human", SHOP), exact);
    assert!(matches!(back(store, 3, 5), Ok(Changed::Unchanged(_))));
    assert!(matches!(back(store, 1, 6), Ok(Changed::Written(block)) if block.value == "three"));
    assert_eq!(refused(back(store, 5, 7)), BlockFault::TooFewVersions(5));
    assert_eq!(refused(back(store, usize::MAX, 7)), BlockFault::TooFewVersions(5));
    let unknown = roll_back(store, (&label("notes"), here.1), RollbackTarget::Steps(1), at(8));
    assert_eq!(refused(unknown), BlockFault::Unknown(label("notes")));
}

fn a_rollback_to_a_time_takes_what_held_then<S: BlockStore>(store: &mut S) {
    for (text, second) in [("one", 10), ("two", 20), ("three", 30)] {
        set(store, "human", text, second);
    }
    let mut back = |second: i64, now: i64| {
        let target = RollbackTarget::Time(at(second));
        roll_back(store, (&label("human"), Path::new(SHOP)), target, at(now))
    };
    assert!(matches!(back(29, 40), Ok(Changed::Written(block)) if block.value == "two"));
    assert!(matches!(back(30, 50), Ok(Changed::Written(block)) if block.value == "three"));
    assert!(matches!(back(40, 60), Ok(Changed::Written(block)) if block.value == "two"));
    assert!(matches!(back(10, 70), Ok(Changed::Written(block)) if block.value == "one"));
    assert!(matches!(back(500, 80), Ok(Changed::Unchanged(_))));
    assert_eq!(refused(back(9, 90)), BlockFault::NotThatOld);
}

fn the_oldest_versions_are_dropped<S: BlockStore>(store: &mut S) {
    let mut key = None;
    for number in 0..MAX_VERSIONS + 5 {
        key = Some(set(store, "human", &format!("text {number}"), i64::try_from(number).unwrap()).key);
    }
    let versions = store.block_versions(&key.unwrap()).unwrap();
    assert_eq!((versions.len(), versions.last().unwrap().value.as_str()), (MAX_VERSIONS, "text 5"));
    assert_eq!(value(store, "human", SHOP), format!("text {}", MAX_VERSIONS + 4));
}

fn a_block_of_a_project_is_not_seen_from_another<S: BlockStore>(store: &mut S) {
    set(store, "project", "the shop", 1);
    set(store, "persona", "be brief", 2);
    create(store, &block("notes", ""), &|_| false, at(3)).ok().unwrap();
    create(store, &of_project(SHOP, block("notes", "")), &|_| false, at(4)).ok().unwrap();
    set(store, "notes", "of the shop", 5);
    assert_eq!((value(store, "project", SHOP), value(store, "notes", SHOP)), ("the shop".into(), "of the shop".into()));
    for elsewhere in [SHOP2, "/home/ann", "/home/ann/shop/src", "/", ""] {
        assert_eq!(value(store, "persona", elsewhere), "be brief", "{elsewhere}");
        assert_eq!((value(store, "project", elsewhere), value(store, "notes", elsewhere)), Default::default());
    }
    assert_eq!((store.blocks(Some(Path::new(SHOP2))).unwrap().len(), store.blocks(None).unwrap().len()), (2, 4));
    assert_eq!(value(store, "project", "/home/ann//shop/."), "the shop", "paths are compared by their components");
}

fn a_version_of_an_older_text_is_not_written<S: BlockStore>(store: &mut S) {
    let old = set(store, "human", "one", 1);
    set(store, "human", "two", 2);
    let late = Block { value: "late".to_owned(), ..old.clone() };
    assert_eq!(store.write_block(&late, BlockDeed::Set, at(3)).unwrap(), None);
    let unaware = Block { version: None, ..late };
    assert_eq!(store.write_block(&unaware, BlockDeed::Set, at(3)).unwrap(), None);
    assert_eq!(values(&store.block_versions(&old.key).unwrap()), ["two", "one"]);
    // A number is given once: the first version of a block that was forgotten is another one.
    store.forget_block(&old.key, None, at(4)).unwrap();
    let again = set(store, "human", "one", 5);
    assert!(again.version.unwrap().number > old.version.unwrap().number + 1);
}

fn a_refused_change_stores_nothing<S: BlockStore>(store: &mut S) {
    let human = set(store, "human", "tea at four", 1);
    let mut change_of = |name: &str, how: &BlockChange| {
        let has_secret = |text: &str| text.contains("sesame");
        refused(change(store, (&label(name), Path::new(SHOP)), how, &has_secret, at(2)))
    };
    let text = |text: &str| text.to_owned();
    for (how, fault) in [
        (BlockChange::Append { text: text("open sesame") }, BlockFault::Secret),
        (BlockChange::Set { text: text(" \n") }, BlockFault::Empty),
        (BlockChange::Replace { old: text("five"), new: text("six") }, BlockFault::NotFound),
        (BlockChange::Replace { old: text("t"), new: text("d") }, BlockFault::NotUnique),
        (BlockChange::Prepend { text: "x".repeat(2_000) }, BlockFault::TooLong { chars: 2_012, max_chars: 2_000 }),
    ] {
        assert_eq!(change_of("human", &how), fault, "{how:?}");
    }
    let append = BlockChange::Append { text: text("x") };
    assert_eq!(change_of("notes", &append), BlockFault::Unknown(label("notes")));
    assert_eq!(store.block_versions(&human.key).unwrap(), [human]);
}

fn a_new_block_satisfies_its_constraints<S: BlockStore>(store: &mut S) {
    let new = Block { template: "Rules:\n\u{1b}[31m- none\n".to_owned(), ..block("notes", "does not count") };
    let written = create(store, &new, &|_| false, at(1)).ok().unwrap();
    assert_eq!((written.value.as_str(), written.template.as_str()), ("Rules:\n- none", "Rules:\n- none"));
    set(store, "notes", "else", 2);
    assert!(matches!(changed(store, "notes", &BlockChange::Clear, 3), Changed::Written(block) if block == Block {
        version: block.version, ..written.clone()
    }));
    let long = "x".repeat(201);
    for (new, fault) in [
        (block("notes", ""), BlockFault::Exists(label("notes"))),
        (block("persona", ""), BlockFault::Exists(label("persona"))),
        (of_project(SHOP, block("project", "")), BlockFault::Exists(label("project"))),
        (Block { max_chars: 0, ..block("other", "") }, BlockFault::Limit(8_000)),
        (Block { max_chars: 8_001, ..block("other", "") }, BlockFault::Limit(8_000)),
        (Block { description: long, ..block("other", "") }, BlockFault::TooLong { chars: 201, max_chars: 200 }),
        (Block { description: "open sesame".to_owned(), ..block("other", "") }, BlockFault::Secret),
        (Block { template: "open sesame".to_owned(), ..block("other", "") }, BlockFault::Secret),
        (
            Block { max_chars: 3, template: "four".to_owned(), ..block("other", "") },
            BlockFault::TooLong { chars: 4, max_chars: 3 },
        ),
    ] {
        let has_secret = |text: &str| text.contains("sesame");
        assert_eq!(refused(create(store, &new, &has_secret, at(4))), fault, "{new:?}");
    }
    // Two delivered ones and this one have 6,000.
    let large = |name: &str, max_chars| Block { max_chars, ..block(name, "") };
    create(store, &large("large", 8_000), &|_| false, at(5)).ok().unwrap();
    let one_more = create(store, &large("more", 2_001), &|_| false, at(6));
    assert_eq!(refused(one_more), BlockFault::LimitsTogether(16_000));
    create(store, &large("more", 2_000), &|_| false, at(7)).ok().unwrap();
    create(store, &of_project(SHOP, large("large", 8_000)), &|_| false, at(8)).ok().unwrap();
    assert_eq!(store.blocks(None).unwrap().len(), 4);
}

fn an_imported_block_is_made_or_changed<S: BlockStore>(store: &mut S) {
    let mut imported = |block: &Block, second: i64| import(store, block, &|text| text.contains("sesame"), at(second));
    let notes = Block { template: "begin".to_owned(), max_chars: 20, ..block("notes", "one\n") };
    let Ok(Changed::Written(made)) = imported(&notes, 1) else { panic!("it is made") };
    assert_eq!(made, Block { value: "one".to_owned(), version: made.version, ..notes });
    assert!(matches!(imported(&block("notes", "one"), 2), Ok(Changed::Unchanged(_))));
    let newer = Block { value: "two".to_owned(), ..made.clone() };
    assert!(matches!(imported(&block("notes", "two"), 3), Ok(Changed::Written(block)) if block == Block {
        version: block.version, ..newer.clone()
    }));
    let long = BlockFault::TooLong { chars: 21, max_chars: 20 };
    assert_eq!(refused(imported(&block("notes", &"x".repeat(21)), 4)), long, "its limit stays");
    assert_eq!(refused(imported(&block("other", "open sesame"), 4)), BlockFault::Secret);
    let elsewhere = of_project(SHOP, block("persona", "be brief"));
    assert_eq!(refused(imported(&elsewhere, 4)), BlockFault::Exists(label("persona")), "it holds everywhere only");
    let project = of_project(SHOP, block("project", "the shop"));
    assert!(matches!(imported(&project, 5), Ok(Changed::Written(_))));
    assert_eq!(value(store, "project", SHOP), "the shop");
    let deeds: Vec<BlockDeed> =
        store.block_versions(&made.key).unwrap().iter().map(|block| block.version.unwrap().deed).collect();
    assert_eq!(deeds, [BlockDeed::Import, BlockDeed::Import]);
}

fn a_forgotten_block_is_gone_with_its_versions<S: BlockStore>(store: &mut S) {
    let human = set(store, "human", "one", 1);
    set(store, "human", "two", 2);
    set(store, "persona", "be brief", 3);
    assert_eq!(store.forget_block(&human.key, None, at(4)).unwrap(), 2);
    assert_eq!(store.block_versions(&human.key).unwrap(), []);
    assert_eq!((value(store, "human", SHOP).as_str(), value(store, "persona", SHOP).as_str()), ("", "be brief"));
    set(store, "human", "three", 5);
    let empty = Block { value: String::new(), version: None, ..human.clone() };
    assert_eq!(store.forget_block(&human.key, Some(&empty), at(6)).unwrap(), 1);
    let versions = store.block_versions(&human.key).unwrap();
    assert_eq!((values(&versions), versions.first().unwrap().version.unwrap().deed), (vec![""], BlockDeed::Clear));
}

fn hostile_texts_are_data<S: BlockStore>(store: &mut S) {
    let hostile = ["x'); DROP TABLE block_versions; --", "\u{0}nul", "🦀 \u{202e}\u{1b}[31m", "a\" OR \"b", "%_*"];
    for (name, text) in ["a", "b", "c", "d", "e"].into_iter().zip(hostile) {
        let odd = of_project(&format!("/srv/{text}"), block(name, text));
        let odd = Block { description: text.to_owned(), template: text.to_owned(), ..odd };
        let written = store.write_block(&odd, BlockDeed::New, at(1)).unwrap().unwrap();
        assert_eq!(written, Block { version: written.version, ..odd });
        assert_eq!(store.block_versions(&written.key).unwrap(), [written]);
    }
}
