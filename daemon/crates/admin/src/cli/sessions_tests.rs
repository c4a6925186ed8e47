use clap::Parser;

use super::{
    super::{
        Cli, Command,
        testing::{Home, at, now},
    },
    list::{Look, table},
    *,
};

fn parse(args: &[&str]) -> Result<SessionsArgs, clap::Error> {
    let command = Cli::try_parse_from(["cohabd", "sessions"].iter().chain(args))?.command;
    let Some(Command::Sessions(args)) = command else { panic!("another command") };
    Ok(args)
}

/// Standard output, standard error and whether it went well.
fn run_with(home: &Home, args: &[&str], input: &str) -> (String, String, bool) {
    run_at(home, args, input, false)
}

fn run_at(home: &Home, args: &[&str], input: &str, is_terminal: bool) -> (String, String, bool) {
    let (mut output, mut errors) = (Vec::new(), Vec::new());
    let args = parse(args).expect("they are understood");
    let mut lines = input.as_bytes();
    let status =
        run_with_input(&args, &home.paths, &mut Input { lines: &mut lines, is_terminal }, &mut output, &mut errors);
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (text(output), text(errors), status == ExitCode::SUCCESS)
}

fn titles(home: &Home) -> Vec<String> {
    home.store().sessions(&[], 9).expect("they can be read").into_iter().map(|session| session.title).collect()
}

#[test]
fn the_list_is_aligned_and_titles_fit_the_terminal() {
    let home = Home::with_sessions();
    let sessions = home.store().sessions(&[], 9).expect("they can be read");
    let now = now();
    let look = |columns| Look { now: &now, home: "/srv".as_ref(), columns };
    insta::assert_snapshot!(format!("{}\n{}", table(&sessions, &look(None)), table(&sessions, &look(Some(48)))));
    assert!(table(&[], &look(None)).starts_with("There are no sessions yet."));
}

#[test]
fn a_conversation_is_shown_as_it_went() {
    let home = Home::with_sessions();
    let mut output = Vec::new();
    show("last", Form::Text, &home.paths, &now(), &mut output).expect("it is there");
    let shown = String::from_utf8(output).expect("text");
    assert!(!shown.contains(['\u{1b}', '\u{7}']), "{shown:?}");
    insta::assert_snapshot!(shown);
}

#[test]
fn json_has_everything_and_nothing_that_a_terminal_obeys() {
    let home = Home::with_sessions();
    let (shown, ..) = run_with(&home, &["show", "last", "--json"], "");
    assert!(!shown.contains(['\u{1b}', '\u{7}']) && shown.contains("\\u001b"), "{shown:?}");
    let shown: serde_json::Value = serde_json::from_str(&shown).expect("JSON");
    let kinds: Vec<&str> =
        shown["events"].as_array().expect("a list").iter().filter_map(|one| one["type"].as_str()).collect();
    assert_eq!(kinds[..5], ["shell", "question", "reasoning", "answer", "approval"]);
    let (listed, ..) = run_with(&home, &["--json"], "");
    let listed: serde_json::Value = serde_json::from_str(&listed).expect("JSON");
    assert_eq!(listed["sessions"][0], shown["session"]);
    assert_eq!(listed["sessions"][1]["questions"], 1);
}

#[test]
fn the_parts_are_the_text_and_answers_are_markdown() {
    let home = Home::with_sessions();
    let (text, ..) = run_with(&home, &["show"], "");
    let whole: serde_json::Value = serde_json::from_str(&run_with(&home, &["show", "--parts"], "").0).expect("JSON");
    let parts = whole["parts"].as_array().expect("a list");
    let joined: String = parts.iter().filter_map(|part| part["text"].as_str()).collect();
    assert_eq!(format!("{}\n{joined}", whole["head"].as_str().expect("text")), text);
    assert!(parts.iter().any(|part| part["is_markdown"] == true) && parts[0]["is_markdown"] == false);
}

#[test]
fn words_and_numbers_choose_what_is_listed() {
    let home = Home::with_sessions();
    let lines = |args: &[&str]| run_with(&home, args, "").0.lines().count();
    assert_eq!(
        [lines(&[]), lines(&["list"]), lines(&["-n", "1"]), lines(&["disk"]), lines(&["chmod", "deploy"])],
        [3, 3, 2, 2, 2],
        "a line each, under a heading"
    );
    assert_eq!(run_with(&home, &["list", "no\u{1b}such"], "").0, "No session contains \"nouch\".\n");
}

#[test]
fn answers_of_ask_are_counted_and_listed_on_request() {
    let home = Home::with_sessions();
    home.turn("cli:1", "t", 50, "one shot", &[]);
    let shown = |args: &[&str]| run_with(&home, args, "").0;
    let note = "1 answer of `cohab ask` is not listed: `cohab sessions --all` lists all.\n";
    assert!(shown(&[]).ends_with(note) && !shown(&[]).contains("one shot"), "{}", shown(&[]));
    assert!(shown(&["--all"]).contains("one shot") && !shown(&["--all"]).contains("not listed"));
    assert!(shown(&["one"]).contains("one shot"), "a search finds it");
    assert!(shown(&["--json"]).contains("one shot"), "programs get all");
    let only = Home::empty();
    only.turn("cli:1", "t", 1, "one shot", &[]);
    assert_eq!(run_with(&only, &[], "").0, note);
}

#[test]
fn an_id_that_leads_nowhere_is_told_with_what_helps() {
    let home = Home::with_sessions();
    let nobody = "error: no session begins with \"zz\"\nHint: `cohab sessions` lists them\n";
    for args in [&["show", "zz"][..], &["title", "zz", "x"], &["rm", "zz"], &["resume", "zz"], &["fork", "zz"]] {
        assert_eq!(run_with(&home, args, "").1, nobody, "{args:?}");
        assert_eq!(run_with(&Home::empty(), args, "").1, nobody, "{args:?}");
    }
    assert!(run_with(&Home::empty(), &["show"], "").1.starts_with("error: there are no sessions yet\n"));
    let many = Home::empty();
    (0..40).for_each(|n| many.turn(&n.to_string(), "t", n, "t", &[]));
    let clashes = (0..16).filter(|digit| {
        run_with(&many, &["show", &format!("{digit:x}")], "").1.starts_with("error: several sessions begin with ")
    });
    assert!(clashes.count() > 0);
}

#[test]
fn sessions_are_named_and_removed() {
    let home = Home::with_sessions();
    let (told, _, is_done) = run_with(&home, &["title", "last", "a", "new\n", "name"], "");
    assert!(is_done && told.ends_with("is now \"a new  name\".\n"), "{told}");
    assert_eq!(titles(&home), ["a new  name", "why is the disk full"]);
    assert!(!run_with(&home, &["title", "last", "\u{1b}"], "").2);
    let first = &cohab_store::sessions::id::of_key("shell:1")[..6];
    assert!(!run_with(&home, &["rm", first, "zz"], "").2 && titles(&home).len() == 2, "all or none");
    assert_eq!(run_with(&home, &["rm", first], "").0, "Removed 1 session.\n");
    assert_eq!(titles(&home).len(), 1);
}

#[test]
fn at_a_terminal_one_session_is_removed_only_by_a_yes() {
    let home = Home::with_sessions();
    let first = &cohab_store::sessions::id::of_key("shell:1")[..6];
    let asked = format!("Remove \"why is the disk full\" ({first}, 1 question) for good? Type yes: ");
    for input in ["", "y\n", "no\n"] {
        let (told, error, is_done) = run_at(&home, &["rm", first], input, true);
        assert_eq!((told.as_str(), error.as_str(), is_done), (asked.as_str(), "error: nothing was removed\n", false));
    }
    let (told, ..) = run_at(&home, &["rm", first, "last"], "no\n", true);
    assert!(told.contains("\nRemove these 2 sessions for good? Type yes: "), "{told}");
    assert_eq!(titles(&home).len(), 2);
    assert_eq!(run_at(&home, &["rm", first], "yes\n", true).0, asked + "Removed 1 session.\n");
    assert_eq!(run_at(&home, &["rm", "last", "--yes"], "", true).0, "Removed 1 session.\n");
}

#[test]
fn a_misspelt_subcommand_that_finds_nothing_is_named() {
    let home = Home::with_sessions();
    let told = |args: &[&str]| run_with(&home, args, "").0;
    assert_eq!(told(&["rsume", "x"]), "No session contains \"rsume x\". Did you mean `cohab sessions resume`?\n");
    assert_eq!(told(&["weather"]), "No session contains \"weather\".\n");
}

#[test]
fn all_are_removed_only_by_a_clear_yes() {
    let home = Home::with_sessions();
    for input in ["", "y\n", "no\n"] {
        let (told, error, is_done) = run_with(&home, &["rm", "--all"], input);
        assert!(told.ends_with("Remove all 2 sessions for good? Type yes: ") && !is_done, "{told}");
        assert!(error.starts_with("error: nothing was removed\n"), "{error}");
    }
    assert!(run_with(&home, &["rm", "--all"], "yes\n").0.ends_with("Removed 2 sessions.\n"));
    assert_eq!(run_with(&home, &["rm", "--all", "--yes"], "").0, "Removed 0 sessions.\n");
    let home = Home::with_sessions();
    home.turn("shell:9", "t", Timestamp::now().as_second() - at(0).as_second(), "of today", &[]);
    assert!(run_with(&home, &["rm", "--older-than", "1d"], "").2);
    assert_eq!(titles(&home), ["of today"]);
    for args in [&["rm"][..], &["rm", "a", "--all"], &["rm", "--older-than", "x"], &["title", "a"]] {
        assert!(parse(args).is_err(), "{args:?}");
    }
}

#[test]
fn without_a_terminal_a_copy_is_made_and_nothing_is_opened() {
    let home = Home::with_sessions();
    let (told, ..) = run_with(&home, &["fork", "last"], "");
    assert!(told.starts_with("Copied ") && titles(&home).len() == 3, "{told}");
    let (_, error, is_done) = run_with(&home, &["resume", "last"], "");
    assert!(error.contains("needs a terminal") && !is_done, "{error}");
}

#[test]
fn a_file_that_is_no_store_is_told() {
    let home = Home::empty();
    std::fs::create_dir_all(&home.paths.state_dir).expect("a folder");
    std::fs::write(home.paths.sessions_file(), "no store ".repeat(500)).expect("it can be written");
    let (_, error, is_done) = run_with(&home, &[], "");
    assert!(error.contains("sessions.db cannot be read: ") && error.contains("Hint: ") && !is_done, "{error}");
}
