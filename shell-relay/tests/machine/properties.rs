//! Property tests for random events in any order.

use cohab_shell_relay::live::LiveEvent;
use cohab_shell_state::shell::Shell;
use cohab_types::command::Interrupter;
use proptest::prelude::*;

use crate::{
    bench::{Bench, CHILD, NONCE},
    editor::{Key, SHELLS, bytes_of},
    honest,
    states::Make,
    story::play,
};

const HELD_KEYS_MAX_BYTES: usize = 64 * 1024;
const WHOLE: usize = usize::MAX;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn every_story_ends_well(
        shell in proptest::sample::select(SHELLS.as_slice()),
        bytes in proptest::collection::vec(any::<u8>(), 0..240),
    ) {
        play(shell, &bytes, WHOLE);
    }

    #[test]
    fn a_shell_that_behaves_gets_each_key_where_it_belongs(
        shell in proptest::sample::select(SHELLS.as_slice()),
        bytes in proptest::collection::vec(any::<u8>(), 0..160),
    ) {
        honest::play(shell, &bytes);
    }

    #[test]
    fn the_pieces_in_which_output_comes_change_nothing(
        shell in proptest::sample::select(SHELLS.as_slice()),
        bytes in proptest::collection::vec(any::<u8>(), 0..160),
        piece in 1usize..9,
    ) {
        let (whole, pieces) = (play(shell, &bytes, WHOLE), play(shell, &bytes, piece));
        prop_assert_eq!(String::from_utf8_lossy(&whole.terminal), String::from_utf8_lossy(&pieces.terminal));
        prop_assert_eq!(String::from_utf8_lossy(&whole.pty), String::from_utf8_lossy(&pieces.pty));
        prop_assert_eq!(whole.events, pieces.events);
    }
}

#[test]
fn keys_beyond_the_bound_are_dropped_and_the_rest_comes_in_order() {
    let mut bench = Bench::stashing(Shell::Bash);
    let typed: Vec<u8> = (0..HELD_KEYS_MAX_BYTES + 1000).map(|at| b'a' + (at % 26) as u8).collect();
    typed.chunks(777).for_each(|keys| bench.keys(keys));
    assert!(bench.fx.pty.is_empty());
    bench.wait(3000);
    assert!(bench.fx.pty == typed[..HELD_KEYS_MAX_BYTES], "{} bytes came", bench.fx.pty.len());
}

#[test]
fn a_command_refused_in_an_answer_gives_the_terminal_back_to_the_assistant() {
    type Refuse = fn(&mut Bench);
    let ways: [(&str, Refuse); 3] = [
        ("bad_text", |bench| bench.run("b0", "nul\0")),
        ("not_ready", |bench| {
            bench.run("b0", "true");
            bench.wait(3000);
        }),
        ("not_written", |bench| {
            bench.run("b0", "true");
            bench.not_written();
        }),
    ];
    for (code, refuse) in ways {
        let mut bench = Bench::answering(Shell::Bash);
        refuse(&mut bench);
        let [LiveEvent::CommandRefused { error, .. }, LiveEvent::AnswerReady] = bench.fx.events.as_slice() else {
            panic!("{code}: {:?}", bench.fx.events);
        };
        assert_eq!(error.code(), code);
    }
}

#[test]
fn a_command_that_cannot_be_written_is_refused_at_once_and_held_keys_come() {
    let mut bench = Bench::stashing(Shell::Bash);
    bench.keys(b"typed");
    bench.not_written();
    let Some(LiveEvent::CommandRefused { id, error }) = bench.fx.events.first() else {
        panic!("{:?}", bench.fx.events)
    };
    assert_eq!((id.as_str(), error.code()), ("a0", "not_written"));
    assert!(error.to_string().contains("disk full"), "{error}");
    assert_eq!(bench.fx.pty, b"typed");
    let mut bench = Bench::running_agent(Shell::Bash);
    bench.not_written();
    assert!(bench.fx.events.is_empty(), "it runs: {:?}", bench.fx.events);
}

#[test]
fn keys_that_wait_for_the_prompt_go_to_a_command_that_starts_before_it() {
    let mut bench = Bench::running_agent(Shell::Bash);
    bench.keys(b"rm -i x\r");
    bench.marks(&["E;a0;0;/", "D;a0;0;/"]);
    bench.probe.editor_in_front();
    bench.marks(&["B"]);
    bench.fx.clear();
    bench.keys(b"y");
    assert!(bench.fx.pty.is_empty(), "what was typed ahead may still be read");
    bench.marks(&["C"]);
    bench.keys(b"z");
    assert_eq!(bench.fx.pty, b"yz");
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
    let makers: [(Make, bool); 5] = [
        (Bench::prompt_idle, true),
        (Bench::running_user, true),
        (Bench::not_integrated, true),
        (Bench::answering, false),
        (Bench::running_agent, false),
    ];
    for (make, is_shown) in makers {
        for opening in ["\x1b]0;", &cut_mark, "\x1b]7391;", "\x1b[", "\x1bP"] {
            let mut bench = make(Shell::Bash);
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
                // The replacement of the nonce is shorter.
                let redacted = if opening.contains(NONCE) { NONCE.len() - "[redacted]".len() } else { 0 };
                assert_eq!(outcome.total_bytes, (written - redacted) as u64, "{opening:?}");
            }
        }
    }
}

#[test]
fn a_line_put_aside_late_comes_back_and_a_mark_nobody_waits_for_does_nothing() {
    for shell in SHELLS {
        let restore = bytes_of(shell, Key::Restore).as_bytes();
        type GiveUp = fn(&mut Bench);
        let ways: [(Make, GiveUp); 3] = [
            (Bench::stashing, |bench| bench.wait(3_000)),
            (Bench::stashing, |bench| bench.keys(b"\x03")),
            (Bench::taking, |bench| bench.wait(3_000)),
        ];
        for (make, give_up) in ways {
            let mut bench = make(shell);
            give_up(&mut bench);
            bench.fx.clear();
            // A second key behind the first would put an empty line in its place.
            bench.run("b0", "true");
            assert!(bench.fx.pty.is_empty(), "{shell:?}");
            bench.live.cancel("b0", Interrupter::Turn, &bench.probe, bench.now, &mut bench.fx);
            bench.marks(&["S;3"]);
            assert_eq!(bench.fx.pty, restore, "{shell:?}");
            bench.marks(&["S;3"]);
            assert_eq!(bench.fx.pty, restore, "{shell:?}: once");
        }
        let mut bench = Bench::prompt_idle(shell);
        bench.marks(&["S;3"]);
        assert!(bench.fx.pty.is_empty(), "{shell:?}");
    }
}

#[test]
fn an_unfinished_line_typed_ahead_gets_its_rest() {
    for shell in [Shell::Bash, Shell::Zsh] {
        let mut bench = Bench::restoring(shell);
        bench.keys(b"held ");
        bench.marks(&["P"]);
        bench.keys(b"rest");
        assert_eq!(bench.fx.pty, b"held rest", "{shell:?}");
        let mut bench = Bench::answering(shell);
        bench.marks(&["P"]);
        bench.output(b"> ");
        bench.keys(b"rest");
        assert_eq!((bench.fx.pty.as_slice(), bench.fx.terminal.as_slice()), (&b"rest"[..], &b"> "[..]), "{shell:?}");
        bench.run("b0", "true");
        assert_eq!(bench.fx.pty, b"rest", "{shell:?}: no key of ours goes there");
    }
}

#[test]
fn a_command_that_waits_for_a_told_line_starts_when_none_is_told() {
    for shell in [Shell::Zsh, Shell::Fish] {
        let mut bench = Bench::asked(shell);
        bench.run("b0", "true");
        bench.wait(5);
        bench.output(b"\x1b[J");
        bench.wait(100);
        bench.fx.clear();
        bench.wait(5_000);
        assert!(String::from_utf8_lossy(&bench.fx.pty).starts_with(bytes_of(shell, Key::Stash)), "{shell:?}");
    }
}
