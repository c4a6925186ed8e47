//! Fuzzes the path from raw output to text for a model: any bytes, in any pieces, become the same text, without control characters and
//! secrets.
#![no_main]

use cohab_text::{capture::{Capture, Redactor, ends_in_mid_line, redacted_tail}, sanitize::{Sanitizer, is_invisible, one_line, sanitize}};
use libfuzzer_sys::fuzz_target;

const SECRET: &str = "00112233445566778899aabbccddeeff";
/// The byte for the whole secret, and the one for its half.
const WHOLE_SECRET: u8 = 0xf0;
const HALF_SECRET: u8 = 0xf1;

fn expanded(bytes: &[u8]) -> Vec<u8> {
    let mut stream = Vec::new();
    for &byte in bytes {
        match byte {
            WHOLE_SECRET => stream.extend_from_slice(SECRET.as_bytes()),
            HALF_SECRET => stream.extend_from_slice(&SECRET.as_bytes()[..16]),
            byte => stream.push(byte),
        }
    }
    stream
}

fn redacted<'a>(chunks: impl Iterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut redactor = Redactor::new(SECRET);
    let mut out = Vec::new();
    chunks.for_each(|chunk| redactor.push(chunk, &mut out));
    redactor.finish(&mut out);
    out
}

fn captured<'a>(chunks: impl Iterator<Item = &'a [u8]>, head: usize, tail: usize) -> (String, u64, u64) {
    let mut capture = Capture::new(head, tail);
    chunks.for_each(|chunk| capture.push(chunk));
    let (text, left_out) = capture.render();
    (text, left_out, capture.total_bytes())
}

fn check_capture(stream: &[u8], piece: usize, head: usize, tail: usize) {
    let whole = captured(std::iter::once(stream), head, tail);
    assert_eq!(whole, captured(stream.chunks(piece), head, tail));
    assert!(whole.0.chars().all(|c| matches!(c, '\n' | '\t') || !c.is_control()), "controls in {:?}", whole.0);
    assert_eq!(whole.2, stream.len() as u64);
    let mut user = Capture::new(0, tail);
    user.push(stream);
    assert!(!redacted_tail(&user.render_tail(), SECRET).contains(SECRET));
    let _ = ends_in_mid_line(stream);
}

fn check_sanitizer(text: &str, piece: usize) {
    let clean = sanitize(text);
    let harmless = |c: char| matches!(c, '\n' | '\t') || !(c.is_control() || is_invisible(c));
    assert!(clean.chars().all(harmless), "{clean:?}");
    assert_eq!(sanitize(&clean), clean);
    let mut sanitizer = Sanitizer::default();
    let letters: Vec<char> = text.chars().collect();
    let mut pieces: String = letters.chunks(piece).map(|piece| sanitizer.push(&String::from_iter(piece))).collect();
    pieces += &sanitizer.finish();
    assert_eq!(pieces, clean);
    assert!(one_line(text, piece).chars().all(|c| !c.is_control()));
}

fuzz_target!(|bytes: &[u8]| {
    let [piece, head, tail, rest @ ..] = bytes else { return };
    let piece = usize::from(piece % 64) + 1;
    let stream = expanded(rest);
    let clean = redacted(std::iter::once(stream.as_slice()));
    assert_eq!(clean, redacted(stream.chunks(piece)));
    assert!(!String::from_utf8_lossy(&clean).contains(SECRET));
    check_capture(&clean, piece, usize::from(*head), usize::from(*tail));
    check_sanitizer(&String::from_utf8_lossy(&stream), piece);
});
