//! The tests that every [`Inbox`] has to pass. Each takes an empty store and panics when the store breaks the contract.

#![expect(clippy::unwrap_used, reason = "tests")]

use std::path::Path;

use super::{Inbox, MAX_BODY_BYTES, MAX_WAITING, NewProposal, Proposed, Waiting};
use crate::{
    conformance::at,
    record::{MemoryId, Scope, Source},
    store::MemoryStore,
};

/// All of them.
pub fn all<S: MemoryStore + Inbox>(empty: impl Fn() -> S) {
    a_proposal_waits_until_it_is_withdrawn(&mut empty());
    the_same_proposal_waits_once_with_its_newest_evidence(&mut empty());
    a_rejected_proposal_never_comes_back_in_its_project(&mut empty());
    a_fact_is_not_proposed(&mut empty());
    another_projects_proposals_are_not_seen(&mut empty());
    the_oldest_of_too_many_are_dropped(&mut empty());
    a_line_is_due_once_a_day_and_for_something_new(&mut empty());
}

/// The proposal of a fact for this project.
#[must_use]
pub fn proposal(root: &str, text: &str) -> NewProposal {
    NewProposal {
        what: Proposed::Fact { text: text.to_owned() },
        scope: Scope::Project(root.into()),
        trust: 0.7,
        sources: vec![Source::Turn("7".into())],
        evidence: "it went well 3 times".into(),
        folder: root.into(),
    }
}

const SHOP: &str = "/home/ann/shop";

fn waiting<S: Inbox>(store: &S) -> Vec<Waiting> {
    store.waiting(Some(Path::new(SHOP))).unwrap()
}

fn a_proposal_waits_until_it_is_withdrawn<S: Inbox>(store: &mut S) {
    let new = proposal(SHOP, "this project is tested with \"x\"\u{1f980}");
    let id = store.propose(&new, at(5)).unwrap().unwrap();
    let skill = Proposed::Procedure { name: "release".into(), text: "---\nname: release\n---\n1. `git tag`\n".into() };
    let skill = NewProposal { what: skill, scope: Scope::Everywhere, sources: Vec::new(), ..new.clone() };
    let other = store.propose(&skill, at(6)).unwrap().unwrap();
    assert_eq!(waiting(store), [Waiting { id, new, at: at(5) }, Waiting { id: other, new: skill.clone(), at: at(6) }]);
    store.withdraw(&[id, id]).unwrap();
    assert_eq!(waiting(store), [Waiting { id: other, new: skill, at: at(6) }]);
}

fn the_same_proposal_waits_once_with_its_newest_evidence<S: Inbox>(store: &mut S) {
    let first = proposal(SHOP, "tests run with make");
    let id = store.propose(&first, at(1)).unwrap();
    let again =
        NewProposal { evidence: "it went well 9 times".into(), trust: 0.3, sources: Vec::new(), ..first.clone() };
    assert_eq!(store.propose(&again, at(2)).unwrap(), id);
    // What machines have once doubted stays in doubt.
    assert_eq!(store.propose(&NewProposal { trust: 0.7, ..again.clone() }, at(3)).unwrap(), id);
    assert_eq!(waiting(store), [Waiting { id: id.unwrap(), new: again, at: at(1) }]);
}

fn a_rejected_proposal_never_comes_back_in_its_project<S: Inbox>(store: &mut S) {
    let new = proposal(SHOP, "tests run with make");
    store.propose(&new, at(1)).unwrap().unwrap();
    let skill = |text: &str| NewProposal {
        what: Proposed::Procedure { name: "tests run with make".into(), text: text.into() },
        ..new.clone()
    };
    store.propose(&skill("one"), at(1)).unwrap().unwrap();
    store.reject(&waiting(store)[0]).unwrap();
    assert_eq!(store.propose(&new, at(2)).unwrap(), None);
    assert_eq!(waiting(store).len(), 1, "a skill of the same name is another proposal");
    store.reject(&waiting(store)[0]).unwrap();
    assert_eq!(store.propose(&skill("another text"), at(2)).unwrap(), None);
    assert_eq!(waiting(store), []);
    let elsewhere = NewProposal { scope: Scope::Everywhere, ..new };
    assert!(store.propose(&elsewhere, at(3)).unwrap().is_some());
}

fn a_fact_is_not_proposed<S: MemoryStore + Inbox>(store: &mut S) {
    let new = proposal(SHOP, "tests run with make");
    store.remember(&new.accepted_fact().unwrap(), at(1)).unwrap();
    assert_eq!(store.propose(&new, at(2)).unwrap(), None);
    let long = proposal(SHOP, &"x".repeat(MAX_BODY_BYTES));
    assert_eq!(store.propose(&long, at(2)).unwrap(), None);
    assert_eq!(waiting(store), []);
    assert!(store.get(MemoryId(1)).unwrap().is_some());
}

fn another_projects_proposals_are_not_seen<S: Inbox>(store: &mut S) {
    store.propose(&proposal("/home/ann/blog", "tests run with make"), at(1)).unwrap().unwrap();
    assert_eq!(waiting(store), []);
    assert_eq!(store.waiting(Some(Path::new("/home/ann/blog/src"))).unwrap().len(), 1);
    assert_eq!(store.waiting(None).unwrap().len(), 1);
}

fn the_oldest_of_too_many_are_dropped<S: Inbox>(store: &mut S) {
    for n in 0..MAX_WAITING + 2 {
        store.propose(&proposal(SHOP, &format!("fact {n}")), at(1)).unwrap().unwrap();
    }
    let left = waiting(store);
    assert_eq!(left.len() as u64, MAX_WAITING);
    assert_eq!(left[0].new.what, Proposed::Fact { text: "fact 2".into() });
}

fn a_line_is_due_once_a_day_and_for_something_new<S: Inbox>(store: &mut S) {
    const DAY: i64 = 24 * 60 * 60;
    let shop = Path::new(SHOP);
    let due = |store: &mut S, second: i64| store.due_notice(shop, at(second)).unwrap();
    assert_eq!(due(store, 1), None);
    store.propose(&proposal("/home/ann/blog", "elsewhere"), at(1)).unwrap().unwrap();
    assert_eq!(due(store, 2), None);
    store.propose(&proposal(SHOP, "one"), at(2)).unwrap().unwrap();
    assert_eq!((due(store, 3), due(store, 4)), (Some(1), None));
    store.propose(&proposal(SHOP, "two"), at(5)).unwrap().unwrap();
    assert_eq!((due(store, DAY), due(store, DAY + 4), due(store, DAY + 5)), (None, Some(2), None));
    assert_eq!(due(store, 9 * DAY), None, "nothing is new");
    store.propose(&proposal(SHOP, "three"), at(6)).unwrap().unwrap();
    assert_eq!(due(store, 0), Some(3), "a clock that was set back does not silence it");
}
