//! Measures the time from the start of the program to its first prompt.

use std::time::Instant;

use cohab_e2e::home::PROMPT;

use crate::{
    contestants::{self, BASH, COHAB, Race, TMUX},
    report::{Report, Samples},
};

const ADDED_MS: f64 = 10.0;

pub(crate) fn measure(report: &mut Report, rounds: usize) {
    let home = contestants::home();
    let mut race = Race::new();
    if contestants::has_cohab() {
        // Warm, as it is for every shell but the first.
        let _ = home.run(&["daemon", "start"]);
    }
    for _ in 0..rounds {
        for (contestant, samples) in race.contestants.iter().zip(&mut race.samples) {
            let start = Instant::now();
            let mut pty = contestant.spawn(&home);
            samples.push(pty.read_until(PROMPT) - start);
            drop(pty);
            if contestant.name == TMUX {
                // Its server outlives its terminal, and the next start would find it warm.
                contestants::clean_up(&home);
            }
        }
    }
    race.report(report, "start", "ms");
    if contestants::has_cohab() {
        report.samples("start", "cohab, no daemon yet", "ms", &cold(rounds));
    }
    match (race.p50(BASH), race.p50(COHAB)) {
        (Some(bash), Some(cohab)) => report.at_most("start", "cohab over bash, p50", cohab - bash, ADDED_MS, "ms"),
        _ => report.unmeasured("start", COHAB, "it was not built"),
    }
}

/// Starts that find no daemon: the shell must not wait for the one that is started now.
fn cold(rounds: usize) -> Samples {
    let mut samples = Samples::default();
    for _ in 0..rounds {
        let home = contestants::home();
        let start = Instant::now();
        let mut pty = contestants::cohab().spawn(&home);
        samples.push(pty.read_until(PROMPT) - start);
    }
    samples
}
