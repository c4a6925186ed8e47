use cohab_memory::past::{
    record::{NewRun, RunSource},
    store::PastStore as _,
};
use cohab_store::past::SqlitePast;
use jiff::ToSpan as _;
use serde_json::json;

use super::*;

const HISTORY: &str =
    "#1700000000\nffmpeg -i trailer.mov trailer.mp4\n#1700000100\nchmod -R g+w uploads\n#1700000200\n token=x\n";

impl Desk {
    fn with_history() -> Self {
        let desk = Self::new();
        fs::write(desk.root.join("history"), HISTORY).expect("written");
        let (output, errors, is_done) = desk.run(&["import", "--history", "bash", "history", "--yes"]);
        assert!(is_done, "{errors}");
        assert!(
            output.starts_with("Imported 2 commands from ~/history. Left out: 1 beginning with a blank."),
            "{output}"
        );
        desk
    }

    fn found(&self, args: &[&str]) -> Vec<Value> {
        let printed = self.run(&[&["past", "--json"], args].concat()).0;
        let value: Value = serde_json::from_str(&printed).expect("JSON");
        value["found"].as_array().expect("a list").clone()
    }
}

#[test]
fn an_import_asks_first() {
    let desk = Desk::new();
    fs::write(desk.root.join("history"), HISTORY).expect("written");
    let args = ["import", "--history", "bash", "history"];
    let (output, _, is_done) = desk.run_in("", &args, Some("n\n"));
    assert!(is_done && output.ends_with("Import them? [y/N] Nothing was imported.\n"), "{output}");
    assert!(output.starts_with("~/history has 2 commands, from 2023-11-14 to 2023-11-14."), "{output}");
    let (_, errors, is_done) = desk.run(&args);
    assert!(!is_done && errors.contains("Nothing was imported") && errors.contains("--yes"), "{errors}");
    assert!(desk.run_in("", &args, Some("y\n")).0.contains("Imported 2 commands"));
    assert!(desk.run(&["import", "--history", "bash", "history", "--yes"]).0.contains("2 were known already"));
}

#[test]
fn a_history_that_is_no_file_is_refused() {
    let desk = Desk::new();
    let (_, errors, is_done) = desk.run(&["import", "--history", "zsh", "shop"]);
    assert!(!is_done && errors.contains("nothing was imported"), "{errors}");
    let (_, errors, is_done) = desk.run(&["import", "--history", "atuin", "none.db"]);
    assert!(!is_done && errors.contains("nothing was imported"), "{errors}");
    assert!(Cli::try_parse_from(["cohabd", "memory", "import", "--history", "tcsh"]).is_err());
}

#[test]
fn what_was_done_is_listed_by_its_meaning() {
    let desk = Desk::with_history();
    let (output, ..) = desk.run(&["past", "which command fixed the permissions"]);
    assert_eq!(output, "c2  $ chmod -R g+w uploads\n    14 Nov 2023, from bash\n");
    assert_eq!(desk.found(&["video"])[0]["line"], "ffmpeg -i trailer.mov trailer.mp4");
    assert_eq!(desk.found(&["--since", "2024-01-01"]), Vec::<Value>::new());
    assert_eq!(desk.found(&["-n", "1"]).len(), 1);
    assert_eq!(desk.run(&["past", "zebra"]).0, "Nothing like that was found.\n");
    let (_, errors, is_done) = desk.run(&["past", "--since", "whenever"]);
    assert!(!is_done && errors.contains("is not a time that I know"), "{errors}");
}

#[test]
fn without_anything_kept_the_way_to_it_is_named() {
    let desk = Desk::new();
    assert!(desk.run(&["past", "x"]).0.contains("memory.shell_history"));
    assert_eq!(desk.found(&["x"]), Vec::<Value>::new());
    assert_eq!(desk.run(&["forget", "--past", "--yes"]).0, "Nothing is kept.\n");
    assert!(!desk.home.paths.past_file().exists());
}

#[test]
fn records_are_forgotten_by_id_time_and_source() {
    let desk = Desk::with_history();
    let (_, errors, is_done) = desk.run(&["forget", "c9"]);
    assert!(!is_done && errors.contains("there is no c9"), "{errors}");
    assert!(desk.run(&["forget", "c1"]).0.starts_with("1 record was deleted."));
    assert_eq!(desk.found(&[]).len(), 1);
    let (_, errors, is_done) = desk.run(&["forget", "--source", "bash"]);
    assert!(!is_done && errors.contains("nothing was deleted"), "{errors}");
    let (output, ..) = desk.run_in("", &["forget", "--before", "2026-01-01"], Some("y\n"));
    assert!(output.contains("Delete all commands and questions before 2026-01-01 00:00?"), "{output}");
    assert_eq!(desk.found(&[]).len(), 0);
}

#[test]
fn what_is_kept_is_counted_and_checked() {
    let desk = Desk::with_history();
    desk.add("staging is on blue");
    let counted: Value = serde_json::from_str(&desk.run(&["stats", "--json"]).0).expect("JSON");
    assert_eq!((&counted["facts"], &counted["lines"], &counted["commands"]["bash"]), (&json!(1), &json!(2), &json!(2)));
    assert!(desk.run(&["stats"]).0.contains("commands   2, 2 different (bash 2)"));
    assert!(desk.run(&["list"]).0.contains("2 commands and 0 questions are kept"));
    let (output, ..) = desk.run(&["audit"]);
    assert_eq!(output, "What was done was checked, no fault was found.\n1 fact was checked, no fault was found.\n");
}

#[test]
fn a_broken_file_of_what_was_done_does_not_hide_the_facts() {
    let desk = Desk::new();
    desk.add("staging is on blue");
    fs::write(desk.home.paths.past_file(), "no database, whatever it is called").expect("written");
    let (output, _, is_done) = desk.run(&["list"]);
    assert!(is_done && output.contains("staging is on blue"), "{output}");
    assert!(output.contains("What was done cannot be listed: "), "{output}");
    let (_, errors, is_done) = desk.run(&["past", "x"]);
    assert!(!is_done && errors.contains("cannot be used"), "{errors}");
}

#[test]
fn habits_of_a_project_are_proposed_until_the_user_decides() {
    let desk = Desk::new();
    let at = at(0);
    let run = |line: &str, minute: i64| NewRun {
        line: line.into(),
        at: at.checked_add(minute.minutes()).ok(),
        folder: Some(desk.root.join("shop/src").canonicalize().expect("a folder")),
        exit_code: Some(0),
        duration: None,
        output_tail: String::new(),
        source: RunSource::Shell,
    };
    let runs: Vec<_> = (0..3).flat_map(|minute| [run("cargo nextest run", minute), run("make", minute)]).collect();
    let paths = &desk.home.paths;
    let mut store = SqlitePast::create(&paths.past_file(), &paths.memory_key_dir()).expect("made");
    store.add(&runs, &[]).expect("added");
    let inbox = || desk.run_in("shop", &["inbox"], None).0;
    assert!(inbox().starts_with("1  this project is tested with `cargo nextest run` · it went well 3 times\n2  "));
    assert_eq!(desk.run_in("blog", &["inbox"], None).0, "Nothing is proposed here.\n");
    assert!(desk.run_in("shop", &["list"], None).0.contains("2 proposals wait: `cohab memory inbox` lists them."));
    let (_, errors, is_done) = desk.run_in("shop", &["accept", "3"], None);
    assert!(!is_done && errors.contains("there is no proposal 3"), "{errors}");
    assert_eq!(desk.run_in("shop", &["reject", "2"], None).0, "Rejected: this project is built with `make`\n");
    let accepted = desk.run_in("shop", &["accept"], None).0;
    assert_eq!(accepted, "Remembered: this project is tested with `cargo nextest run`\n");
    assert_eq!(inbox(), "Nothing is proposed here.\n");
    assert_eq!(desk.facts(), ["this project is tested with `cargo nextest run`"]);
}

#[test]
fn requests_of_benchmarks_are_answered_in_a_store_of_their_own() {
    let desk = Desk::new();
    let requests = [
        r#"{"op":"add","id":7,"text":"We met in Lisbon","time":"2024-05-01T10:00:00","speaker":"Ann","session":1}"#,
        r#"{"op":"add","id":"b","text":"make test","time":1700000000,"kind":"command"}"#,
        r#"{"op":"search","query":"Where did Ann meet? lisbon","k":3}"#,
        r#"{"op":"forget","id":7}"#,
        r#"{"op":"search","query":"lisbon","k":3}"#,
        r#"{"op":"stats"}"#,
        "no json",
        r#"{"op":"add","id":"c","text":"x","time":"soon"}"#,
        r#"{"op":"reset"}"#,
    ];
    let (output, ..) = desk.run_in("", &["jsonl"], Some(&requests.join("\n")));
    let answers: Vec<Value> = output.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(answers.len(), requests.len());
    assert_eq!(answers[2]["hits"][0]["id"], json!(7));
    assert_eq!((&answers[3], &answers[4]["hits"]), (&json!({"ok": true}), &json!([])));
    assert_eq!(answers[5]["items"], json!(1));
    assert!(answers[6]["error"].is_string() && answers[7]["error"].is_string());
    assert!(!desk.home.paths.past_file().exists());
}
