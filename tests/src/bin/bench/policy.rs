//! Measures the command policy on a line of its test tables, on a hostile line, and for a start of `cohab policy`.

use std::{
    fs,
    hint::black_box,
    io::{self, Write},
    path::Path,
    process::{Command, Stdio},
    time::Instant,
};

use cohab_e2e::binaries;
use cohab_policy::{Context, Level, assess_line};
use cohab_policy_io::files::FileSystem;
use cohab_shell_state::shell::Shell;

use crate::{
    contestants,
    report::{Report, Samples},
};

const MEASURE: &str = "policy";
const LINE_US: f64 = 100.0;
const SLOWEST_US: f64 = 1_000.0;
const HUGE_MS: f64 = 500.0;
const HUGE_BYTES: usize = 10_000_000;
/// The tables of the policy's tests. Their lines with escapes (`%%`) are left out.
const TABLES: [&str; 9] = [
    include_str!("../../../../shell-relay/crates/policy/src/tests/ask.txt"),
    include_str!("../../../../shell-relay/crates/policy/src/tests/catalogue_harm.txt"),
    include_str!("../../../../shell-relay/crates/policy/src/tests/daily_reading.txt"),
    include_str!("../../../../shell-relay/crates/policy/src/tests/danger.txt"),
    include_str!("../../../../shell-relay/crates/policy/src/tests/destructive.txt"),
    include_str!("../../../../shell-relay/crates/policy/src/tests/held_out_danger.txt"),
    include_str!("../../../../shell-relay/crates/policy/src/tests/held_out_everyday.txt"),
    include_str!("../../../../shell-relay/crates/policy/src/tests/never_allowed.txt"),
    include_str!("../../../../shell-relay/crates/policy/src/tests/tuned_everyday.txt"),
];

fn context() -> Context<'static> {
    Context::new(Path::new("/home/ann/work/app"), Path::new("/home/ann"))
}

pub(crate) fn measure(report: &mut Report, rounds: usize) {
    let is_line = |line: &&str| !line.is_empty() && !line.starts_with("## ") && !line.starts_with("%% ");
    let lines: Vec<&str> = TABLES.iter().flat_map(|table| table.lines()).filter(is_line).collect();
    for (shell, name) in [(Shell::Bash, "bash"), (Shell::Zsh, "zsh"), (Shell::Fish, "fish")] {
        measure_lines(report, name, &lines, context().in_shell(shell), rounds);
    }
    match project() {
        Ok(home) => {
            let cwd = home.path().join("work/app");
            let context = Context::new(&cwd, home.path()).with_files(&FileSystem);
            measure_lines(report, "bash, with a look at files", &lines, context, rounds);
        }
        Err(error) => report.unmeasured(MEASURE, "a look at files", &error.to_string()),
    }
    measure_hostile(report);
    measure_start(report, rounds);
}

/// A home with files in it that lines of the tables name.
fn project() -> io::Result<tempfile::TempDir> {
    let home = tempfile::tempdir()?;
    let cwd = home.path().join("work/app");
    for folder in ["src", "docs", "tests", "target/debug"] {
        fs::create_dir_all(cwd.join(folder))?;
    }
    for file in ["README.md", "Cargo.toml", "package.json", "Makefile", "src/main.rs", "src/lib.rs", "notes.txt"] {
        fs::write(cwd.join(file), "")?;
    }
    Ok(home)
}

fn measure_lines(report: &mut Report, name: &str, lines: &[&str], context: Context<'_>, rounds: usize) {
    let (mut allowed, mut other) = (Samples::default(), Samples::default());
    // The first round fills the tables and the caches.
    for round in 0..=rounds {
        for line in lines {
            let started = Instant::now();
            let verdict = black_box(assess_line(black_box(line), context));
            let microseconds = started.elapsed().as_secs_f64() * 1e6;
            let samples = if verdict.level == Level::Allow { &mut allowed } else { &mut other };
            if round > 0 {
                samples.push_value(microseconds);
            }
        }
    }
    for (kind, samples) in [("allowed, both parsers", &allowed), ("asked or danger", &other)] {
        report.samples(MEASURE, &format!("{name}: a line, {kind}"), "us", samples);
        report.at_most(MEASURE, &format!("{name}: {kind}, p50"), samples.p50(), LINE_US, "us");
        report.at_most(MEASURE, &format!("{name}: {kind}, p99"), samples.quantile(0.99), SLOWEST_US, "us");
    }
}

fn measure_hostile(report: &mut Report) {
    for unit in
        ["$(", "if ", "rm -rf x; ", "eval \"$(", "source <(", "env ", "a(){ ", ">f ", "cat <<E\n", "x", "cd a;>b/* "]
    {
        let huge = unit.repeat(HUGE_BYTES / unit.len());
        // A line at the limit is read in full, ten megabytes are not: either may be the slower one.
        let slowest = [&huge[..30_000], &huge[..]].map(|text| {
            let started = Instant::now();
            assert_ne!(black_box(assess_line(text, context().with_files(&FileSystem))).level, Level::Allow);
            started.elapsed().as_secs_f64() * 1e3
        });
        let subject = format!("30 KB and 10 MB of {:?}", unit.trim());
        report.at_most(MEASURE, &subject, slowest[0].max(slowest[1]), HUGE_MS, "ms");
    }
}

/// A process for one line.
fn measure_start(report: &mut Report, rounds: usize) {
    if !contestants::has_cohab() {
        return report.unmeasured(MEASURE, "a start", "cohab was not built");
    }
    let mut samples = Samples::default();
    for _ in 0..rounds {
        let started = Instant::now();
        let child = Command::new(binaries::program("cohab"))
            .args(["policy", "--stdin"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let Ok(mut child) = child else { return report.unmeasured(MEASURE, "a start", "it cannot be started") };
        let told = child.stdin.take().is_some_and(|mut input| input.write_all(b"\"ls -la\"\n").is_ok());
        match child.wait_with_output() {
            Ok(output) if told && output.stdout == b"allow\n" => samples.push(started.elapsed()),
            _ => return report.unmeasured(MEASURE, "a start", "it said something else"),
        }
    }
    report.samples(MEASURE, "`cohab policy --stdin`, start to answer", "ms", &samples);
}
