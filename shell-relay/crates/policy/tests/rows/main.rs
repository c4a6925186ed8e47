//! Runs the lines that the policy's tables allow for real, and checks each system call: nothing is written, no foreign program is
//! run, no other host or service is reached, and no other process gets a signal.
//!
//! Lines are made from the tables themselves, so a new row is tested without a change here; it needs a place in `packages.table`, and
//! in `operands.table` if it needs a special word. A program that is not installed is counted and named.

#![expect(clippy::unwrap_used, clippy::print_stderr, reason = "helpers of tests; a test tells what it left out")]

mod lines;
mod machine;
mod own;
mod tables;
mod trace;

use std::{
    collections::{BTreeMap, BTreeSet},
    env,
    num::NonZero,
    path::Path,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use cohab_policy::{Context, Level, assess_line, unasked};
use lines::{Effort, of_row};
use machine::Machine;
use tables::Row;

/// Lines of one `strace`.
const BATCH: usize = 64;

/// `COHAB_TEST_ROWS=full` tries more values, places and mixtures, and all programs that are installed; `COHAB_TEST_ROWS_SEED` other
/// mixtures; `COHAB_TEST_ROWS_ONLY` the rows of some programs, with commas between.
fn effort() -> Effort {
    let seed = env::var("COHAB_TEST_ROWS_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    if env::var("COHAB_TEST_ROWS").is_ok_and(|how| how == "full") {
        Effort { is_full: true, values: 4, mixtures: 4, lines: 600, lines_of_slow: 60, seed }
    } else {
        Effort { is_full: false, values: 1, mixtures: 0, lines: 600, lines_of_slow: 12, seed }
    }
}

/// Seconds that a line may take.
const LIMIT: u32 = 5;

fn is_installed(program: &str) -> bool {
    let folders = ["/usr/local/bin", "/usr/bin", "/bin", "/usr/local/sbin", "/usr/sbin", "/sbin", "/usr/games"];
    is_of_bash(program) || folders.iter().any(|folder| Path::new(folder).join(program).is_file())
}

fn is_of_bash(program: &str) -> bool {
    matches!(program, "cd" | "command" | "compgen" | "dirs" | "help" | "jobs" | "times" | "type" | "ulimit" | "umask")
}

/// A line as it is typed where it is allowed.
struct Allowed {
    program: String,
    line: String,
    typed: String,
}

/// The lines that are allowed, and the options that occur in none of them.
fn allowed(rows: &[Row], context: Context<'_>, effort: Effort) -> (Vec<Allowed>, Vec<String>) {
    let (operands, slow) = (tables::operands(), tables::slow());
    let mut seen = BTreeSet::new();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let (mut found, mut untested) = (Vec::new(), Vec::new());
    let mut take = |program: &str, line: String| {
        let is_allowed = assess_line(&line, context).level == Level::Allow;
        if is_allowed && seen.insert(line.clone()) {
            let typed = unasked(&line, context);
            found.extend(typed.ok().map(|typed| Allowed { program: program.to_owned(), line, typed: typed.text }));
        }
        is_allowed
    };
    for row in rows {
        let count = counts.entry(row.program()).or_default();
        let most = if slow.contains(&row.program()) { effort.lines_of_slow } else { effort.lines };
        let mut tested = BTreeSet::new();
        for group in of_row(row, &operands, effort) {
            if *count >= most {
                break;
            }
            for line in group.lines {
                let is_allowed = take(row.program(), line);
                *count += usize::from(is_allowed);
                tested.extend(group.option.filter(|_| is_allowed));
                if is_allowed && !effort.is_full {
                    break;
                }
            }
        }
        let missing = row.options.iter().enumerate().filter(|(at, _)| !tested.contains(at) && *count < most);
        untested.extend(missing.map(|(_, option)| format!("{} {}", row.words.join(" "), option.name)));
    }
    for words in tables::questions().into_iter().filter(|words| is_installed(&words[0])) {
        take(&words[0], words.join(" "));
    }
    (found, untested)
}

/// The forbidden actions of each line, and the lines that did not end.
fn run_all(machine: &Machine, lines: &[Allowed]) -> (Vec<(usize, String)>, Vec<usize>) {
    let batches: Vec<&[Allowed]> = lines.chunks(BATCH).collect();
    let next = AtomicUsize::new(0);
    let found = Mutex::new((Vec::new(), Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, NonZero::get) {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(batch) = batches.get(at) else { break };
                    let typed: Vec<&str> = batch.iter().map(|line| line.typed.as_str()).collect();
                    let one = machine.run(&format!("batch{at}"), &typed, LIMIT);
                    let mut all = found.lock().unwrap();
                    all.0.extend(one.harm.into_iter().map(|(row, harm)| (at * BATCH + row, harm)));
                    all.1.extend(one.endless.into_iter().map(|row| at * BATCH + row));
                }
            });
        }
    });
    found.into_inner().unwrap()
}

/// Whether the findings of a line are its program's known way of reading.
fn is_harmless(line: &Allowed, harm: &str, home: &Path) -> bool {
    let program = line.program.as_str();
    let asks = tables::askers().contains(&program) && harm.starts_with("reaches");
    let takes_notes = tables::note_takers().contains(&program) && harm.contains(&format!("{}/.", home.display()));
    let is_excepted = |(programs, parts): &(Vec<&str>, Vec<&str>)| {
        (programs.contains(&program) || programs == &["*"]) && parts.iter().any(|part| harm.contains(part))
    };
    asks || takes_notes || tables::exceptions().iter().any(is_excepted)
}

/// Whether a test cannot look at system calls here.
fn cannot_trace() -> bool {
    let works = std::process::Command::new("strace")
        .args(["-f", "--seccomp-bpf", "-e", "trace=execve", "-o", "/dev/null", "true"])
        .status();
    !works.is_ok_and(|status| status.success())
}

#[test]
fn each_program_with_a_row_has_a_place_to_come_from() {
    let placed = tables::placed();
    let rows = tables::rows();
    let missing: BTreeSet<_> = rows.iter().map(Row::program).filter(|program| !placed.contains(program)).collect();
    assert!(missing.is_empty(), "not in packages.table: {missing:?}");
}

#[test]
fn each_kind_of_harm_is_found() {
    if cannot_trace() {
        eprintln!("skipped: no strace here, or it is not allowed to trace");
        return;
    }
    let lines = [
        ("touch new", "opens for writing"),
        ("mkdir new.d", "changes"),
        ("chmod 600 text.txt", "changes"),
        ("rm -f other.txt", "changes"),
        ("./script.sh", "runs"),
        ("echo x >/dev/tcp/127.0.0.1/9", "reaches"),
        ("sleep 0 & kill -0 $PPID; kill -CONT $PPID", "signals"),
        ("cat text.txt >/dev/null; id", ""),
    ];
    let found = Machine::new().run("harm", &lines.map(|(line, _)| line), LIMIT);
    for (row, (line, kind)) in lines.into_iter().enumerate() {
        let told: Vec<&String> = found.harm.iter().filter(|(at, _)| *at == row).map(|(_, harm)| harm).collect();
        let is_right = if kind.is_empty() { told.is_empty() } else { told.iter().any(|harm| harm.starts_with(kind)) };
        assert!(is_right, "{line}: {told:?}");
    }
}

#[test]
fn what_the_rows_allow_changes_nothing_and_reaches_nobody() {
    if cannot_trace() {
        eprintln!("skipped: no strace here, or it is not allowed to trace");
        return;
    }
    let effort = effort();
    let only = env::var("COHAB_TEST_ROWS_ONLY").ok();
    let common = tables::common();
    let is_wanted = |program: &str| match &only {
        Some(only) => only.split(',').any(|name| name == program),
        None => effort.is_full || common.contains(&program),
    };
    let all = tables::rows();
    let names = |rows: &[&Row]| rows.iter().map(|row| row.program().to_owned()).collect::<BTreeSet<_>>();
    let (here, missing): (Vec<&Row>, Vec<&Row>) = all.iter().partition(|row| is_installed(row.program()));
    let names_missing = names(&missing);
    let chosen = here.into_iter().filter(|row| is_wanted(row.program()));
    let rows: Vec<Row> = chosen.cloned().collect();

    let machine = Machine::new();
    let (home, cwd) = (machine.home(), machine.cwd());
    let (mut lines, untested) = allowed(&rows, Context::new(&cwd, &home), effort);
    lines.retain(|line| is_wanted(&line.program));
    let programs: BTreeSet<&str> = lines.iter().map(|line| line.program.as_str()).collect();
    let (harm, endless) = run_all(&machine, &lines);

    let mut findings: BTreeMap<(&str, String), (usize, &str)> = BTreeMap::new();
    for (at, harm) in harm.into_iter().filter(|(at, harm)| !is_harmless(&lines[*at], harm, &home)) {
        let line = &lines[at];
        findings.entry((&line.program, harm)).or_insert((0, &line.line)).0 += 1;
    }
    eprintln!(
        "{} lines of {} programs ran, {} were ended after {LIMIT} s; {} options occur in no allowed line; {} programs are not installed: {}",
        lines.len(),
        programs.len(),
        endless.len(),
        untested.len(),
        names_missing.len(),
        names_missing.iter().cloned().collect::<Vec<_>>().join(" "),
    );
    let list = |what: &str, lines: Vec<&str>| lines.iter().for_each(|line| eprintln!("{what}: {line}"));
    list("did not end", endless.iter().map(|at| lines[*at].line.as_str()).collect());
    if effort.mixtures > 0 {
        list("in no allowed line", untested.iter().map(String::as_str).collect());
    }
    let told =
        findings.iter().map(|((program, harm), (count, line))| format!("{program}: `{line}` {harm}, {count} times"));
    let told: Vec<String> = told.collect();
    assert!(told.is_empty(), "\n{}", told.join("\n"));
}
