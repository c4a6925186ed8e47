//! Much output.

use std::time::Instant;

use cohab_e2e::home::PROMPT;

use crate::{
    contestants::{self, COHAB, MINIMAL, Race},
    report::Report,
};

/// 37.5 MB of zeros are 50 MB of base64, in lines of 76. The quotes keep the end out of the typed line.
const COMMAND: &str = "head -c 37500000 /dev/zero | base64; echo EN''D";
/// Line ends included, as the shell writes them.
const MEGABYTES: f64 = 50.658;
const SHARE: f64 = 0.9;

pub(crate) fn measure(report: &mut Report, rounds: usize) {
    let home = contestants::home();
    let mut race = Race::new();
    let mut ptys = race.at_prompts(&home);
    for _ in 0..rounds {
        for (pty, samples) in ptys.iter_mut().zip(&mut race.samples) {
            pty.send(COMMAND);
            pty.read_until("EN''D");
            let start = Instant::now();
            pty.send("\r");
            let end = pty.read_until("END");
            samples.push_value(MEGABYTES / (end - start).as_secs_f64());
            pty.read_until(PROMPT);
        }
    }
    race.report(report, "flood", "MB/s");
    match (race.p50(MINIMAL), race.p50(COHAB)) {
        (Some(minimal), Some(cohab)) => {
            report.at_least("flood", "cohab beside minimal proxy", cohab / minimal, SHARE, "x");
        }
        _ => report.unmeasured("flood", COHAB, "it was not built"),
    }
    contestants::clean_up(&home);
}
