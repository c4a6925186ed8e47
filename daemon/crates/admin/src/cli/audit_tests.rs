use cohab_store::audit::{Journal, record::Note};
use jiff::tz::TimeZone;

use super::{super::testing::Home, *};

const REASON: &str = "removes files: `rm`";

fn events() -> Vec<Event> {
    let text = |text: &str| text.to_owned();
    let action = |call: &str, does, what: &str, verdict: &str, consent, rule: &str| Event::Action {
        call: text(call),
        tool: text("bash"),
        does,
        text: text(what),
        typed: String::new(),
        cwd: text("/home/ann/shop"),
        verdict: text(verdict),
        reasons: if verdict == "allow" { Vec::new() } else { vec![text(REASON)] },
        consent,
        rule: text(rule),
    };
    let asked = |subject: &str, is_dangerous, answer, note: &str| Event::Asked {
        subject: text(subject),
        is_dangerous,
        reasons: vec![text(REASON)],
        answer,
        note: text(note),
    };
    let done = |call: &str, outcome: &str| Event::Done { call: text(call), outcome: text(outcome) };
    vec![
        Event::TurnBegan { mode: text("ask"), rules: 1, cwd: text("/home/ann/shop"), is_private: false },
        action("1", Deed::Run, "du -h -d 1 .", "allow", Consent::Policy, ""),
        done("1", "done"),
        asked("rm -r ./build\u{202e}\u{1b}[2J", true, Answer::Once, ""),
        action("2", Deed::Run, "rm -r ./build\u{202e}\u{1b}[2J", "danger", Consent::Asked, ""),
        done("2", "failed"),
        asked("make", false, Answer::Edited, "make -n"),
        Event::ModeChanged { from: text("ask"), to: text("all") },
        action("3", Deed::Write, "/home/ann/shop/a file that has a rather long name.txt", "ask", Consent::Mode, ""),
        Event::RuleStored { rule: text("npm test (in /home/ann/shop)") },
        action("4", Deed::Run, "npm test", "ask", Consent::Rule, "npm test (in /home/ann/shop)"),
        action("6", Deed::Run, "cat events.sock", "allow", Consent::Policy, ""),
        Event::RanWithoutLock { call: text("6"), first_run: text("it could only read") },
        done("6", "done"),
        Event::Refused { call: text("5"), tool: text("read"), text: text("~/.ssh/id_rsa"), reason: text("no") },
        Event::Undone { paths: vec![text("/home/ann/shop/a")] },
        Event::TurnEnded { reason: text("step_limit") },
    ]
}

fn home() -> Home {
    let home = Home::empty();
    let at = super::super::testing::at(0);
    let note = |event| Note { at, session: "shell:1".into(), turn: "t1".into(), keep_days: 90, event };
    let notes: Vec<Note> = events().into_iter().map(note).collect();
    Journal::at(Places::of(&home.paths)).append(&notes).expect("kept");
    home
}

fn shown(columns: Option<usize>) -> String {
    let records = verify::last(&Places::of(&home().paths), 100).expect("read");
    let now = super::super::testing::now().with_time_zone(TimeZone::UTC);
    table(&records, &now, Path::new("/home/ann"), columns)
}

fn run_as(home: &Home, command: AuditCommand) -> (ExitCode, String, String) {
    let (mut output, mut errors) = (Vec::new(), Vec::new());
    let code = run(&AuditArgs { command }, &home.paths, &mut output, &mut errors);
    (code, String::from_utf8(output).expect("text"), String::from_utf8(errors).expect("text"))
}

#[test]
fn records_read_well_at_a_wide_and_at_a_narrow_terminal() {
    insta::assert_snapshot!("at_80_columns", shown(Some(80)));
    insta::assert_snapshot!("at_40_columns", shown(Some(40)));
}

#[test]
fn a_whole_log_and_a_broken_one_are_told_with_their_status() {
    let home = home();
    let (code, output, _) = run_as(&home, AuditCommand::Verify { json: false });
    assert_eq!((code, output.as_str()), (ExitCode::SUCCESS, "The audit log is intact: 17 records in 1 file.\n"));
    let file = Places::of(&home.paths).folder.join("00000001.jsonl");
    let text = std::fs::read_to_string(&file).expect("text").replacen("du -h", "du -x", 1);
    std::fs::write(&file, text).expect("written");
    let (code, output, errors) = run_as(&home, AuditCommand::Verify { json: false });
    assert_eq!((code, output.contains("00000001.jsonl:2: this record was changed")), (ExitCode::FAILURE, true));
    assert!(errors.starts_with("error: the audit log was changed after it was written\nHint: "), "{errors}");
    let (_, output, _) = run_as(&home, AuditCommand::Verify { json: true });
    let value: Value = serde_json::from_str(&output).expect("JSON");
    assert_eq!((&value["ok"], &value["faults"][0]["line"]), (&json!(false), &json!(2)));
}

#[test]
fn nothing_recorded_is_no_fault() {
    let home = Home::empty();
    let tail = AuditCommand::Tail { number: 20, follow: false, json: false };
    for command in [AuditCommand::Verify { json: false }, AuditCommand::Show { number: None, json: false }, tail] {
        let (code, output, _) = run_as(&home, command);
        assert_eq!((code, output.as_str()), (ExitCode::SUCCESS, "Nothing is recorded yet.\n"));
    }
}

#[test]
fn records_are_chosen_by_number_and_given_as_json() {
    let home = home();
    let (_, output, _) = run_as(&home, AuditCommand::Show { number: Some(8), json: true });
    let value: Value = serde_json::from_str(&output).expect("JSON");
    assert_eq!((&value["records"][0]["event"], &value["records"][0]["to"]), (&json!("mode_changed"), &json!("all")));
    let (code, _, errors) = run_as(&home, AuditCommand::Show { number: Some(80), json: true });
    assert_eq!((code, errors.contains("record 80 is missing or damaged")), (ExitCode::FAILURE, true));
    let (_, output, _) = run_as(&home, AuditCommand::Tail { number: 1, follow: false, json: false });
    assert!(output.starts_with("17  turn ends\n"), "{output}");
}

#[test]
fn a_tail_that_is_followed_goes_on_with_what_is_written() {
    let home = Home::empty();
    let places = Places::of(&home.paths);
    let append = |text: &str| {
        let event = Event::RuleStored { rule: text.to_owned() };
        let at = super::super::testing::at(0);
        let note = Note { at, session: String::new(), turn: String::new(), keep_days: 9, event };
        Journal::at(places.clone()).append(&[note]).expect("kept");
    };
    append("one");
    for is_json in [false, true] {
        let mut output = Vec::new();
        let mut looks = 0;
        let mut goes_on = || {
            looks += 1;
            append("more");
            looks < 3
        };
        tail(&places, 1, is_json, &mut output, &mut goes_on).expect("followed");
        let text = String::from_utf8(output).expect("text");
        assert_eq!(text.matches("more").count(), if is_json { 3 } else { 2 }, "{text}");
        assert!(!is_json || text.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()), "{text}");
    }
}
