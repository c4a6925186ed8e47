//! Tests that the cuts of a stream do not change its result, and that the bytes held back are bounded.

use std::sync::Arc;

use cohab_secrets::{ExactValues, HELD_BACK_BYTES, MOST_BLOCK_BYTES, PersonalData, Scrubber, Settings, Stream};
use proptest::prelude::*;

use crate::samples::{Dice, formats};

fn scrubber() -> Scrubber {
    let exact = Arc::new(ExactValues::new([b"correct horse".as_slice(), b"0123456789"]));
    Scrubber::new(Settings { exact, personal: PersonalData::ALL, ..Settings::default() })
}

fn in_pieces(bytes: &[u8], pieces: &[usize]) -> Vec<u8> {
    let (mut scrubber, mut stream, mut clean) = (scrubber(), Stream::default(), Vec::new());
    let (mut rest, mut sizes) = (bytes, pieces.iter().cycle());
    while !rest.is_empty() {
        let size = sizes.next().map_or(rest.len(), |size| *size).clamp(1, rest.len());
        stream.push(&mut scrubber, &rest[..size], &mut clean);
        rest = &rest[size..];
    }
    stream.finish(&mut scrubber, &mut clean);
    clean
}

/// A secret, a look-alike, or ordinary bytes, chosen by a seed.
fn fragment(seed: u64, length: usize) -> Vec<u8> {
    let mut dice = Dice::new(seed);
    let formats = formats();
    match dice.below(8) {
        0..3 => formats[dice.below(formats.len())].draw(&mut dice).text.into_bytes(),
        3 => b"-----BEGIN RSA PRIVATE KEY-----\n".to_vec(),
        4 => b"ab12CD/+".iter().copied().cycle().take(length).collect(),
        5 => b"password='<secret:x#1> ey correct horse jane@example.org DE89 3704 0044 0532 0130 00 ".to_vec(),
        6 => (0..length).map(|_| dice.below(256) as u8).collect(),
        _ => b"the quick brown fox\n".iter().copied().cycle().take(length).collect(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn every_chunking_gives_the_same(
        fragments in prop::collection::vec((any::<u64>(), 1..6_000_usize, prop::sample::select(vec!["", "\n", " ", "=", "\""])), 1..12),
        pieces in prop::collection::vec(1..3_000_usize, 1..6),
    ) {
        let joined = |(seed, length, between): &(u64, usize, &str)| [fragment(*seed, *length), between.as_bytes().to_vec()].concat();
        let bytes = fragments.iter().map(joined).collect::<Vec<_>>().concat();
        let whole = scrubber().bytes(&bytes).into_owned();
        prop_assert!(in_pieces(&bytes, &pieces) == whole);
        prop_assert!(in_pieces(&bytes, &[1, 700]) == whole);
    }
}

#[test]
fn a_secret_may_be_cut_anywhere() {
    let secret = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    let text = format!("{}{secret}{}", "before\n".repeat(900), "\nafter".repeat(900));
    let whole = Scrubber::default().text(&text).into_owned();
    assert!(whole.contains("before\n<secret:github-token#1>\nafter"));
    for cut in 6_290..6_350 {
        assert_eq!(in_pieces(text.as_bytes(), &[cut, text.len()]), whole.as_bytes(), "cut at {cut}");
    }
}

#[test]
fn little_is_held_back() {
    let (mut scrubber, mut stream, mut clean) = (scrubber(), Stream::default(), Vec::new());
    let line = b"an ordinary line of text without anything to hide\n".as_slice();
    for pushed in (0..4_000).map(|count| (count + 1) * line.len()) {
        stream.push(&mut scrubber, line, &mut clean);
        assert!(pushed - clean.len() <= HELD_BACK_BYTES + line.len(), "{} of {pushed}", clean.len());
    }
}

#[test]
fn a_key_without_end_is_dropped_and_not_kept() {
    let (mut scrubber, mut stream, mut clean) = (Scrubber::default(), Stream::default(), Vec::new());
    stream.push(&mut scrubber, b"-----BEGIN PRIVATE KEY-----\n", &mut clean);
    let line = format!("{}\n", "aB3/".repeat(16));
    for _ in 0..20 * MOST_BLOCK_BYTES / line.len() {
        stream.push(&mut scrubber, line.as_bytes(), &mut clean);
    }
    stream.push(&mut scrubber, b"~ and then ordinary text\n", &mut clean);
    stream.finish(&mut scrubber, &mut clean);
    assert_eq!(String::from_utf8_lossy(&clean), "<secret:private-key#1>~ and then ordinary text\n");
}

#[test]
fn a_token_that_is_longer_than_the_window_is_dropped_whole() {
    let text = format!("Authorization: Bearer {} end", "aB3xYz9".repeat(20_000));
    assert_eq!(Scrubber::default().text(&text), "Authorization: Bearer <secret:authorization#1> end");
}
