//! What the live shell does in every state with every input, cell by cell.
//!
//! A cell is `[state afterwards] what goes to the shell, what happened`. `·` means: nothing at all. Keys of ours have names in
//! angle brackets; what is shown on the terminal is marked with `shown`. `run 31s` is a request and the time after it.

use std::fmt::Write as _;

use cohab_shell_relay::live::{LiveEvent, ShellState};

use crate::{
    bench::Bench,
    states::{Make, STATES},
};

type Act = fn(&mut Bench);

/// Name and action. `a0` is the command on its way where there is one; `b0` a new one.
const INPUTS: [(&str, Act); 23] = [
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
    ("31s", |bench| bench.wait(31_000)),
    ("end", Bench::end),
];

const KEYS: [(&str, &str); 9] = [
    ("\x1b[7391;1~", "<stash>"),
    ("\x1b[7391;2~\x1b[7391;3~", "<load>"),
    ("\x1b[7391;4~", "<restore>"),
    ("\x1b[7391;5~", "<query>"),
    ("\x1b[7391;6~", "<fresh>"),
    ("\x1b[7391;8~", "<clear>"),
    ("\x1b[7391;9~", "<take>"),
    ("\x1b\r", "Alt-Enter"),
    ("\x03", "^C"),
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
fn cell(make: Make, act: Act) -> String {
    let mut bench = make();
    let before = bench.live.state();
    act(&mut bench);
    let mut keys = String::from_utf8_lossy(&bench.fx.pty).into_owned();
    for (bytes, name) in KEYS {
        keys = keys.replace(bytes, name);
    }
    let mut words = Vec::new();
    if bench.live.state() != before {
        words.push(format!("[{}]", state_name(bench.live.state())));
    }
    if !keys.is_empty() {
        words.push(keys.replace('\r', "Enter"));
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

/// The whole table: under each state one line for each different outcome, with all inputs that have it.
fn table() -> String {
    let mut table = String::new();
    for (state, make) in STATES {
        writeln!(table, "{state} [{}]", state_name(make().live.state())).expect("a String takes it");
        let mut rows: Vec<(String, Vec<&str>)> = Vec::new();
        for (input, act) in INPUTS {
            let outcome = cell(make, act);
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

#[test]
fn every_state_does_with_every_input_what_the_table_says() {
    let (found, expected) = (table(), include_str!("table.txt"));
    let differs = found.lines().zip(expected.lines()).find(|(found, expected)| found != expected);
    assert!(found == expected, "first difference: {differs:#?}\nthe whole table is now:\n{found}");
}
