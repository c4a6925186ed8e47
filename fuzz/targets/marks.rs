//! Fuzzes the mark parser: any bytes, in any pieces, give the same marks and the same output, and the parser holds back no more than a
//! mark.
#![no_main]

use cohab_shell_relay::marks::{Item, MARK_MAX_BYTES, Mark, MarkParser};
use libfuzzer_sys::fuzz_target;

const NONCE: &str = "00112233445566778899aabbccddeeff";
const PREFIX: &str = "\x1b]7391;00112233445566778899aabbccddeeff;500;";

/// Each has a byte, since a fuzzer would hardly find them.
const WORDS: [&str; 10] =
    [PREFIX, "\x1b]7391;", NONCE, "500", "501", "\x07", "\x1b\\", "E;ab;0;/%C3%A4", "Q;1;%0A", "D;;0;/"];
const FIRST_WORD: u8 = 0xf0;

fn expanded(bytes: &[u8]) -> Vec<u8> {
    let mut stream = Vec::new();
    for &byte in bytes {
        match byte.checked_sub(FIRST_WORD).and_then(|at| WORDS.get(usize::from(at))) {
            Some(word) => stream.extend_from_slice(word.as_bytes()),
            None => stream.push(byte),
        }
    }
    stream
}

/// Ordinary output, and each mark with the number of bytes before it.
fn parsed<'a>(chunks: impl Iterator<Item = &'a [u8]>) -> (Vec<u8>, Vec<(usize, Mark)>) {
    let mut parser = MarkParser::new(NONCE, 500);
    let (mut plain, mut marks) = (Vec::new(), Vec::new());
    for chunk in chunks {
        let mut rest = chunk;
        while let Some(item) = parser.next(&mut rest) {
            match item {
                Item::Bytes(bytes) => plain.extend_from_slice(bytes),
                Item::Mark(mark) => marks.push((plain.len(), mark)),
            }
        }
    }
    let held = parser.finish();
    assert!(held.len() <= MARK_MAX_BYTES, "{} bytes held back", held.len());
    plain.extend(held);
    (plain, marks)
}

fuzz_target!(|bytes: &[u8]| {
    let Some((&piece, rest)) = bytes.split_first() else { return };
    let stream = expanded(rest);
    let (plain, marks) = parsed(std::iter::once(stream.as_slice()));
    assert_eq!((plain.clone(), marks.clone()), parsed(stream.chunks(usize::from(piece % 64) + 1)));
    assert!(plain.len() <= stream.len());
    if marks.is_empty() {
        assert_eq!(plain, stream);
    } else {
        assert!(String::from_utf8_lossy(&stream).contains(PREFIX), "a mark from nowhere: {marks:?}");
    }
});
