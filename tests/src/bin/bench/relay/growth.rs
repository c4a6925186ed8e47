//! A thousand relays leave nothing behind.

use cohab_e2e::Home;

use super::{MEASURE, live::Live, of, shells::Measured};
use crate::{
    process::{descriptors, pss_mib},
    report::Report,
};

/// Buffers and caches have their size by then.
const WARM_UP: usize = 200;
const RELAYS: usize = 1_000;
const DRAWN: usize = 200;
/// Noise of the allocator: a quarter of a kilobyte for each relay.
const GROWTH_KIB: f64 = 256.0;

pub(crate) fn measure(report: &mut Report, shell: &Measured, home: &Home) {
    let mut live = Live::at_prompt(shell, home).expect("it gave marks before");
    relays(&mut live, WARM_UP);
    let before = figures(&live);
    relays(&mut live, RELAYS);
    let after = figures(&live);
    let grown = |at: usize| after[at] - before[at];
    report.at_most(MEASURE, &of(shell, "1,000 relays, our PSS grows"), grown(0) * 1024.0, GROWTH_KIB, "KiB");
    report.at_most(MEASURE, &of(shell, "1,000 relays, the shell's PSS"), grown(1) * 1024.0, GROWTH_KIB, "KiB");
    report.at_most(MEASURE, &of(shell, "1,000 relays, our descriptors"), grown(2), 0.0, "more");
    report.at_most(MEASURE, &of(shell, "1,000 relays, the shell's"), grown(3), 0.0, "more");

    let mut drawn = Live::at_prompt(shell, home).expect("it gave marks before");
    drawn.draw();
    relays(&mut drawn, 1);
    let first = drawn.rows();
    relays(&mut drawn, DRAWN);
    let rows = (drawn.rows() - first) as f64 / DRAWN as f64;
    report.at_most(MEASURE, &of(shell, "screen rows per relay"), rows, 1.0, "rows");
}

fn relays(live: &mut Live, count: usize) {
    for _ in 0..count {
        let (_, outcome) = live.relayed("true");
        assert_eq!(outcome.status, Some(0));
    }
}

/// Memory of this process and of the shell, descriptors of both.
fn figures(live: &Live) -> [f64; 4] {
    let (us, shell) = (std::process::id(), live.pid());
    [pss_mib(us), pss_mib(shell), descriptors(us), descriptors(shell)]
}
