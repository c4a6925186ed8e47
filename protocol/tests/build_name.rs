//! Tests for the name of a build: with a repository, as a published package, and with neither.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

#[path = "../build.rs"]
#[expect(clippy::print_stdout, dead_code, reason = "cargo calls its `main`, and reads what it prints")]
mod build;

use std::{fs, path::Path, process::Command};

/// A package in a separate folder.
fn package(folder: &Path) {
    fs::create_dir_all(folder.join("src")).unwrap();
    fs::create_dir_all(folder.join("tests")).unwrap();
    for (name, text) in [("build.rs", "fn main() {}"), ("src/lib.rs", "// one"), ("tests/golden.txt", "bytes")] {
        fs::write(folder.join(name), text).unwrap();
    }
}

fn git(folder: &Path, arguments: &[&str]) {
    let settings = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"];
    let mut command = Command::new("git");
    command.arg("-C").arg(folder).args(settings).args(arguments).env("GIT_COMMITTER_DATE", "2026-01-31T13:00:00+01:00");
    assert!(command.output().unwrap().status.success(), "{arguments:?}");
}

#[test]
fn a_repository_gives_its_commit_and_time_and_says_what_was_changed() {
    let folder = tempfile::tempdir().unwrap();
    package(folder.path());
    assert_eq!(build::repository_commit(folder.path()), None, "there is none yet");
    git(folder.path(), &["init", "-q"]);
    assert_eq!(build::repository_commit(folder.path()), None, "the package is not in it");
    git(folder.path(), &["add", "."]);
    git(folder.path(), &["commit", "-qm", "one"]);
    let name = build::repository_commit(folder.path()).unwrap();
    let (commit, time) = name.split_once(" of ").unwrap();
    assert!(commit.len() == 9 && commit.bytes().all(|byte| byte.is_ascii_hexdigit()), "{name}");
    assert_eq!(time, "2026-01-31 12:00 UTC");
    fs::write(folder.path().join("src/lib.rs"), "// two").unwrap();
    assert_eq!(build::repository_commit(folder.path()), Some(format!("{commit}+ of {time}")));
    let unpacked = folder.path().join("vendor/package");
    package(&unpacked);
    assert_eq!(build::repository_commit(&unpacked), None, "the repository around it is another project's");
}

#[test]
fn a_published_package_gives_the_commit_that_cargo_has_noted() {
    let folder = tempfile::tempdir().unwrap();
    package(folder.path());
    assert_eq!(build::package_commit(folder.path()), None);
    let note = folder.path().join(".cargo_vcs_info.json");
    fs::write(&note, r#"{ "git": { "sha1": "0123456789abcdef0123456789abcdef01234567" }, "path_in_vcs": "protocol" }"#)
        .unwrap();
    assert_eq!(build::package_commit(folder.path()).as_deref(), Some("012345678"));
    for other in ["", "{}", r#"{"git":{"sha1":"short"}}"#, r#"{"git":{"sha1":"not hex digits at all"}}"#] {
        fs::write(&note, other).unwrap();
        assert_eq!(build::package_commit(folder.path()), None, "{other}");
    }
}

#[test]
fn sources_have_a_hash_that_tells_them_apart() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    package(one.path());
    package(two.path());
    assert_eq!(build::sources_hash(one.path()), build::sources_hash(two.path()), "the place does not count");
    fs::write(two.path().join("src/lib.rs"), "// two").unwrap();
    assert_ne!(build::sources_hash(one.path()), build::sources_hash(two.path()));
}
