//! The daemon is killed again and again in the middle of a turn of 20 commands: no finished step is lost, no step runs twice.

#![expect(clippy::print_stderr, reason = "a test says what it counted")]

use std::{fs, io::Write as _};

use cohab_e2e::{Answer, Home, ModelServer, Wire, deadline::eventually, model_server::SentToolResult};
use cohab_protocol::TurnEndReason;

use crate::kill_harness::{Daemon, Dice, Life, Shell, done_on_record, live};

/// Commands of a turn.
const COMMANDS: usize = 20;
/// Kills in all.
const KILLS: usize = 200;
/// One in this many is a request to end instead of a kill.
const WISH_TO_END: u64 = 5;
/// Most messages of a daemon's life.
const MAX_MESSAGES: u64 = 28;

/// The command of each result: a command that was not run is requested again.
fn commands_of(results: &[SentToolResult]) -> (Vec<(usize, &str)>, usize) {
    let mut next = 0;
    let mut told = Vec::new();
    for SentToolResult { content, .. } in results {
        // Some wires have no other place for it.
        let content = content.strip_prefix("ERROR: ").unwrap_or(content);
        told.push((next, content));
        next += usize::from(!content.starts_with("not run"));
    }
    (told, next)
}

/// A model that runs one command after the other.
fn script() -> ModelServer {
    ModelServer::respond_with(Wire::OpenAiChat, |request| {
        let (_, next) = commands_of(&request.tool_results());
        if next < COMMANDS { Answer::bash(&format!("step {next}")) } else { Answer::text("All done.") }
    })
}

/// Whether the model has the results of all commands.
fn is_all_told(server: &ModelServer) -> bool {
    server.requests().last().is_some_and(|request| commands_of(&request.tool_results()).1 == COMMANDS)
}

/// Counts of the turns.
#[derive(Default)]
struct Count {
    kills: usize,
    acknowledged: usize,
    turns: usize,
    ran: usize,
    unknown: usize,
    not_run: usize,
}

/// A turn from its question to its answer.
fn turn(home: &Home, count: &mut Count, dice: &mut Dice) {
    let server = script();
    let mut shell = Shell::new(|_, _| 0);
    let session = format!("shell:{}", count.turns);
    let mut is_first = true;
    loop {
        let mut daemon = Daemon::start(home, &server, &session);
        let question = is_first.then_some("do all steps");
        let life = live(&mut daemon, &mut shell, question, MAX_MESSAGES, dice);
        daemon.end(dice.below(WISH_TO_END) == 0);
        match life {
            Life::Killed => (count.kills, is_first) = (count.kills + 1, false),
            Life::Ended(TurnEndReason::Answered) => break,
            // Nothing was on disk yet when it was killed.
            Life::Ended(_) if shell.ran.is_empty() => is_first = true,
            // It was killed between storing the end and reporting it.
            Life::Ended(_) if is_all_told(&server) => break,
            Life::Ended(reason) => panic!("{reason:?} after {:?}", shell.ran),
        }
    }
    let requests = server.requests();
    let results = requests.last().expect("the model was asked").tool_results();
    let (told, next) = commands_of(&results);
    assert_eq!(next, COMMANDS);
    for (index, content) in told {
        let command = format!("step {index}");
        let runs = shell.ran.get(&command).copied().unwrap_or(0);
        assert!(runs <= 1, "`{command}` ran {runs} times");
        let is_unknown = content.starts_with("unknown");
        match (content.starts_with("not run"), is_unknown) {
            (true, _) => count.not_run += 1,
            (_, true) => count.unknown += 1,
            _ => assert!(content.contains(&format!("ran <{command}>")), "{content}"),
        }
        assert!(!is_unknown, "the client knows whether `{command}` ran");
    }
    let done = done_on_record(home);
    for command in shell.acknowledged.keys() {
        assert!(done.contains_key(command), "`{command}` was told to be done and is not on record: {done:?}");
    }
    let repeated: Vec<_> = done.iter().filter(|(_, times)| **times > 1).collect();
    assert!(repeated.is_empty(), "done more than once: {repeated:?}");
    (count.turns, count.ran) = (count.turns + 1, count.ran + shell.ran.len());
    count.acknowledged += shell.acknowledged.len();
}

#[test]
fn killed_at_random_points_nothing_is_lost_and_nothing_runs_twice() {
    let home = Home::new();
    // The model of this test derives the finished commands from all results it gets.
    home.write_config("[context]\ncompact_over_messages = 1000\n[model]\ncontext_window_tokens = 128000\n");
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let mut count = Count::default();
    while count.kills < KILLS {
        turn(&home, &mut count, &mut dice);
    }
    let Count { kills, acknowledged, turns, ran, unknown, not_run } = count;
    eprintln!(
        "{kills} kills in {turns} turns of {COMMANDS} commands: {ran} commands ran once, 0 ran twice; {acknowledged} steps were \
         told to be done, 0 of them lost, 0 repeated; {unknown} were told as unknown, {not_run} as not run and asked for again"
    );
}

#[test]
fn at_the_prompt_the_turn_goes_on_with_what_the_shell_ran_meanwhile() {
    let command = "echo ran >> ran.txt; read -r line < gate; echo the-end-of-it";
    let server = ModelServer::start(Wire::Anthropic, [Answer::bash(command), Answer::text("After all.")]);
    let home = Home::with_model(&server).env("COHAB_APPROVAL", "all");
    let shell = home.cohab();
    shell.run("mkfifo gate");
    let mark = shell.submit("? do it");
    let has_run = |text: &str| fs::read_to_string(home.path("ran.txt")).is_ok_and(|ran| ran == text);
    eventually("the start of the command", || has_run("ran\n"));
    // For reading too: so opening never waits.
    let mut gate = fs::OpenOptions::new().read(true).write(true).open(home.path("gate")).expect("it was made");
    home.kill_daemon();
    gate.write_all(b"go\n").expect("the command reads");
    shell.wait_next_prompt(mark);
    assert!(shell.look(|view| view.history().contains("/resume` continues")), "{}", shell.dump());
    shell.ask("/resume", "After all.");
    assert!(has_run("ran\n"), "it ran again");
    let calls = server.wait_for_calls(2);
    let results = calls[1].tool_results();
    assert!(results.len() == 1 && results[0].content.contains("the-end-of-it"), "{results:?}");
    let trace = home.run(&["trace", "-n", "2"]).stdout;
    assert!(trace.contains("ran while no daemon was running") && trace.contains("answered"), "{trace}");
    let nothing = home.run(&["resume", "--list"]);
    assert_eq!((nothing.status, nothing.stdout.as_str()), (Some(1), ""), "{nothing:?}");
}

#[test]
fn what_was_interrupted_while_no_daemon_was_there_is_not_told_as_done() {
    let command = "echo ran >> ran.txt; sleep 60; echo the-end-of-it";
    let server = ModelServer::start(Wire::Anthropic, [Answer::bash(command), Answer::text("After all.")]);
    let home = Home::with_model(&server).env("COHAB_APPROVAL", "all");
    let shell = home.cohab();
    let mark = shell.submit("? do it");
    let has_run = |text: &str| fs::read_to_string(home.path("ran.txt")).is_ok_and(|ran| ran == text);
    eventually("the start of the command", || has_run("ran\n"));
    home.kill_daemon();
    shell.send("\x03");
    shell.wait_next_prompt(mark);
    shell.ask("/resume", "After all.");
    let told = |text: &str| shell.look(|view| view.history().contains(text));
    assert!(told("this was started and did not finish") && !told("this ran in the meantime"), "{}", shell.dump());
    let results = server.wait_for_calls(2)[1].tool_results();
    assert!(results.len() == 1 && results[0].content.contains("interrupted by the user"), "{results:?}");
    assert!(has_run("ran\n"), "it ran again");
}

#[test]
fn a_restart_in_the_middle_of_a_turn_costs_neither_the_turn_nor_the_command() {
    let command = "echo ran >> ran.txt; read -r line < gate; echo the-end-of-it";
    let server = ModelServer::start(Wire::Anthropic, [Answer::bash(command), Answer::text("After all.")]);
    let home = Home::with_model(&server).env("COHAB_APPROVAL", "all");
    let shell = home.cohab();
    shell.run("mkfifo gate");
    let mark = shell.submit("? do it");
    let has_run = |text: &str| fs::read_to_string(home.path("ran.txt")).is_ok_and(|ran| ran == text);
    eventually("the start of the command", || has_run("ran\n"));
    let mut gate = fs::OpenOptions::new().read(true).write(true).open(home.path("gate")).expect("it was made");
    let restarted = home.run(&["daemon", "restart"]);
    assert_eq!(restarted.status, Some(0), "{restarted:?}");
    gate.write_all(b"go\n").expect("the command reads");
    shell.wait_next_prompt(mark);
    assert!(shell.run("echo alive-$((1+1))").contains("alive-2"));
    let told = shell.look(|view| view.history().matches("/resume` continues").count());
    assert_eq!(told, 1, "{}", shell.dump());
    shell.ask("/resume", "After all.");
    assert!(has_run("ran\n"), "it ran again");
    let results = server.wait_for_calls(2)[1].tool_results();
    assert!(results.len() == 1 && results[0].content.contains("the-end-of-it"), "{results:?}");
    assert!(!shell.look(|view| view.history().contains("cancelled")), "{}", shell.dump());
}

#[test]
fn another_terminal_goes_on_with_what_was_interrupted() {
    let answers = [Answer::text("Words so far and more").stall_after(4), Answer::text("The rest of it.")];
    let server = ModelServer::start(Wire::OpenAiChat, answers);
    let home = Home::with_model(&server);
    let first = home.cohab();
    let mark = first.submit("? tell me all");
    first.wait_text("Words so");
    home.kill_daemon();
    first.wait_next_prompt(mark);
    drop(first);
    let list = home.run(&["resume", "--list"]);
    assert!(list.status == Some(0) && list.stdout.contains("tell me all"), "{list:?}");
    let second = home.cohab_with(&["resume"]);
    second.wait_text("was interrupted");
    second.ask("/resume", "The rest of it.");
}
