//! Fuzzes the line splitter: any bytes in any chunks give exactly the nonblank lines.
#![no_main]

use cohab_models::replay::Replay;
use libfuzzer_sys::fuzz_target;

fn lines(stream: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(stream);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let lines = text.split(['\n', '\r']).filter(|line| !line.trim().is_empty());
    lines.map(str::to_owned).collect()
}

fuzz_target!(|input: &[u8]| {
    let [stream @ .., size] = input else { return };
    let size = usize::from(size % 64) + 1;
    let chunks: Vec<Vec<u8>> = stream.chunks(size).map(<[u8]>::to_vec).collect();
    let replay = Replay::of("ollama").expect("a wire of lines");
    let (payloads, failure) = replay.payloads(chunks);
    let payloads: Vec<&str> = payloads.iter().map(|payload| payload.trim_end_matches('\n')).collect();
    assert_eq!((payloads, failure), (lines(stream).iter().map(String::as_str).collect(), None));
});
