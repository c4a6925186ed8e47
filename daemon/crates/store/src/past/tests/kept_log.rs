//! Tests of the daemon's way to store what was done.

use std::sync::Arc;

use cohab_memory::past::record::{MAX_LINE_BYTES, MAX_OUTPUT_BYTES, MAX_TEXT_BYTES, MAX_TURN_COMMANDS};
use cohab_model_api::Secrets;

use super::*;

const TOKEN: &str = "hunter2hunter2hunter2";

fn log(bench: &Bench) -> PastLog {
    let secrets = Secrets::default();
    secrets.know([TOKEN]);
    PastLog::at(bench.file(), bench.keys(), Arc::new(secrets))
}

#[test]
fn what_is_kept_is_found_in_the_file() {
    let bench = Bench::new();
    let log = log(&bench);
    assert!(!bench.file().exists());
    for n in 0..50 {
        log.keep(PastEntry::Run(run(&format!("echo {n}"), n)));
    }
    log.keep(PastEntry::Turn(turn("why?", 60)));
    log.flush();
    let counts = bench.open().counts().unwrap();
    assert_eq!((counts.lines, counts.turns, log.take_trouble()), (50, 1, None));
}

#[test]
fn a_line_with_a_secret_is_not_stored() {
    let bench = Bench::new();
    let log = log(&bench);
    log.keep(PastEntry::Run(run(&format!("curl -H 'Authorization: Bearer {TOKEN}' host"), 1)));
    log.keep(PastEntry::Run(NewRun { output_tail: format!("password is {TOKEN}"), ..run("cat notes", 2) }));
    let commands = vec![TurnCommand { line: format!("login {TOKEN}"), exit_code: Some(0) }];
    let answer = format!("{TOKEN} it is");
    log.keep(PastEntry::Turn(NewTurn { answer, commands, ..turn(&format!("is {TOKEN} good?"), 3) }));
    log.flush();
    let store = bench.open();
    let found = hits(&store, &PastQuery::default());
    assert!(found.len() == 2 && found.contains(&"cat notes".to_owned()), "{found:?}");
    assert!(!bench.contains("hunter2") && !bench.contains("curl") && bench.contains("password is"));
    assert_eq!(hits(&store, &words("login")).len(), 1);
}

#[test]
fn long_texts_are_cut() {
    let secrets = Secrets::default();
    let long = NewRun { output_tail: "ö".repeat(MAX_OUTPUT_BYTES), ..run(&"x".repeat(MAX_LINE_BYTES), 1) };
    let Some(PastEntry::Run(cut)) = prepared(PastEntry::Run(long), &secrets) else { panic!("it is kept") };
    assert_eq!((cut.line.len(), cut.output_tail.len()), (MAX_LINE_BYTES, MAX_OUTPUT_BYTES));
    assert_eq!(prepared(PastEntry::Run(run(&"x".repeat(MAX_LINE_BYTES + 1), 1)), &secrets), None);
    let command = |line: String| TurnCommand { line, exit_code: None };
    let mut commands = vec![command("x".repeat(MAX_LINE_BYTES + 1))];
    commands.extend((0..2 * MAX_TURN_COMMANDS).map(|n| command(n.to_string())));
    let long = NewTurn {
        answer: "ö".repeat(MAX_TEXT_BYTES),
        commands,
        ..turn(&format!("x{}", "ö".repeat(MAX_TEXT_BYTES)), 1)
    };
    let Some(PastEntry::Turn(cut)) = prepared(PastEntry::Turn(long), &secrets) else { panic!("it is kept") };
    assert_eq!((cut.question.len(), cut.answer.len()), (MAX_TEXT_BYTES - 1, MAX_TEXT_BYTES));
    assert_eq!((cut.commands.len(), cut.commands[0].line.as_str()), (MAX_TURN_COMMANDS, "0"));
}

#[test]
fn a_file_that_cannot_be_written_is_reported_once() {
    let bench = Bench::new();
    fs::create_dir_all(bench.file()).unwrap();
    let log = log(&bench);
    log.keep(PastEntry::Run(run("make", 1)));
    log.flush();
    assert!(log.take_trouble().is_some_and(|trouble| trouble.starts_with("The history of commands is not kept")));
    assert_eq!(log.take_trouble(), None);
}

#[test]
fn a_damaged_file_is_replaced_with_what_could_be_read() {
    let bench = Bench::new();
    let log = log(&bench);
    log.keep(PastEntry::Run(run("make", 1)));
    log.flush();
    fs::write(bench.file(), "this is not a database".repeat(500)).unwrap();
    log.keep(PastEntry::Run(run("ls", 2)));
    log.flush();
    assert_eq!(hits(&bench.open(), &PastQuery::default()), ["ls"]);
    assert!(beside(&bench.file(), crate::recovery::KEPT).exists());
}
