//! Fuzzes the live shell with any interleaving of output, marks, keys, requests and time, on a simulated clock and kernel. The fuzzer
//! supplies the stories of the property tests. The first byte chooses the shell and the size of the pieces of output.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../shell-relay/tests/machine/bench.rs"]
#[allow(dead_code, reason = "the property tests use more of it")]
mod bench;
#[path = "../../shell-relay/tests/machine/editor.rs"]
#[allow(dead_code, reason = "the property tests use more of it")]
mod editor;
#[path = "../../shell-relay/tests/machine/story.rs"]
mod story;

fuzz_target!(|bytes: &[u8]| {
    let Some((&first, story)) = bytes.split_first() else { return };
    let (shell, piece) = (usize::from(first) % editor::SHELLS.len(), usize::from(first) / editor::SHELLS.len());
    let whole = story::play(editor::SHELLS[shell], story, usize::MAX);
    let pieces = story::play(editor::SHELLS[shell], story, piece % 32 + 1);
    assert_eq!(whole, pieces);
});
