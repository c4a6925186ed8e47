//! Scores a table of lines: counts the lines of each shell that the policy allows, with the lock and without it.
//!
//! `cargo run -p cohab-policy --example score -- [--asked | --allowed] TABLE...`, where each row of a table is `SHELL<TAB>CLASS<TAB>LINE`
//! and rows that begin with `## ` are comments. `--asked` and `--allowed` list such lines, judged with the lock, with their reasons.

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

fn main() -> io::Result<ExitCode> {
    let out = &mut io::stdout().lock();
    let mut listed = None;
    let mut counts = BTreeMap::<String, Counts>::new();
    for argument in env::args().skip(1) {
        match argument.as_str() {
            "--asked" => listed = Some(false),
            "--allowed" => listed = Some(true),
            path => match fs::read_to_string(path) {
                Ok(table) => score(&table, listed, &mut counts, out)?,
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

fn score(
    table: &str,
    listed: Option<bool>,
    counts: &mut BTreeMap<String, Counts>,
    out: &mut impl Write,
) -> io::Result<()> {
    let context = Context::new(Path::new("/home/ann/work/app"), Path::new("/home/ann"));
    for row in table.lines().filter(|row| !row.starts_with("## ")) {
        let mut parts = row.splitn(3, '\t');
        let (Some(shell), Some(_), Some(line)) = (parts.next(), parts.next(), parts.next()) else {
            writeln!(io::stderr(), "score: no row of a table: {row}")?;
            continue;
        };
        let context = context.in_shell(Shell::of(Path::new(shell)));
        let judged = |lock| assess_line(line, Context { lock, ..context });
        let locked = judged(Some(Lock::UNNAMED));
        let is_allowed = locked.level == Level::Allow;
        let others = [Some(Lock::UNNAMED.with_unknown_programs(true)), None].map(|lock| judged(lock).level);
        let [unknown, unlocked] = others.map(|level| usize::from(level == Level::Allow));
        let found = [1, usize::from(is_allowed), unknown, unlocked];
        for name in [shell, "all"] {
            let counts = counts.entry(name.to_owned()).or_default();
            counts.iter_mut().zip(found).for_each(|(count, found)| *count += found);
        }
        if listed == Some(is_allowed) {
            writeln!(out, "{row}\t=> {}", locked.reasons.join("; "))?;
        }
    }
    Ok(())
}
