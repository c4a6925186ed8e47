//! Measures the relay under load: a long command, much output, endless output.

use std::{path::PathBuf, time::Duration};

use cohab_e2e::Home;

use super::{MEASURE, live::Live, of, reader::Plain, shells::Measured};
use crate::report::{Report, Samples};

const LONG_COMMAND_BYTES: usize = 100_000;
const LONG_COMMAND_MS: f64 = 50.0;
const OUTPUT_BYTES: usize = 9_000_000;
const SPEED: f64 = 0.8;
const ENDLESS: Duration = Duration::from_secs(5);
const CTRL_C_MS: f64 = 50.0;

pub(crate) fn measure(report: &mut Report, shell: &Measured, home: &Home, rounds: usize) {
    let mut live = Live::at_prompt(shell, home).expect("it gave marks before");
    long_command(report, shell, &mut live, rounds);
    much_output(report, shell, home, &mut live, rounds);
    let (time, outcome) = live.interrupted("yes", ENDLESS);
    report.note(&format!("{}: {} MB of `yes`", shell.name, outcome.total_bytes / 1_000_000));
    report.at_most(MEASURE, &of(shell, "`yes`, Ctrl-C to prompt"), milliseconds(time), CTRL_C_MS, "ms");
}

fn long_command(report: &mut Report, shell: &Measured, live: &mut Live, rounds: usize) {
    let text = format!("true {}", "x".repeat(LONG_COMMAND_BYTES));
    let mut samples = Samples::default();
    for _ in 0..rounds {
        samples.push(live.relayed(&text).0);
    }
    report.at_most(MEASURE, &of(shell, "100 KB command, p50"), samples.p50(), LONG_COMMAND_MS, "ms");
}

/// The same file shown by both shells, read by the same reader.
fn much_output(report: &mut Report, shell: &Measured, home: &Home, live: &mut Live, rounds: usize) {
    let command = format!("cat {}", hex_dump(home).display());
    let mut plain = Plain::at_prompt(shell, home);
    let (mut without, mut with, mut share) = (Samples::default(), Samples::default(), Samples::default());
    for _ in 0..rounds.div_ceil(2) {
        let bare = plain.typed(&command);
        let (time, outcome) = live.relayed(&command);
        without.push(bare);
        with.push(time);
        // One right after the other: a slow moment of the machine affects both.
        share.push_value(bare.as_secs_f64() / time.as_secs_f64());
        // Each LF became CR LF.
        assert!(outcome.total_bytes >= OUTPUT_BYTES as u64, "{} bytes are not all", outcome.total_bytes);
    }
    let speed = |samples: &Samples| OUTPUT_BYTES as f64 / 1_000.0 / samples.p50();
    let what = format!("9 MB captured, {:.0} of {:.0} MB/s", speed(&with), speed(&without));
    report.at_least(MEASURE, &of(shell, &what), share.p50(), SPEED, "x");
}

fn hex_dump(home: &Home) -> PathBuf {
    let rows = (0..OUTPUT_BYTES / 50).map(|row: usize| {
        let word = row.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        format!("{:08x}  {word:016x} {:016x} {:06x}\n", row * 16, word.rotate_left(17), word >> 40)
    });
    home.write("dump.txt", &rows.collect::<String>());
    home.path("dump.txt")
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}
