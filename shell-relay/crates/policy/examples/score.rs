//! Scores a table of lines: counts the lines of each shell that the policy allows, with the lock and without it.
//!
//! `cargo run -p cohab-policy --example score -- [--rows even|odd] [--asked | --allowed] [--unlocked] TABLE...`, where each row of a table
//! is `SHELL<TAB>CLASS<TAB>LINE` and rows that begin with `## ` are comments. `--asked` and `--allowed` list such lines, judged with the
//! lock (or without it), with their reasons. To write rules without fitting them to a list, list its odd rows only, and score its even rows.

use std::{
    collections::BTreeMap,
    env, fs,
    io::{self, Write},
    path::Path,
    process::ExitCode,
};

use cohab_policy::{Context, Level, Lock, assess_line};
use cohab_shell_state::shell::Shell;

/// Lines of one shell: all, allowed with the lock, allowed by `approval.confined = "all"`, allowed without the lock.
type Counts = [usize; 4];

/// The rows to score, and those to list.
#[derive(Default)]
struct Wanted {
    /// Only rows with such a number count: `even` or `odd`.
    parity: Option<String>,
    /// List the allowed rows, or the asked ones.
    listed: Option<bool>,
    /// List them as they are judged without the lock.
    is_unlocked: bool,
}

impl Wanted {
    fn counts(&self, number: usize) -> bool {
        self.parity.as_deref().is_none_or(|parity| (parity == "even") == number.is_multiple_of(2))
    }
}

fn main() -> io::Result<ExitCode> {
    let out = &mut io::stdout().lock();
    let mut wanted = Wanted::default();
    let mut counts = BTreeMap::<String, Counts>::new();
    let mut arguments = env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--rows" => wanted.parity = arguments.next(),
            "--asked" => wanted.listed = Some(false),
            "--allowed" => wanted.listed = Some(true),
            "--unlocked" => wanted.is_unlocked = true,
            path => match fs::read_to_string(path) {
                Ok(table) => score(&table, &wanted, &mut counts, out)?,
                Err(error) => {
                    writeln!(io::stderr(), "score: {path}: {error}")?;
                    return Ok(ExitCode::FAILURE);
                }
            },
        }
    }
    for (name, [all, locked, unknown, unlocked]) in counts {
        let percent = |part: usize| 100.0 * part as f64 / all as f64;
        writeln!(
            out,
            "{name}: {all} lines, with the lock {locked} ({:.1} %), with all programs {unknown} ({:.1} %), without the lock {unlocked} ({:.1} %)",
            percent(locked),
            percent(unknown),
            percent(unlocked)
        )?;
    }
    Ok(ExitCode::SUCCESS)
}

fn score(table: &str, wanted: &Wanted, counts: &mut BTreeMap<String, Counts>, out: &mut impl Write) -> io::Result<()> {
    let context = Context::new(Path::new("/home/ann/work/app"), Path::new("/home/ann"));
    let rows = (1..).zip(table.lines().filter(|row| !row.starts_with("## ")));
    for row in rows.filter(|row| wanted.counts(row.0)).map(|row| row.1) {
        let mut parts = row.splitn(3, '\t');
        let (Some(shell), Some(_), Some(line)) = (parts.next(), parts.next(), parts.next()) else {
            writeln!(io::stderr(), "score: no row of a table: {row}")?;
            continue;
        };
        let context = context.in_shell(Shell::of(Path::new(shell)));
        let judged = |lock| assess_line(line, Context { lock, ..context });
        let verdicts = [Some(Lock::UNNAMED), Some(Lock::UNNAMED.with_unknown_programs(true)), None].map(judged);
        let [locked, unknown, unlocked] = verdicts.each_ref().map(|verdict| usize::from(verdict.level == Level::Allow));
        let found = [1, locked, unknown, unlocked];
        for name in [shell, "all"] {
            let counts = counts.entry(name.to_owned()).or_default();
            counts.iter_mut().zip(found).for_each(|(count, found)| *count += found);
        }
        let shown = &verdicts[if wanted.is_unlocked { 2 } else { 0 }];
        if wanted.listed == Some(shown.level == Level::Allow) {
            writeln!(out, "{row}\t=> {}", shown.reasons.join("; "))?;
        }
    }
    Ok(())
}
