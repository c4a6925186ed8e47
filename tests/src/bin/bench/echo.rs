//! Measures the time from a key to its echo.

use std::{
    thread,
    time::{Duration, Instant},
};

use cohab_e2e::{Answer, Home, ModelServer, Wire, home::PROMPT};

use crate::{
    contestants::{self, BASH, COHAB, MINIMAL, Race},
    report::{Report, Samples},
};

/// Letters that occur in no escape sequence of a prompt.
const LETTERS: [&str; 4] = ["Q", "W", "V", "Y"];
const KEYS_PER_ROUND: usize = 48;
/// Most overhead of cohab relative to the minimal proxy's.
const FACTOR: f64 = 1.1;
/// The slowest keys of a hundred, relative to those of bash alone.
const SLOWEST_FACTOR: f64 = 2.0;
/// An answer to another shell meanwhile: 100 pieces a second, for longer than the keys take.
const PIECES: usize = 100_000;
const PACE: Duration = Duration::from_millis(10);

pub(crate) fn measure(report: &mut Report, rounds: usize) {
    let home = contestants::home();
    let race = typed(&home, rounds);
    race.report(report, "echo", "ms");
    compare(report, &race, "");
    contestants::clean_up(&home);
    if contestants::has_cohab() {
        while_streaming(report, rounds);
    }
}

/// The same while the daemon answers another shell.
fn while_streaming(report: &mut Report, rounds: usize) {
    let server = ModelServer::respond_with(Wire::OpenAiChat, |_| {
        Answer::generated(PIECES, |index| format!("w{index} ")).paced(PACE)
    });
    let home = Home::with_model(&server);
    let folder = home.path("").display().to_string();
    let home = home.env("TMUX_TMPDIR", &folder);
    let mut other = contestants::cohab().at_prompt(&home);
    other.send("? stream\r");
    other.read_until("w10 ");
    let reading = thread::spawn(move || {
        // The loop ends with the bench; a terminal that is not read would stop the answer.
        while !other.read().is_empty() {}
    });
    let race = typed(&home, rounds);
    compare(report, &race, ", another shell gets an answer");
    contestants::clean_up(&home);
    home.kill_daemon();
    drop(reading);
}

fn compare(report: &mut Report, race: &Race, when: &str) {
    let (Some(bash), Some(minimal), Some(cohab)) = (race.of(BASH), race.of(MINIMAL), race.of(COHAB)) else {
        return report.unmeasured("echo", COHAB, "it was not built");
    };
    let added = |samples: &Samples| samples.p50() - bash.p50();
    report.at_most("echo", &format!("cohab over bash, p50{when}"), added(cohab), FACTOR * added(minimal), "ms");
    let slowest = bash.quantile(0.99) * SLOWEST_FACTOR;
    report.at_most("echo", &format!("cohab, p99{when}"), cohab.quantile(0.99), slowest, "ms");
}

fn typed(home: &Home, rounds: usize) -> Race {
    let mut race = Race::new();
    let mut ptys = race.at_prompts(home);
    for _ in 0..rounds {
        for (pty, samples) in ptys.iter_mut().zip(&mut race.samples) {
            for key in LETTERS.iter().cycle().take(KEYS_PER_ROUND) {
                let start = Instant::now();
                pty.send(key);
                samples.push(pty.read_until(key) - start);
            }
            // An empty line, and a new prompt.
            pty.send("\u{15}");
            pty.send("\r");
            pty.read_until(PROMPT);
        }
    }
    race
}
