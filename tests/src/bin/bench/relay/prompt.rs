//! Measures a relayed `true` from prompt to prompt, and the integration's share of a shell's start.

use std::time::Instant;

use cohab_e2e::Home;

use super::{MEASURE, live::Live, of, reader::Plain, shells::Measured};
use crate::report::{Report, Samples};

const RELAYS_PER_ROUND: usize = 10;
const OVER_TYPED_MS: f64 = 1.5;
const START_ADDED_MS: f64 = 4.0;

/// One shell twice, and the samples of both.
struct Pair<'a> {
    shell: &'a Measured,
    plain: Plain,
    live: Live,
    typed: Samples,
    relayed: Samples,
    listed: Samples,
    plain_start: Samples,
    live_start: Samples,
}

/// All shells take part in each round, so that other load of the machine affects all alike.
pub(crate) fn measure(report: &mut Report, shells: &[Measured], home: &Home, rounds: usize) {
    let mut pairs: Vec<Pair<'_>> = shells.iter().map(|shell| pair(shell, home)).collect();
    for _ in 0..rounds {
        for pair in &mut pairs {
            for _ in 0..RELAYS_PER_ROUND {
                pair.typed.push(pair.plain.typed("true"));
                pair.relayed.push(pair.live.relayed("true").0);
                pair.listed.push(pair.live.relayed_and_listed("true"));
            }
            let start = Instant::now();
            let plain = Plain::at_prompt(pair.shell, home);
            pair.plain_start.push(start.elapsed());
            drop(plain);
            let start = Instant::now();
            let live = start_live(pair.shell, home);
            pair.live_start.push(start.elapsed());
            drop(live);
        }
    }
    for pair in &pairs {
        report_pair(report, pair);
    }
}

fn pair<'a>(shell: &'a Measured, home: &Home) -> Pair<'a> {
    Pair {
        shell,
        plain: Plain::at_prompt(shell, home),
        live: start_live(shell, home),
        typed: Samples::default(),
        relayed: Samples::default(),
        listed: Samples::default(),
        plain_start: Samples::default(),
        live_start: Samples::default(),
    }
}

fn start_live(shell: &Measured, home: &Home) -> Live {
    Live::at_prompt(shell, home).expect("it gave marks before")
}

fn report_pair(report: &mut Report, pair: &Pair<'_>) {
    let shell = pair.shell;
    report.samples(MEASURE, &of(shell, "typed `true`"), "ms", &pair.typed);
    report.samples(MEASURE, &of(shell, "relayed `true`"), "ms", &pair.relayed);
    report.samples(MEASURE, &of(shell, "relayed `true`, state listed"), "ms", &pair.listed);
    report.at_most(MEASURE, &of(shell, "relayed, p50"), pair.relayed.p50(), shell.relay_bar_ms(), "ms");
    let over = pair.relayed.p50() - pair.typed.p50();
    report.at_most(MEASURE, &of(shell, "relayed over typed, p50"), over, OVER_TYPED_MS, "ms");
    report.samples(MEASURE, &of(shell, "start without us"), "ms", &pair.plain_start);
    let added = pair.live_start.p50() - pair.plain_start.p50();
    report.at_most(MEASURE, &of(shell, "injection adds to start, p50"), added, START_ADDED_MS, "ms");
}
