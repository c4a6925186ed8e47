//! Rules for each source file: lints are not weakened, nothing is left to do, no path of a machine.

use std::{
    fs,
    path::{Path, PathBuf},
};

use cohab_e2e::binaries::workspace_root;

use crate::sources::{Source, sources};

/// The files that name what no other may say.
fn is_rule(source: &Source) -> bool {
    ["architecture.rs", "source_rules.rs"].iter().any(|name| source.path.ends_with(name))
}

/// The manifests of all packages of the workspace.
pub(crate) fn manifests(root: &Path) -> Vec<PathBuf> {
    let workspace = fs::read_to_string(root.join("Cargo.toml")).expect("the workspace has a manifest");
    let (_, members) = workspace.split_once("members = [").expect("it has members");
    let (members, _) = members.split_once(']').expect("the list ends");
    let manifests: Vec<_> =
        members.split('"').skip(1).step_by(2).map(|member| root.join(member).join("Cargo.toml")).collect();
    assert!(manifests.len() > 5, "{members}");
    manifests
}

#[test]
fn lints_apply_everywhere_and_are_not_weakened() {
    let root = workspace_root();
    for manifest in manifests(&root) {
        let text = fs::read_to_string(&manifest).expect("manifests are UTF-8");
        assert!(
            text.contains("[lints]\nworkspace = true"),
            "{} does not take the workspace's lints",
            manifest.display()
        );
    }
    for source in sources().iter().filter(|source| !is_rule(source)) {
        assert!(!source.says("#![allow("), "{} switches lints off for a whole file", source.path);
        assert!(!source.says("#[allow("), "{}: use `#[expect(.., reason = ..)]`", source.path);
    }
}

#[test]
fn nothing_is_left_to_do() {
    let root = workspace_root();
    for source in sources().iter().filter(|source| !is_rule(source)) {
        let whole = fs::read_to_string(root.join(&source.path)).expect("sources are UTF-8");
        for mark in ["todo!(", "unimplemented!("] {
            assert!(!whole.contains(mark), "{} says {mark}", source.path);
        }
        let mut comments = whole.lines().filter_map(|line| line.split_once("//")).map(|(_, comment)| comment);
        let is_open = |comment: &str| ["TODO", "FIXME", "XXX"].iter().any(|mark| comment.contains(mark));
        assert!(!comments.any(is_open), "{} has an open end", source.path);
    }
}

#[test]
fn no_path_of_the_machine_it_was_written_on() {
    let root = workspace_root();
    // A folder right below `/` may well have a name that also stands in an example.
    let here = root.display().to_string();
    let names = [Some(here.clone()).filter(|path| path.matches('/').count() > 1), std::env::var("CARGO_HOME").ok()];
    for source in sources() {
        let whole = fs::read_to_string(root.join(&source.path)).expect("sources are UTF-8");
        for name in names.iter().flatten() {
            assert!(!whole.contains(name.as_str()), "{} names {name}", source.path);
        }
    }
}
