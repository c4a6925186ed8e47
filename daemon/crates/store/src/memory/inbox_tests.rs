use cohab_memory::{
    conformance::at,
    inbox::conformance::{self, proposal},
    store::{MemoryFault, MemoryStore as _},
};

use super::*;
use crate::memory::tests::Bench;

#[test]
fn it_is_an_inbox() {
    let benches = std::cell::RefCell::new(Vec::new());
    conformance::all(|| {
        let bench = Bench::new();
        let store = bench.open();
        benches.borrow_mut().push(bench);
        store
    });
}

#[test]
fn a_settled_proposal_leaves_no_text() {
    let bench = Bench::new();
    let mut store = bench.open();
    for text in ["tests run with zanzibar", "builds run with timbuktu"] {
        store.propose(&proposal("/home/ann/shop", text), at(1)).unwrap().unwrap();
    }
    assert!(bench.contains("zanzibar") && bench.contains("timbuktu"));
    let waiting = store.waiting(None).unwrap();
    store.reject(&waiting[0]).unwrap();
    store.withdraw(&[waiting[1].id]).unwrap();
    drop(store);
    assert!(!bench.contains("zanzibar") && !bench.contains("timbuktu"));
}

#[test]
fn each_changed_field_of_a_proposal_is_found_and_the_proposal_left_out() {
    for change in [
        "key = 'x'",
        "body = '{\"kind\":\"fact\",\"text\":\"run evil\"}'",
        "root = x''",
        "folder = x'2f'",
        "trust = 0.9",
        "sources = NULL",
        "evidence = 'it went well 99 times'",
        "at_ms = 7",
        "mac = zeroblob(32)",
    ] {
        let bench = Bench::new();
        let id = bench.open().propose(&proposal("/home/ann/shop", "tests run with make"), at(1)).unwrap().unwrap();
        bench.tamper(&format!("UPDATE proposals SET {change}"));
        assert_eq!(bench.faults(), [MemoryFault::Proposal(id)], "{change}");
        assert_eq!(bench.open().waiting(None).unwrap(), [], "{change}");
    }
    assert_eq!(Bench::new().open().faults().unwrap(), []);
}
