//! Measures programs with much output.

use std::time::{Duration, Instant};

use cohab_e2e::home::PROMPT;

use crate::{
    contestants::{self, COHAB, MINIMAL, Race, TMUX},
    process::cpu_seconds,
    pty::Pty,
    report::{Report, Samples},
};

/// 37.5 MB of zeros are 50 MB of base64, in lines of 76. The quotes keep the end out of the typed line.
const COMMAND: &str = "head -c 37500000 /dev/zero | base64; echo EN''D";
/// Line ends included, as the shell writes them.
const MEGABYTES: f64 = 50.658;
const SHARE: f64 = 0.95;
/// Processor time of the client for a megabyte of output.
const CPU_MS: f64 = 9.0;
/// From Ctrl-C in a flood to the last byte of it; the prompt follows.
const CTRL_C_MS: f64 = 5.0;
const FLOODED: Duration = Duration::from_millis(200);

pub(crate) fn measure(report: &mut Report, rounds: usize) {
    let home = contestants::home();
    let mut race = Race::new();
    let mut ptys = race.at_prompts(&home);
    let cohab = race.contestants.iter().position(|contestant| contestant.name == COHAB);
    let before = cohab.map(|at| cpu_seconds(ptys[at].pid()));
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
    if let (Some(at), Some(before)) = (cohab, before) {
        let used = (cpu_seconds(ptys[at].pid()) - before) * 1_000.0;
        report.at_most("flood", "cohab's CPU for a megabyte", used / (MEGABYTES * rounds as f64), CPU_MS, "ms");
    }
    interrupted(report, &race, &mut ptys, rounds * 5);
    contestants::clean_up(&home);
}

/// A flood that the user stops: Ctrl-C to the shell's prompt, what waits in the terminals on the way included.
fn interrupted(report: &mut Report, race: &Race, ptys: &mut [Pty], rounds: usize) {
    let mut times = vec![Samples::default(); ptys.len()];
    for _ in 0..rounds {
        // tmux paints screens and not lines.
        let lines = race.contestants.iter().zip(ptys.iter_mut().zip(&mut times)).filter(|(one, _)| one.name != TMUX);
        for (_, (pty, times)) in lines {
            pty.send("yes\r");
            pty.read_until("y\r\ny\r\ny\r\n");
            let until = Instant::now() + FLOODED;
            while Instant::now() < until {
                pty.read();
            }
            let start = Instant::now();
            pty.send("\x03");
            times.push(pty.read_until(PROMPT) - start);
        }
    }
    for (contestant, times) in race.contestants.iter().zip(&times).filter(|(one, _)| one.name != TMUX) {
        let subject = format!("{}, Ctrl-C to prompt", contestant.name);
        report.samples("flood", &subject, "ms", times);
        if contestant.name == COHAB {
            report.at_most("flood", &format!("{subject}, p50"), times.p50(), CTRL_C_MS, "ms");
        }
    }
}
