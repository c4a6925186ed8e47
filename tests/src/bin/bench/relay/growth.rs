//! Checks that a thousand relays leave nothing behind.

use cohab_e2e::Home;

use super::{MEASURE, live::Live, of, reader::Plain, shells::Measured};
use crate::{
    process::{descriptors, own_memory_kib},
    report::Report,
};

/// After this many relays buffers and caches have their final size.
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
    report.at_most(MEASURE, &of(shell, "1,000 relays, our memory grows"), grown(0), GROWTH_KIB, "KiB");
    let by_itself = grown_by_typing(shell, home);
    report.note(&format!("{}: {:.0} KiB more after 1,000 relays, {by_itself:.0} if typed", shell.name, grown(1)));
    let more = grown(1) - by_itself;
    report.at_most(MEASURE, &of(shell, "1,000 relays, the shell's over typed"), more, GROWTH_KIB, "KiB");
    report.at_most(MEASURE, &of(shell, "1,000 relays, our descriptors"), grown(2), 0.0, "more");
    report.at_most(MEASURE, &of(shell, "1,000 relays, the shell's descriptors"), grown(3), 0.0, "more");

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

/// The growth of the shell without cohab by the same number of typed lines.
fn grown_by_typing(shell: &Measured, home: &Home) -> f64 {
    let mut plain = Plain::at_prompt(shell, home);
    (0..WARM_UP).for_each(|_| plain.entered("true"));
    let before = own_memory_kib(plain.pid());
    (0..RELAYS).for_each(|_| plain.entered("true"));
    own_memory_kib(plain.pid()) - before
}

/// Memory of this process and of the shell in KiB, descriptors of both.
fn figures(live: &Live) -> [f64; 4] {
    let (us, shell) = (std::process::id(), live.pid());
    [own_memory_kib(us), own_memory_kib(shell), descriptors(us), descriptors(shell)]
}
