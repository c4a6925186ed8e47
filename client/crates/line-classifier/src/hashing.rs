//! Hashes words: each of the first words, the first and the second once more under separate marks, and the pair of both.

use super::{
    line::{Line, Shape, Token},
    weights::{HASHED, hash},
};

/// Number of words that are hashed.
const WORDS: usize = 14;
/// A longer word is always the same symbol.
const LONG_BYTES: usize = 24;

/// The meaning of a hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// A word anywhere.
    Word,
    /// The first word.
    First,
    /// The second word.
    Second,
    /// First and second word together.
    Pair,
    /// The last word.
    Last,
}

/// Calls `sink` for each hashed word of a line, with its mark, its position, and its index into the weights.
pub fn each_hashed(line: &Line<'_>, mut sink: impl FnMut(Mark, usize, usize)) {
    let mut first = 0;
    for (at, token) in line.tokens.iter().take(WORDS).enumerate() {
        let hash = symbol(token);
        match at {
            0 => {
                first = hash;
                sink(Mark::First, at, index(hash, 1));
            }
            1 => {
                sink(Mark::Second, at, index(hash, 2));
                sink(Mark::Pair, at, index(hash ^ first.rotate_left(17), 3));
            }
            _ => {}
        }
        if at > 0 {
            sink(Mark::Word, at, index(hash, 0));
        }
    }
    if let (Some(last), true) = (line.tokens.last(), line.tokens.len() > 2) {
        sink(Mark::Last, line.tokens.len() - 1, index(symbol(last), 4));
    }
}

fn index(hash: u64, mark: u64) -> usize {
    let mixed = (hash ^ mark.wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    (mixed >> 40) as usize % HASHED
}

/// The symbol of a word: lower-case letters, digits as 0; a quoted or a very long word is one symbol.
fn symbol(token: &Token<'_>) -> u64 {
    let text = if token.is_plain() { token.word } else { token.text };
    if token.shape == Shape::Quoted || text.len() > LONG_BYTES {
        return hash(b"", if token.shape == Shape::Quoted { 5 } else { 6 });
    }
    let mut bytes = [0; LONG_BYTES];
    let bytes = &mut bytes[..text.len()];
    bytes.copy_from_slice(text.as_bytes());
    for byte in bytes.iter_mut() {
        *byte = if byte.is_ascii_digit() { b'0' } else { byte.to_ascii_lowercase() };
    }
    hash(bytes, 7)
}
