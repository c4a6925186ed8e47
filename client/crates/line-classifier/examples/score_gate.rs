//! Scores the classifier on lists of lines: `score_gate [--rows even|odd] [--misses] shell=FILE ... ai=FILE ...`.
//!
//! A file holds a line per row; the word in front of its name is the decision that all its lines should get. Each list is judged on a
//! machine with only the programs of every system, and on a developer's. `--misses` prints the lines that are judged wrong, with the
//! reasons. To write rules without fitting them to a list, read the misses of its even rows only, and score its odd rows.

use std::{
    env, fs,
    io::{self, Write},
};

use cohab_line_classifier::{
    judge,
    test_names::{BARE, DEVELOPERS},
};

fn score(wanted: &str, path: &str, rows: &[&str], shows_misses: bool) {
    for (machine, name) in [(BARE, "bare"), (DEVELOPERS, "developer's")] {
        let judged = rows.iter().map(|row| (row, judge(row, &machine)));
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
