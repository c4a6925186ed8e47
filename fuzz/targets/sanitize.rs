//! Fuzzes the sanitizer: the result for any text is harmless, sanitizing it again changes nothing, and it does not depend on the cuts.
#![no_main]

use cohab_text::sanitize::{Sanitizer, is_invisible, one_line, sanitize, visible_controls};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|pieces: Vec<String>| {
    let text = pieces.concat();
    let clean = sanitize(&text);
    let is_odd = |c: char| (c.is_control() && !matches!(c, '\t' | '\n')) || is_invisible(c);
    assert!(!clean.chars().any(is_odd), "{clean:?}");
    assert_eq!(sanitize(&clean), clean);
    let mut sanitizer = Sanitizer::default();
    let mut in_pieces: String = pieces.iter().map(|piece| sanitizer.push(piece)).collect();
    in_pieces += &sanitizer.finish();
    assert_eq!(in_pieces, clean);
    assert!(!one_line(&text, 40).chars().any(|c| is_odd(c) || c == '\n'));
    assert!(!visible_controls(&text).chars().any(|c| is_odd(c) || c == '\t'));
});
