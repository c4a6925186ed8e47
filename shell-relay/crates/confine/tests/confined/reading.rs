//! Tests that lines that only read behave as they do unconfined: `reading.lines`.

use std::process::{Command, Output, Stdio};

use crate::support::{Bench, is_installed, skips};

const LINES: &str = include_str!("reading.lines");

/// A line differs if its outcome differs in this many pairs of runs.
const PAIRS: usize = 5;

#[test]
fn reading_lines_say_the_same_when_confined() {
    if skips() {
        return;
    }
    let bench = Bench::new();
    bench.fill();
    let mut tried = 0;
    let mut different = Vec::new();
    for line in LINES.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (is_volatile, line) = line.strip_prefix('~').map_or((false, line), |line| (true, line));
        let words: Vec<&str> = line.split(' ').collect();
        if !is_installed(words[0]) {
            continue;
        }
        tried += 1;
        if let Some(difference) = difference(&bench, &words, is_volatile) {
            different.push(format!("{line}\n{difference}"));
        }
    }
    assert!(different.is_empty(), "{} of {tried} differ:\n{}", different.len(), different.join("\n"));
    assert!(tried > 80, "{tried}");
}

/// The effect of confinement occurs each time; changes by the rest of the machine (`ls -ld /tmp`, `mount`) do not.
fn difference(bench: &Bench, words: &[&str], is_volatile: bool) -> Option<String> {
    let mut last = None;
    for _ in 0..PAIRS {
        let plain = run(bench.plain(words));
        let confined = run(bench.confined(words));
        let is_same = if is_volatile {
            plain.status == confined.status && heading(&plain) == heading(&confined) && plain.stderr == confined.stderr
        } else {
            plain == confined
        };
        if is_same {
            return None;
        }
        last = Some(format!("  plain    {plain:?}\n  confined {confined:?}").chars().take(900).collect());
    }
    last
}

fn run(mut command: Command) -> Output {
    command.stdin(Stdio::null()).output().expect("it is installed")
}

/// The first line without figures and blanks.
fn heading(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines()
        .next()
        .unwrap_or_default()
        .chars()
        .filter(|letter| !letter.is_ascii_digit() && *letter != ' ')
        .collect()
}
