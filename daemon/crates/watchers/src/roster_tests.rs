use std::{fs, path::Path};

use super::*;

struct Bench {
    folder: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a folder") }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn roster(&self) -> Roster {
        Roster {
            files: WatcherFiles { store: self.path().join("watchers.db"), signal: self.path().join("signal/active") },
            folder: self.path().to_owned(),
            home: self.path().to_owned(),
            terminal: Some("shell:1".to_owned()),
            now: "2026-11-29T14:00:00+00:00[UTC]".parse().expect("a time"),
        }
    }

    fn add(&self, when: &str) -> Result<u32, RosterError> {
        self.roster().add(Wish { when, ..Wish::default() }).map(|(id, _)| id)
    }
}

#[test]
fn what_cannot_be_waited_for_is_refused_with_a_reason() {
    let bench = Bench::new();
    fs::write(bench.path().join("there"), "x").expect("a file");
    let long = "x".repeat(MAX_QUESTION_BYTES + 1);
    let plain = Wish { when: "in 10m", ..Wish::default() };
    for (wish, expected) in [
        (Wish { when: "file there burns", ..plain }, "a file changes, appears or disappears"),
        (Wish { when: "file there appears", ..plain }, "is there already"),
        (Wish { when: "at 2020-01-01 09:00", ..plain }, "that time is over"),
        (Wish { is_repeat: true, ..plain }, "that happens only once, so it cannot repeat"),
        (Wish { name: Some("7"), ..plain }, "that is no name for a watcher"),
        (Wish { question: Some(&long), ..plain }, "the question is longer than 4096 bytes"),
    ] {
        let error = bench.roster().add(wish).expect_err(expected);
        assert!(error.message.contains(expected), "{wish:?}: {error:?}");
    }
    let outside = Roster { terminal: None, ..bench.roster() };
    assert!(outside.add(plain).expect_err("no shell").message.starts_with("this is no shell of cohab"));
    assert_eq!(bench.roster().all().unwrap(), []);
}

#[test]
fn a_name_is_given_once_and_a_question_is_stored_without_secrets() {
    let bench = Bench::new();
    let token = ["ghp_", "16C7e42F292c6912E7710c838347Ae178B4a"].concat();
    let question = format!("is {token} valid?");
    let wish = Wish { when: "in 10m", question: Some(&question), name: Some("t"), is_repeat: false };
    bench.roster().add(wish).unwrap();
    let stored = bench.roster().all().unwrap()[0].watcher.question.clone().expect("a question");
    assert!(!stored.contains(&token), "{stored}");
    assert_eq!(bench.roster().add(wish).unwrap_err().message, "watcher 1 has that name");
    bench.roster().remove("t").unwrap();
    assert!(bench.roster().add(wish).is_ok(), "the name is free");
}

#[test]
fn a_watcher_is_paused_and_waits_again_as_things_are_then() {
    let bench = Bench::new();
    let id = bench.add("file app changes").map_err(|error| error.message);
    assert!(id.unwrap_err().starts_with("there is no file "));
    fs::write(bench.path().join("app"), "1").expect("a file");
    let id = bench.add("file app changes").unwrap().to_string();
    let anchor = || bench.roster().all().unwrap()[0].watcher.anchor.clone();
    let before = anchor();
    assert!(bench.roster().pause(&id).unwrap().1 && !bench.roster().pause(&id).unwrap().1);
    fs::write(bench.path().join("app"), "22").expect("a file");
    assert!(bench.roster().resume(&id).unwrap().1 && !bench.roster().resume(&id).unwrap().1);
    assert_ne!(anchor(), before, "what changed meanwhile does not count");
    fs::remove_file(bench.path().join("app")).expect("it was there");
    bench.roster().pause(&id).unwrap();
    assert!(bench.roster().resume(&id).unwrap_err().message.starts_with("there is no file "));
    assert_eq!(bench.roster().pause("no").unwrap_err().message, "there is no watcher no");
}
