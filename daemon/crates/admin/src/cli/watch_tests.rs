use cohab_store::watchers::{FiringRow, WatcherStore};
use jiff::ToSpan as _;

use super::*;
use crate::cli::testing::{self, Home};

/// Runs the command in a shell of cohab, at the time of the tests.
fn in_shell(home: &Home, words: &[&str]) -> String {
    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        args: WatchArgs,
    }
    let args = match <Line as clap::Parser>::try_parse_from([&["watch"], words].concat()) {
        Ok(line) => line.args,
        Err(error) => return error.to_string(),
    };
    let files = WatcherFiles { store: home.paths.watchers_file(), signal: home.paths.watchers_signal() };
    let terminal = Some("shell:1".to_owned());
    let roster = Roster { files, folder: "/".into(), home: "/".into(), terminal, now: testing::now() };
    let (mut output, mut errors) = (Vec::new(), Vec::new());
    let text = done(&args, &roster).and_then(|text| Ok(output.write_all(text.as_bytes())?));
    super::super::finish(text, &mut output, &mut errors);
    String::from_utf8([output, errors].concat()).expect("it is text")
}

fn store(home: &Home) -> WatcherStore {
    WatcherStore::create(&home.paths.watchers_file(), &home.paths.watchers_signal()).expect("a store")
}

#[test]
fn a_watcher_is_made_listed_paused_and_removed() {
    let home = Home::empty();
    let made = in_shell(&home, &["--when", "every 15m", "is the site up?", "--name", "site"]);
    insta::assert_snapshot!(made, @r"
    Watcher 1 waits: every 15m, next 08:58.
    It asks your question in this shell, each time.
    `cohab watch rm 1` removes it.
    ");
    in_shell(&home, &["--when", "at 2027-01-02 09:00"]);
    let firing = FiringRow {
        at: testing::now().timestamp() - 2.hours(),
        summary: "every 15m".into(),
        detail: String::new(),
        anchor: String::new(),
        due: Some(testing::now().timestamp() + 15.minutes()),
    };
    store(&home).fired(1, &firing).unwrap();
    assert_eq!(in_shell(&home, &["pause", "2"]), "Paused watcher 2.\n");
    insta::assert_snapshot!(in_shell(&home, &[]), @r#"
    1  active · site · every 15m
       asks "is the site up?" · next 08:58 · fired once, last 06:43: every 15m, not shown yet
    2  paused · at 2027-01-02 09:00
    "#);
    assert_eq!(in_shell(&home, &["pause", "2"]), "watcher 2 is not active.\n");
    assert_eq!(in_shell(&home, &["resume", "2"]), "Resumed watcher 2.\n");
    assert_eq!(in_shell(&home, &["rm", "site"]), "Removed watcher 1 (site).\n");
    let json: Value = serde_json::from_str(&in_shell(&home, &["list", "--json"])).expect("JSON");
    assert_eq!((&json["watchers"][0]["id"], &json["watchers"][0]["state"]), (&json!(2), &json!("active")));
    assert_eq!(json["watchers"][0]["due"], "2027-01-02T09:00:00Z");
}

#[test]
fn mistakes_are_named_with_what_helps() {
    let home = Home::empty();
    let burns = in_shell(&home, &["--when", "file there burns"]);
    insta::assert_snapshot!(burns, @r#"
    error: a file changes, appears or disappears
    Hint: for example: cohab watch --when "file build/app changes"
    "#);
    assert_eq!(in_shell(&home, &["rm", "3"]), "error: there is no watcher 3\nHint: `cohab watch list` lists them\n");
    assert!(in_shell(&home, &["why did it fail"]).contains("--when"));
    assert_eq!(in_shell(&home, &[]), "There are no watchers. `cohab watch --help` shows what to wait for.\n");
}
