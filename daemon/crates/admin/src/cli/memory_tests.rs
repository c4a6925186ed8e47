use std::{fs, path::Path};

use clap::Parser;
use cohab_memory::{
    inbox::{Inbox as _, NewProposal, Proposed},
    record::{NewMemory, Origin, Scope},
    store::MemoryStore as _,
};
use cohab_store::memory::SqliteMemory;
use cohab_text::{sanitize::sanitize, terminal_attack_fixtures::HOSTILE};
use serde_json::Value;

use super::*;
use crate::cli::{
    Cli, Command,
    testing::{Home, at},
};

#[path = "memory/blocks_tests.rs"]
mod blocks;
#[path = "memory/inbox_tests.rs"]
mod inbox_tests;
#[path = "memory/learn_tests.rs"]
mod learn;
#[path = "memory/past_tests.rs"]
mod past;
#[path = "memory/transfer_tests.rs"]
mod transfer;

/// A home with a project `shop` and a folder `blog`.
struct Desk {
    home: Home,
    root: PathBuf,
}

/// Standard output, standard error and whether it went well.
type Ran = (String, String, bool);

impl Desk {
    fn new() -> Self {
        let (home, root) = Home::with_work_folder();
        fs::create_dir_all(root.join("shop/.git")).expect("made");
        fs::create_dir_all(root.join("shop/src")).expect("made");
        fs::create_dir_all(root.join("blog")).expect("made");
        Self { home, root }
    }

    fn run(&self, args: &[&str]) -> Ran {
        self.run_in("", args, None)
    }

    /// Runs it in a folder, two days after `add` at the earliest; `typed` are the answers at a terminal.
    fn run_in(&self, folder: &str, args: &[&str], typed: Option<&str>) -> Ran {
        let command = Cli::try_parse_from(["cohabd", "memory"].iter().chain(args)).expect("understood").command;
        let Some(Command::Memory(args)) = command else { panic!("another command") };
        let days = if matches!(args.command, Some(MemoryCommand::Add(_) | MemoryCommand::Import(_))) { 0 } else { 2 };
        let mut lines = typed.unwrap_or_default().as_bytes();
        let mut caller = Caller {
            paths: &self.home.paths,
            folder: self.root.join(folder).canonicalize().expect("a folder"),
            home: self.root.clone(),
            now: at(days * 24 * 3_600).to_zoned(jiff::tz::TimeZone::UTC),
            columns: None,
            input: &mut lines,
            is_terminal: typed.is_some(),
        };
        let (mut output, mut errors) = (Vec::new(), Vec::new());
        let status = run_by(&args, &mut caller, &mut output, &mut errors);
        let text = |bytes| String::from_utf8(bytes).expect("text").replace(&self.root.display().to_string(), "ROOT");
        (text(output), text(errors), status == ExitCode::SUCCESS)
    }

    fn add(&self, text: &str) -> String {
        self.run(&["add", text]).0
    }

    /// The texts of all facts, newest first.
    fn facts(&self) -> Vec<String> {
        let listed: Value = serde_json::from_str(&self.run(&["list", "--all", "--json"]).0).expect("JSON");
        let texts = listed["facts"].as_array().expect("a list").iter();
        texts.map(|fact| fact["text"].as_str().expect("text").to_owned()).collect()
    }

    fn facts_store(&self) -> SqliteMemory {
        let paths = &self.home.paths;
        SqliteMemory::create(&paths.memory_file(), &paths.memory_key_dir()).expect("made")
    }

    fn file(&self, text: &str) -> String {
        fs::write(self.root.join("facts.jsonl"), text).expect("written");
        "facts.jsonl".to_owned()
    }
}

#[test]
fn without_a_store_nothing_is_remembered_and_none_is_made() {
    let desk = Desk::new();
    for args in [&[][..], &["list"], &["search", "host"], &["audit"], &["forget", "--query", "host"]] {
        assert_eq!(desk.run(args), (format!("{NOTHING}\n"), String::new(), true), "{args:?}");
    }
    assert_eq!(desk.run(&["--json"]).0, "{\"facts\":[]}\n");
    assert_eq!(desk.run(&["export"]), (String::new(), String::new(), true));
    let unknown = "error: there is no fact 4\nHint: `cohab memory list --all` lists all facts\n";
    for args in [&["show", "4"][..], &["why", "4"], &["edit", "4", "x"], &["forget", "4"]] {
        assert_eq!(desk.run(args), (String::new(), unknown.to_owned(), false), "{args:?}");
    }
    assert!(!desk.home.paths.memory_file().exists());
}

#[test]
fn a_fact_is_remembered_once_and_says_how_to_delete_it() {
    let desk = Desk::new();
    let args = &["add", "staging  is", "on\nhost blue"];
    let told = "(1): staging is on host blue\n`cohab memory forget 1` deletes it.\n";
    assert_eq!(desk.run(args), (format!("Remembered {told}"), String::new(), true));
    assert_eq!(desk.run(args), (format!("Known already {told}"), String::new(), true));
    let told: Value =
        serde_json::from_str(&desk.run(&["add", "--json", "--at-prompt", "--", "-j4 is fast"]).0).expect("JSON");
    assert_eq!((&told["is_new"], &told["fact"]["text"]), (&true.into(), &"-j4 is fast".into()));
    assert_eq!(told["fact"]["origin"], "prompt");
}

#[test]
fn a_fact_about_the_project_holds_in_its_repository() {
    let desk = Desk::new();
    let told = desk.run_in("shop/src", &["add", "this project is tested with nextest"], None).0;
    assert!(told.starts_with("Remembered (1): this project is tested with nextest · in ~/shop\n"), "{told}");
    let told = desk.run_in("blog", &["add", "--project", "deploy with rsync"], None).0;
    assert!(told.contains("rsync · in ~/blog\n"), "{told}");
    let told = desk.run_in("blog", &["add", "--everywhere", "this folder is mine"], None).0;
    assert!(told.starts_with("Remembered (3): this folder is mine\n"), "{told}");
    let elsewhere = "1 fact holds in other projects: `cohab memory list --all` lists all.\n";
    let listed = desk.run_in("shop", &[], None).0;
    assert!(listed.starts_with("3  this folder is mine · 2 days ago\n1  this project is"), "{listed}");
    assert!(listed.contains("nextest · in ~/shop · 2 days ago\n") && listed.ends_with(elsewhere), "{listed}");
    assert_eq!(desk.run_in("shop", &["--all"], None).0.lines().count(), 3);
}

#[test]
fn what_cannot_be_a_fact_is_refused_with_what_helps() {
    let desk = Desk::new();
    let token = ["glpat", "-aB3dE5fG7hJ9kL1mN2pQ"].concat();
    for (text, error) in [
        (" \u{7}", "error: not remembered: the text has no words\nHint: "),
        (&*"long ".repeat(300), "error: not remembered: the text is longer than 1000 characters\nHint: "),
        (&*format!("the token is {token}"), "error: not remembered: the text holds a secret\nHint: remember where"),
    ] {
        for args in [&["add", text][..], &["edit", "1", text]] {
            let (told, errors, is_done) = desk.run(args);
            assert!(told.is_empty() && errors.starts_with(error) && !is_done, "{errors}");
        }
    }
    assert!(!desk.home.paths.memory_file().exists());
}

#[test]
fn facts_are_found_by_their_words_the_best_first() {
    let desk = Desk::new();
    for fact in ["staging is on host blue", "production is on host red", "tea is at four"] {
        desk.add(fact);
    }
    let found = desk.run(&["search", "staging", "host"]).0;
    assert_eq!(found, "1  staging is on host blue · 2 days ago\n2  production is on host red · 2 days ago\n");
    assert!(desk.run(&["search", "coffee"]).0.starts_with("No fact has a word of \"coffee\"."));
    assert!(desk.run(&["search", "the"]).1.starts_with("error: there is no word to search for in \"the\"\nHint: "));
}

#[test]
fn a_fact_is_shown_with_its_origin_and_its_versions() {
    let desk = Desk::new();
    desk.run_in("shop", &["add", "--at-prompt", "--project", "staging is on blue"], None);
    assert_eq!(
        desk.run(&["edit", "1", "staging", "is on green"]).0,
        "Remembered (2): staging is on green · in ~/shop\nIt replaces 1. `cohab memory why 2` shows the history.\n"
    );
    assert!(
        desk.run(&["edit", "1", "x y"]).1.starts_with("error: fact 1 was replaced by 2\nHint: `cohab memory edit 2")
    );
    assert!(desk.run(&["edit", "2", "staging is on green"]).0.starts_with("Unchanged (2): "));
    insta::assert_snapshot!(
        ["show", "why"].map(|word| desk.run(&[word, "1"]).0 + &desk.run(&[word, "2"]).0).join("====\n")
    );
    let why: Value = serde_json::from_str(&desk.run(&["why", "2", "--json"]).0).expect("JSON");
    assert_eq!((&why["fact"]["id"], &why["versions"][0]["superseded_by"]), (&2.into(), &2.into()));
}

#[test]
fn one_fact_is_forgotten_and_shown() {
    let desk = Desk::new();
    for fact in ["staging is on host blue", "production is on host red", "tea is at four"] {
        desk.add(fact);
    }
    let note = "Conversations that were given it, and backups of memory.db, still hold it.\n";
    let told = |text: &str| (format!("Deleted {text}\n{note}"), String::new(), true);
    assert_eq!(desk.run(&["forget", "--query=the staging host"]), told("(1): staging is on host blue"));
    assert_eq!(
        desk.run(&["forget", "9", "2"]).1,
        "error: there is no fact 9\nHint: `cohab memory list --all` lists all facts\n"
    );
    desk.run(&["edit", "3", "tea is at five"]);
    assert_eq!(desk.run(&["forget", "4", "4"]), told("(4): tea is at five\n1 other version was deleted."));
    assert_eq!(desk.facts(), ["production is on host red"]);
    assert!(
        desk.run(&["forget", "--query", "production green"])
            .0
            .starts_with("No fact has all words of \"production green\".")
    );
    assert_eq!(desk.facts().len(), 1);
}

#[test]
fn several_facts_are_forgotten_only_by_a_yes() {
    let desk = Desk::new();
    desk.add("staging is on host blue");
    desk.add("production is on host red");
    let rows = "2  production is on host red · 2 days ago\n1  staging is on host blue · 2 days ago\n";
    let (told, errors, is_done) = desk.run(&["forget", "--query", "host"]);
    let refused = "error: 2 facts have these words; nothing was deleted\nHint: ";
    assert_eq!((told.as_str(), is_done), (rows, false));
    assert_eq!(errors, format!("{refused}`cohab memory forget 2` deletes one by its number, `--yes` all of them\n"));
    let errors = desk.run(&["forget", "--at-prompt", "--query=host"]).1;
    assert_eq!(errors, format!("{refused}`? /forget 2` deletes one by its number\n"));
    for typed in ["", "\n", "n\n", "nyes\n"] {
        let (told, _, is_done) = desk.run_in("", &["forget", "--query", "host"], Some(typed));
        assert!(
            told.starts_with(&format!("{rows}Delete these 2 facts? [y/N] Nothing was deleted.")) && !is_done,
            "{told}"
        );
    }
    assert_eq!(desk.facts().len(), 2);
    let told = desk.run_in("", &["forget", "--query", "host"], Some("y\n")).0;
    assert!(
        told.ends_with("were given them, and backups of memory.db, still hold them.\n") && desk.facts().is_empty(),
        "{told}"
    );
    desk.add("host one");
    desk.add("host two");
    assert!(desk.run(&["forget", "--query", "host", "--yes"]).2 && desk.facts().is_empty());
    assert_eq!(desk.run(&[]).0, format!("{NOTHING}\n"));
}

#[test]
fn the_facts_of_another_project_are_not_forgotten() {
    let desk = Desk::new();
    desk.run_in("shop", &["add", "--project", "deploy with make"], None);
    assert!(desk.run_in("blog", &["forget", "--query", "deploy"], None).0.starts_with("No fact has all words of"));
    assert!(desk.run_in("blog", &["forget", "--query", "deploy", "--all"], None).0.starts_with("Deleted (1): "));
}

#[test]
fn an_audit_says_that_all_is_well_or_what_is_not() {
    let desk = Desk::new();
    desk.add("staging is on host blue");
    assert_eq!(desk.run(&["audit"]), ("1 fact was checked, no fault was found.\n".to_owned(), String::new(), true));
    fs::remove_dir_all(desk.home.paths.memory_key_dir()).expect("removed");
    let (told, errors, is_done) = desk.run(&["audit"]);
    assert!(told.starts_with("There is no key to check the facts with in ") && !is_done, "{told}");
    assert!(errors.starts_with("error: the facts have 1 fault\nHint: "), "{errors}");
}

#[test]
fn memory_is_turned_off_and_on_and_says_so() {
    let desk = Desk::new();
    assert!(desk.run(&["off"]).0.starts_with("Memory is off: "));
    let text = fs::read_to_string(desk.home.paths.config_file()).expect("written");
    assert_eq!(text, "[memory]\nenabled = false\n");
    let note = "Memory is off: questions are given no facts. `cohab memory on` turns it on.\n";
    assert_eq!(desk.run(&[]).0, format!("{NOTHING}\n{note}"));
    assert!(desk.add("tea is at four").ends_with(note));
    assert!(desk.run(&["on"]).0.starts_with("Memory is on: "));
    assert!(!desk.run(&[]).0.contains("Memory is"));
}

#[test]
fn hostile_facts_reach_the_output_clean() {
    let desk = Desk::new();
    let evil: Vec<&str> = HOSTILE.iter().map(|row| row.bytes).collect();
    let text = format!("found it {} there", evil.join(" "));
    let mut store = desk.facts_store();
    let fact = |text: &str| NewMemory {
        sources: vec![Source::File(text.to_owned())],
        ..NewMemory::stated(text.to_owned(), Scope::Everywhere, Origin::Import, Path::new(text).into())
    };
    store.remember(&fact(&text), at(0)).expect("kept");
    let skill = Proposed::Procedure { name: text.clone(), text: text.clone() };
    for what in [Proposed::Fact { text: format!("{text}!") }, skill] {
        let evidence = text.clone();
        let sources = fact(&text).sources;
        let folder = Path::new(&text).into();
        let new = NewProposal { what, scope: Scope::Everywhere, trust: 0.3, sources, evidence, folder };
        store.propose(&new, at(0)).expect("kept");
    }
    drop(store);
    for args in [
        &["list"][..],
        &["list", "--json"],
        &["search", "found"],
        &["show", "1"],
        &["show", "1", "--json"],
        &["why", "1"],
        &["why", "1", "--json"],
        &["export"],
        &["inbox"],
        &["inbox", "--json"],
        &["inbox", "1"],
        &["inbox", "2"],
        &["reject", "2"],
        &["reject", "1"],
        &["forget", "1"],
    ] {
        let (told, errors, _) = desk.run(args);
        let shown = told + &errors;
        assert!(shown.contains("found it") && sanitize(&shown) == shown, "{args:?}: {shown:?}");
    }
}

#[test]
fn the_command_line_is_read_as_it_is_meant() {
    let parses = |args: &[&str]| Cli::try_parse_from(["cohabd", "memory"].iter().chain(args)).is_ok();
    for args in [
        &["add", "--at-prompt", "--", "--all \"x\"  'y'"][..],
        &["forget", "--at-prompt", "--query=-4 x"],
        &["forget", "4", "17"],
        &["--all", "--json"],
    ] {
        assert!(parses(args), "{args:?}");
    }
    for args in [
        &["add"][..],
        &["forget"],
        &["forget", "x"],
        &["forget", "4", "--query", "x"],
        &["edit", "4"],
        &["show", "-1"],
        &["add", "--project", "--everywhere", "x"],
    ] {
        assert!(!parses(args), "{args:?}");
    }
}
