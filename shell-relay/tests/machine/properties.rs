//! Whatever happens, in any order.

use proptest::prelude::*;

use cohab_shell_relay::live::LiveEvent;

use crate::{
    bench::{Bench, CHILD, NONCE},
    story::play,
};

const HELD_KEYS_MAX_BYTES: usize = 64 * 1024;
const WHOLE: usize = usize::MAX;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn every_story_ends_well(bytes in proptest::collection::vec(any::<u8>(), 0..240)) {
        play(&bytes, WHOLE);
    }

    #[test]
    fn the_pieces_in_which_output_comes_change_nothing(
        bytes in proptest::collection::vec(any::<u8>(), 0..160),
        piece in 1usize..9,
    ) {
        let (whole, pieces) = (play(&bytes, WHOLE), play(&bytes, piece));
        prop_assert_eq!(String::from_utf8_lossy(&whole.terminal), String::from_utf8_lossy(&pieces.terminal));
        prop_assert_eq!(String::from_utf8_lossy(&whole.pty), String::from_utf8_lossy(&pieces.pty));
        prop_assert_eq!(whole.events, pieces.events);
    }
}

#[test]
fn keys_beyond_the_bound_are_dropped_and_the_rest_comes_in_order() {
    let mut bench = Bench::stashing();
    let typed: Vec<u8> = (0..HELD_KEYS_MAX_BYTES + 1000).map(|at| b'a' + (at % 26) as u8).collect();
    typed.chunks(777).for_each(|keys| bench.keys(keys));
    assert!(bench.fx.pty.is_empty());
    bench.wait(3000);
    assert!(bench.fx.pty == typed[..HELD_KEYS_MAX_BYTES], "{} bytes came", bench.fx.pty.len());
}

/// Memory of this process, in bytes.
fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux tells");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a process has memory");
    let kilobytes: u64 = line.trim().trim_end_matches(" kB").parse().expect("a number");
    kilobytes * 1024
}

#[test]
fn megabytes_within_one_sequence_cost_no_memory_and_no_byte() {
    static CHUNK: [u8; 64 * 1024] = [b'5'; 64 * 1024];
    const CHUNKS: usize = 128;
    const GROWTH_MAX_BYTES: u64 = 4 * 1024 * 1024;
    let cut_mark = format!("\x1b]7391;{NONCE};{CHILD};Q;1;");
    let makers: [(fn() -> Bench, bool); 5] = [
        (Bench::prompt_idle, true),
        (Bench::running_user, true),
        (Bench::not_integrated, true),
        (Bench::answering, false),
        (Bench::running_agent, false),
    ];
    for (make, is_shown) in makers {
        for opening in ["\x1b]0;", &cut_mark, "\x1b]7391;", "\x1b[", "\x1bP"] {
            let mut bench = make();
            bench.output(opening.as_bytes());
            let mut shown = std::mem::take(&mut bench.fx.terminal).len();
            bench.output(&CHUNK);
            let before = resident_bytes();
            for _ in 1..CHUNKS {
                shown += bench.fx.terminal.len();
                bench.fx.clear();
                bench.output(&CHUNK);
            }
            let growth = resident_bytes().saturating_sub(before);
            assert!(growth < GROWTH_MAX_BYTES, "{growth} bytes after {opening:?} in {:?}", bench.live.state());
            bench.end();
            shown += bench.fx.terminal.len();
            let written = opening.len() + CHUNKS * CHUNK.len();
            assert!(!is_shown || shown == written, "{shown} of {written} bytes after {opening:?}");
            if let Some(LiveEvent::CommandFinished { outcome, .. }) = bench.fx.events.last() {
                // What stands in place of the nonce is shorter.
                let redacted = if opening.contains(NONCE) { NONCE.len() - "[redacted]".len() } else { 0 };
                assert_eq!(outcome.total_bytes, (written - redacted) as u64, "{opening:?}");
            }
        }
    }
}
