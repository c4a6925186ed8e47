//! Scores the classifier on lists of lines: `score_gate [--rows even|odd] [--misses] shell=FILE ... ai=FILE ...`.
//!
//! A file holds a line per row; the word in front of its name is the decision that all its lines should get. Each list is judged on a
//! machine with only the programs of every system, and on a developer's; one for the shell also on a machine that has the program that each
//! line begins with. `--misses` prints the lines that are judged wrong, with the
//! reasons. To write rules without fitting them to a list, read the misses of its even rows only, and score its odd rows.

use std::{
    env, fs,
    io::{self, Write},
};

use cohab_line_classifier::{
    Names, judge,
    test_names::{BARE, DEVELOPERS},
};

/// The machine of the person who typed the line: it has what the line begins with, as an alias or function if it is no known program.
struct Own<'a>(&'a str);

impl Names for Own<'_> {
    fn resolves(&self, name: &str) -> bool {
        self.0.split_whitespace().next() == Some(name) || DEVELOPERS.resolves(name)
    }

    fn is_own(&self, name: &str) -> bool {
        self.resolves(name) && !DEVELOPERS.resolves(name)
    }

    fn exists(&self, argument: &str) -> bool {
        DEVELOPERS.exists(argument)
    }
}

fn score(wanted: &str, path: &str, rows: &[&str], shows_misses: bool) {
    for name in ["bare", "developer's", "own"] {
        // Only lines for the shell begin with the name of a program that the person has.
        if name == "own" && wanted == "ai" {
            continue;
        }
        let judged = rows.iter().map(|row| match name {
            "bare" => (row, judge(row, &BARE)),
            "own" => (row, judge(row, &Own(row))),
            _ => (row, judge(row, &DEVELOPERS)),
        });
        let wrong: Vec<_> = judged.filter(|(_, judgement)| judgement.decision.word() != wanted).collect();
        if shows_misses {
            for (row, judgement) in &wrong {
                let _ = writeln!(io::stdout(), "{row}\n    {name}: {}", judgement.reason);
            }
        }
        let (all, right) = (rows.len(), rows.len() - wrong.len());
        let share = right as f64 * 100.0 / all.max(1) as f64;
        let _ = writeln!(io::stdout(), "{path}, {name} machine: {right} of {all} are {wanted} ({share:.1} %)");
    }
}

fn main() -> io::Result<()> {
    let mut arguments = env::args().skip(1).peekable();
    let (mut parity, mut shows_misses) = (None, false);
    while let Some(option) = arguments.next_if(|argument| argument.starts_with("--")) {
        match option.as_str() {
            "--rows" => parity = arguments.next(),
            _ => shows_misses = true,
        }
    }
    for argument in arguments {
        let (wanted, path) = argument.split_once('=').ok_or(io::ErrorKind::InvalidInput)?;
        let list = fs::read_to_string(path)?;
        let is_of_half = |number: usize| match parity.as_deref() {
            Some("even") => number.is_multiple_of(2),
            Some("odd") => !number.is_multiple_of(2),
            _ => true,
        };
        let rows: Vec<&str> = (1..).zip(list.lines()).filter(|row| is_of_half(row.0)).map(|row| row.1).collect();
        score(wanted, path, &rows, shows_misses);
    }
    Ok(())
}
