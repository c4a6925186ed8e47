//! From a key to its echo.

use std::time::Instant;

use cohab_e2e::home::PROMPT;

use crate::{
    contestants::{self, BASH, COHAB, MINIMAL, Race},
    report::Report,
};

/// Letters that occur in no escape sequence of a prompt.
const LETTERS: [&str; 4] = ["Q", "W", "V", "Y"];
const KEYS_PER_ROUND: usize = 48;
/// cohab may add this much of what the minimal proxy adds.
const FACTOR: f64 = 1.5;

pub(crate) fn measure(report: &mut Report, rounds: usize) {
    let home = contestants::home();
    let mut race = Race::new();
    let mut ptys = race.at_prompts(&home);
    for _ in 0..rounds {
        for (pty, samples) in ptys.iter_mut().zip(&mut race.samples) {
            for key in LETTERS.iter().cycle().take(KEYS_PER_ROUND) {
                let start = Instant::now();
                pty.send(key);
                samples.push(pty.read_until(key) - start);
            }
            // An empty line, and a prompt of its own.
            pty.send("\u{15}");
            pty.send("\r");
            pty.read_until(PROMPT);
        }
    }
    race.report(report, "echo", "ms");
    match (race.p50(BASH), race.p50(MINIMAL), race.p50(COHAB)) {
        (Some(bash), Some(minimal), Some(cohab)) => {
            report.at_most("echo", "cohab over bash, p50", cohab - bash, FACTOR * (minimal - bash), "ms");
        }
        _ => report.unmeasured("echo", COHAB, "it was not built"),
    }
    contestants::clean_up(&home);
}
