//! Lists the reactions of the live shell in every state to every input, cell by cell.
//!
//! A cell is `[state afterwards] what goes to the shell, what happened`. `·` means: nothing at all. Keys of ours have names in
//! angle brackets; what is shown on the terminal is marked with `shown`. `run 31s` is a request and the time after it.

use std::fmt::Write as _;

use cohab_shell_relay::live::{LineDecision, LiveEvent, ShellState};
use cohab_shell_state::shell::Shell;

use crate::{
    bench::Bench,
    editor::named,
    states::{Make, STATES},
};

type Act = fn(&mut Bench);

/// Name and action. `a0` is the command on its way, if there is one; `b0` a new one.
const INPUTS: [(&str, Act); 32] = [
    ("run", |bench| bench.run("b0", "true")),
    ("run 31s", |bench| {
        bench.run("b0", "true");
        bench.wait(31_000);
    }),
    ("B", |bench| bench.marks(&["B"])),
    ("P", |bench| bench.marks(&["P"])),
    ("S", |bench| bench.marks(&["S;3"])),
    ("X", |bench| bench.marks(&["X;cont"])),
    ("L", |bench| bench.marks(&["L;a0"])),
    ("C", |bench| bench.marks(&["C"])),
    ("O", |bench| bench.marks(&["O;a0"])),
    ("E", |bench| bench.marks(&["E;a0;7;/new"])),
    ("D", |bench| bench.marks(&["D;a0;7;/new"])),
    ("E B", |bench| bench.marks(&["E;a0;7;/new", "B"])),
    ("D B", |bench| bench.marks(&["D;a0;7;/new", "B"])),
    ("D user", |bench| bench.marks(&["D;;7;/new"])),
    ("Q", |bench| bench.marks(&["Q;1;ls"])),
    ("N", |bench| bench.marks(&["N;1;ls"])),
    ("key", |bench| bench.keys(b"y")),
    ("Enter", |bench| bench.keys(b"\r")),
    ("hotkey", |bench| bench.keys(b"\x1b\r")),
    ("Ctrl-C", |bench| bench.keys(b"\x03")),
    ("Ctrl-C O", |bench| {
        bench.keys(b"\x03");
        bench.marks(&["O;a0"]);
    }),
    ("shell", |bench| bench.decide(LineDecision::Shell)),
    ("assistant", |bench| bench.decide(LineDecision::Assistant)),
    ("end answer", Bench::end_answer),
    ("come back", Bench::come_back),
    ("come back 2s", |bench| {
        bench.come_back();
        bench.wait(2_000);
    }),
    // Enter may have chosen from a menu.
    ("key painted", |bench| {
        bench.keys(b"y");
        bench.wait(5);
        bench.output(b"\x1b[J");
        bench.wait(100);
    }),
    ("N N", |bench| bench.marks(&["N;1;ls", "N;1;ls"])),
    ("key 1.1s", |bench| {
        bench.keys(b"y");
        bench.wait(1_100);
    }),
    ("31s S", |bench| {
        bench.wait(31_000);
        bench.marks(&["S;3"]);
    }),
    ("31s", |bench| bench.wait(31_000)),
    ("end", Bench::end),
];

fn event_name(event: &LiveEvent) -> String {
    match event {
        LiveEvent::CommandRefused { id, error } => format!("{id} refused {}", error.code()),
        LiveEvent::CommandFinished { id, outcome } => {
            format!("{id} finished {:?} {:?}", outcome.ending, outcome.status)
        }
        LiveEvent::CommandStarted { id } => format!("{id} started"),
        LiveEvent::AnswerRefused(error) => format!("answer refused {}", error.code()),
        LiveEvent::UserCommandFinished(command) => format!("user command finished {}", command.status),
        other => {
            let name = format!("{other:?}");
            name.split([' ', '(']).next().unwrap_or_default().to_owned()
        }
    }
}

/// One cell, in words.
fn cell(make: Make, shell: Shell, act: Act) -> String {
    let mut bench = make(shell);
    let before = bench.live.state();
    act(&mut bench);
    let keys = named(shell, &String::from_utf8_lossy(&bench.fx.pty));
    let mut words = Vec::new();
    if bench.live.state() != before {
        words.push(format!("[{}]", state_name(bench.live.state())));
    }
    if !keys.is_empty() {
        words.push(keys);
    }
    if let Some(signal) = bench.fx.signal {
        words.push(format!("{:?}", signal.signal));
    }
    if !bench.fx.terminal.is_empty() {
        words.push(format!("shown {:?}", String::from_utf8_lossy(&bench.fx.terminal)));
    }
    words.extend(bench.fx.events.iter().map(event_name));
    if words.is_empty() { "·".to_owned() } else { words.join(", ") }
}

fn state_name(state: ShellState) -> String {
    format!("{state:?}")
}

/// The whole table of a shell: below each state one line for each different outcome, with all inputs that have it.
fn table(shell: Shell) -> String {
    let mut table = String::new();
    for (state, make) in STATES {
        if state == "cont" && shell == Shell::Fish {
            continue;
        }
        writeln!(table, "{state} [{}]", state_name(make(shell).live.state())).expect("a String takes it");
        let mut rows: Vec<(String, Vec<&str>)> = Vec::new();
        for (input, act) in INPUTS {
            let outcome = cell(make, shell, act);
            match rows.iter_mut().find(|(known, _)| *known == outcome) {
                Some((_, inputs)) => inputs.push(input),
                None => rows.push((outcome, vec![input])),
            }
        }
        for (outcome, inputs) in rows {
            writeln!(table, "  {}: {outcome}", inputs.join(" | ")).expect("a String takes it");
        }
    }
    table
}

fn check(shell: Shell, expected: &str) {
    let found = table(shell);
    let differs = found.lines().zip(expected.lines()).find(|(found, expected)| found != expected);
    assert!(found == expected, "first difference: {differs:#?}\nthe whole table is now:\n{found}");
}

#[test]
fn every_state_does_with_every_input_what_the_table_of_bash_says() {
    check(Shell::Bash, include_str!("table_bash.txt"));
}

#[test]
fn every_state_does_with_every_input_what_the_table_of_zsh_says() {
    check(Shell::Zsh, include_str!("table_zsh.txt"));
}

#[test]
fn every_state_does_with_every_input_what_the_table_of_fish_says() {
    check(Shell::Fish, include_str!("table_fish.txt"));
}
