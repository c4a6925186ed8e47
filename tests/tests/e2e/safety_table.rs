//! Checks the tables of rules: every test that they name exists.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use cohab_e2e::binaries::workspace_root;

use crate::sources::without_tests;

/// All sources below a folder, with their paths.
fn sources(folder: &Path, found: &mut Vec<(PathBuf, String)>) {
    for path in fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).expect("sources are UTF-8");
            found.push((path, text));
        }
    }
}

fn sources_of(folders: &[&str]) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    folders.iter().for_each(|folder| sources(&workspace_root().join(folder), &mut found));
    found
}

#[test]
fn every_test_that_a_table_names_exists_and_every_rule_has_one_or_is_open() {
    let sources = sources_of(&["protocol", "shell-relay", "client", "daemon", "tests"]);
    // Numbered cases of the relay are tests, too, one for each shell.
    let functions = ["fn ", "case!("]
        .into_iter()
        .flat_map(|begin| sources.iter().flat_map(move |(_, text)| text.split(begin).skip(1)));
    let names: BTreeSet<&str> = functions.filter_map(|rest| rest.split(['(', '<', ' ', ']']).next()).collect();
    let tables: Vec<_> =
        fs::read_dir(workspace_root().join("tests/safety")).expect("there are tables").flatten().collect();
    assert!(!tables.is_empty());
    let is_row = |line: &&str| line.starts_with("| ") && !line.ends_with("| test, or open |");
    for table in tables {
        let text = fs::read_to_string(table.path()).expect("a table is text");
        let rows: Vec<&str> = text.lines().filter(is_row).collect();
        assert!(rows.len() > 5, "{:?} has no rows", table.path());
        for row in rows {
            let column = row.rsplit(" | ").next().unwrap_or_default();
            let is_test = |word: &&str| word.contains('_') && !word.contains(char::is_uppercase);
            let tests: Vec<&str> = column.split('`').skip(1).step_by(2).filter(is_test).collect();
            assert!(!tests.is_empty() || row.contains("open:"), "neither a test nor open: {row}");
            for test in tests {
                assert!(names.contains(test), "there is no test `{test}`: {row}");
            }
        }
    }
}

#[test]
fn nothing_of_ours_listens_on_the_network() {
    // On this machine only, and for a time: the doctor measures with a model server of its own, and a browser comes back from a sign-in.
    let local = ["client/crates/doctor/src/doctor/latency/model_server.rs", "daemon/crates/mcp/src/sign_in/browser.rs"];
    for (path, text) in sources_of(&["protocol", "shell-relay", "client", "daemon"]) {
        let code = without_tests(&text);
        if local.iter().any(|local| path.ends_with(local)) {
            let bound = code.split("::bind(").skip(1).all(|rest| rest.starts_with("(\"127.0.0.1\", 0)"));
            assert!(bound && code.contains("::bind("), "{} is bound to another address", path.display());
            continue;
        }
        let is_test = path.to_string_lossy().contains("test");
        for word in ["TcpListener", "UdpSocket", "from_abstract_name"] {
            assert!(is_test || !code.contains(word), "{} says {word}", path.display());
        }
    }
}
