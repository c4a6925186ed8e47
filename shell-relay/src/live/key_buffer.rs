//! Holds keys that wait for the shell, as they were tokenized when they came. Pure.

use super::keys::{Token, TokenKind};

/// Largest size of the held keys; further keys are dropped.
pub(super) const HELD_KEYS_MAX_BYTES: usize = 64 * 1024;

/// Keys in order. Their bytes are not parsed again: an Escape and the text typed after it must not become one key.
#[derive(Debug, Default)]
pub(super) struct HeldKeys {
    bytes: Vec<u8>,
    /// Kind and length of each key.
    tokens: Vec<(TokenKind, usize)>,
}

impl HeldKeys {
    /// Takes a key, or as much of a long paste as fits.
    pub fn push(&mut self, token: Token<'_>) {
        let room = HELD_KEYS_MAX_BYTES - self.bytes.len();
        let kept = &token.bytes[..token.bytes.len().min(room)];
        if !kept.is_empty() {
            self.bytes.extend_from_slice(kept);
            self.tokens.push((token.kind, kept.len()));
        }
    }

    /// Puts letters in front.
    pub fn prepend(&mut self, text: &str) {
        self.bytes.splice(0..0, text.bytes());
        self.tokens.insert(0, (TokenKind::Other, text.len()));
    }

    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    /// Whether a whole line is among them.
    pub fn hold_a_line(&self) -> bool {
        self.bytes.iter().any(|byte| matches!(byte, b'\r' | b'\n'))
    }

    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Iterates over the keys in order.
    pub fn iter(&self) -> impl Iterator<Item = Token<'_>> {
        let mut rest = self.bytes.as_slice();
        self.tokens.iter().map(move |&(kind, length)| {
            let (bytes, after) = rest.split_at(length);
            rest = after;
            Token { kind, bytes }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_back_as_they_were_told_apart() {
        let mut held = HeldKeys::default();
        held.push(Token { kind: TokenKind::Escape, bytes: b"\x1b" });
        held.push(Token { kind: TokenKind::Enter, bytes: b"\r" });
        assert!(held.hold_a_line());
        held.prepend("ab");
        let kinds: Vec<(TokenKind, &[u8])> = held.iter().map(|token| (token.kind, token.bytes)).collect();
        let expected: [(TokenKind, &[u8]); 3] =
            [(TokenKind::Other, b"ab"), (TokenKind::Escape, b"\x1b"), (TokenKind::Enter, b"\r")];
        assert_eq!(kinds, expected);
    }

    #[test]
    fn what_goes_beyond_the_bound_is_dropped() {
        let mut held = HeldKeys::default();
        for _ in 0..3 {
            held.push(Token { kind: TokenKind::Other, bytes: &[b'x'; HELD_KEYS_MAX_BYTES / 2 + 1] });
        }
        assert_eq!(held.iter().map(|token| token.bytes.len()).sum::<usize>(), HELD_KEYS_MAX_BYTES);
    }
}
