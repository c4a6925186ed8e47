//! Fuzzes the adaptor of server-sent events: any bytes in any chunks give the events of the WHATWG rules.
#![no_main]

use cohab_models::replay::Replay;
use libfuzzer_sys::fuzz_target;

#[path = "../../daemon/crates/wires/src/sse_reference.rs"]
mod reference;

fuzz_target!(|input: &[u8]| {
    let [stream @ .., size] = input else { return };
    let size = usize::from(size % 64) + 1;
    let chunks: Vec<Vec<u8>> = stream.chunks(size).map(<[u8]>::to_vec).collect();
    let replay = Replay::of("openai-chat").expect("a wire of events");
    assert_eq!(replay.payloads(chunks), (reference::reference(stream), None));
});
