//! What stands where a secret was: `<secret:KIND#N>`. Pure.

use std::{collections::HashMap, hash::BuildHasher as _, hash::RandomState};

/// How every placeholder begins.
pub(super) const START: &str = "<secret:";
/// What stands for that where a text of others has something that looks like a placeholder.
const ESCAPED_START: &str = "<quoted-secret:";
/// Values of a conversation that are told apart; further ones are all number 0.
const MOST_VALUES: usize = 65_536;
/// Longest kind, in bytes, that a look-alike may have.
const MOST_KIND_BYTES: usize = 40;
const MOST_DIGITS: usize = 10;

/// Which value has which number. Holds keyed hashes, no values.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    keys: [RandomState; 2],
    known: HashMap<[u64; 2], usize>,
    escaped: u64,
}

impl Numbers {
    /// Writes the placeholder of `value`.
    pub(super) fn write(&mut self, kind: &str, value: &[u8], out: &mut Vec<u8>) {
        let hash = [self.keys[0].hash_one(value), self.keys[1].hash_one(value)];
        let next = self.known.len() + 1;
        let number = match self.known.get(&hash) {
            Some(number) => *number,
            None if next > MOST_VALUES => 0,
            None => *self.known.entry(hash).or_insert(next),
        };
        out.extend_from_slice(format!("{START}{kind}#{number}>").as_bytes());
    }

    /// Writes what stands for the start of a look-alike.
    pub(super) fn escape(&mut self, out: &mut Vec<u8>) {
        self.escaped += 1;
        out.extend_from_slice(ESCAPED_START.as_bytes());
    }

    /// Look-alikes met so far.
    pub(super) fn escaped(&self) -> u64 {
        self.escaped
    }
}

/// Whether `rest`, which begins with [`START`] in any case, goes on as a placeholder does.
pub(super) fn is_look_alike(rest: &[u8]) -> bool {
    rest.get(START.len()..).is_some_and(is_name)
}

/// Whether `rest` begins with `KIND#N>`.
fn is_name(rest: &[u8]) -> bool {
    let kind = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'-').count();
    let Some(after) = rest.get(kind..).and_then(|rest| rest.strip_prefix(b"#")) else { return false };
    let digits = after.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (1..=MOST_KIND_BYTES).contains(&kind) && (1..=MOST_DIGITS).contains(&digits) && after.get(digits) == Some(&b'>')
}

/// The name, as in `KIND#N`, of the first placeholder in `text` if there is one. A quoted one counts: it stood in what another scrubber
/// has cleaned, or pretends to.
#[must_use]
pub fn holds_placeholder(text: &str) -> Option<&str> {
    let starts = text.match_indices("secret:").filter_map(|(at, word)| {
        let begins = text[..at].ends_with('<') || text[..at].ends_with("<quoted-");
        begins.then(|| &text[at + word.len()..])
    });
    starts.filter(|rest| is_name(rest.as_bytes())).find_map(|rest| rest.split('>').next())
}
