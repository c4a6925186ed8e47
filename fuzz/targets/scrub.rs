//! Fuzzes the scrubber of secrets: any bytes, cut anywhere, give the same result, and ordinary bytes stay.
#![no_main]

use std::sync::Arc;

use cohab_secrets::{ExactValues, PersonalData, Scrubber, Settings, Stream};
use libfuzzer_sys::fuzz_target;

/// Each has a byte, since mutations alone would hardly find them.
const WORDS: [&str; 13] = [
    "-----BEGIN RSA PRIVATE KEY-----\n",
    "-----END RSA PRIVATE KEY-----",
    "ghp_",
    "eyJhbGciOiJIUzI1NiJ9.",
    "PASSWORD=\"",
    "Authorization: Bearer ",
    "://user:",
    "<secret:jwt#1>",
    "kind: Secret\ndata:\n  a: ",
    "Cookie: sid=",
    "aB3dE5fG7hJ9kL1mN2pQ4rS6",
    "one of our own values",
    "<secret:jwt#1-abcdefgh>",
];
/// The first byte that stands for a word.
const FIRST: u8 = 0xf0;
/// Repeats all bytes so far, up to this size: windows and blocks are longer than an input.
const DOUBLE: u8 = 0xfe;
const MOST_BYTES: usize = 100_000;

fn expanded(bytes: &[u8]) -> Vec<u8> {
    let mut stream = Vec::new();
    for &byte in bytes {
        match byte.checked_sub(FIRST).and_then(|at| WORDS.get(usize::from(at))) {
            Some(word) => stream.extend_from_slice(word.as_bytes()),
            None if byte == DOUBLE && stream.len() * 2 < MOST_BYTES => stream.extend_from_within(..),
            None => stream.push(byte),
        }
    }
    stream
}

fn scrubber(personal: PersonalData) -> Scrubber {
    let exact = Arc::new(ExactValues::new([WORDS[11].as_bytes()]));
    Scrubber::new(Settings { exact, personal, ..Settings::default() })
}

fuzz_target!(|bytes: &[u8]| {
    let [piece, kinds, rest @ ..] = bytes else { return };
    let personal = if kinds % 2 == 0 { PersonalData::ALL } else { PersonalData::default() };
    let input = expanded(rest);
    let whole = scrubber(personal).bytes(&input).into_owned();
    let (mut scrubber, mut stream, mut clean) = (scrubber(personal), Stream::default(), Vec::new());
    for part in input.chunks(usize::from(*piece) * 17 + 1) {
        stream.push(&mut scrubber, part, &mut clean);
    }
    stream.finish(&mut scrubber, &mut clean);
    assert!(clean == whole, "the chunking matters");
    if scrubber.report().total() == 0 && !whole.windows(8).any(|part| part == b"<quoted-") {
        assert!(whole == input, "something was changed");
    }
    assert!(lacks(&whole, WORDS[11].as_bytes()), "a known value is left");
});

fn lacks(text: &[u8], value: &[u8]) -> bool {
    !text.windows(value.len()).any(|part| part == value)
}
