//! Finds known values, which are secret in any form: those of the environment and our own keys. Pure.

use std::{collections::BTreeSet, ffi::OsString, fmt, os::unix::ffi::OsStrExt};

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use crate::secret_names::{Use, holds_secret};

/// Shorter values are too common in other texts to be replaced everywhere.
pub(super) const LEAST_BYTES: usize = 8;
/// Longer values are found by this number of their first bytes.
pub(super) const MOST_BYTES: usize = 1024;
/// Largest number of values that are looked for.
const MOST_VALUES: usize = 512;
/// Values to look for, in all their usual forms: unchanged, base64 at each of the three offsets, percent-encoded, in JSON, quoted for a
/// shell.
#[derive(Clone, Default)]
pub struct ExactValues {
    pub(super) automaton: Option<AhoCorasick>,
    count: usize,
}

impl ExactValues {
    /// Takes `values`; those of less than 8 bytes are left out.
    #[must_use]
    pub fn new<'a>(values: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let values: BTreeSet<&[u8]> =
            values.into_iter().filter(|value| value.len() >= LEAST_BYTES).take(MOST_VALUES).collect();
        let forms: BTreeSet<Vec<u8>> = values.iter().flat_map(|value| forms(value)).collect();
        let mut builder = AhoCorasick::builder();
        builder.match_kind(MatchKind::Standard).kind(Some(AhoCorasickKind::ContiguousNFA));
        let automaton = if forms.is_empty() { None } else { builder.build(&forms).ok() };
        Self { automaton, count: values.len() }
    }

    /// The values of the variables of this environment whose names sound secret.
    #[must_use]
    pub fn of_environment(variables: impl Iterator<Item = (OsString, OsString)>) -> Self {
        let variables: Vec<(bool, OsString)> =
            variables.map(|(name, value)| (holds_secret(&name.to_string_lossy(), Use::Search), value)).collect();
        let secret = variables.iter().filter(|(is_secret, _)| *is_secret).map(|(_, value)| value.as_bytes());
        // The password of an address is a value by itself, under any name of the variable.
        let passwords = variables.iter().filter_map(|(_, value)| password_of_address(value.as_bytes()));
        Self::new(secret.chain(passwords))
    }

    /// Whether there is nothing to look for.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.automaton.is_none()
    }
}

impl fmt::Debug for ExactValues {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "ExactValues({})", self.count)
    }
}

/// `pass` of `scheme://user:pass@host`.
fn password_of_address(value: &[u8]) -> Option<&[u8]> {
    let start = memchr::memmem::find(value, b"://")? + 3;
    let authority = value[start..].split(|byte| *byte == b'/').next()?;
    let user = &authority[..memchr::memrchr(b'@', authority)?];
    Some(&user[memchr::memchr(b':', user)? + 1..])
}

fn forms(value: &[u8]) -> Vec<Vec<u8>> {
    let mut forms = vec![value.to_vec(), json(value, false), json(value, true)];
    for alphabet in [STANDARD, URL_SAFE] {
        forms.extend((0..3).map(|offset| base64_core(value, offset, alphabet)));
    }
    let is_unreserved = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    for (blank, is_upper) in [("%20", true), ("+", true), ("%20", false)] {
        forms.push(encoded(value, |byte| match byte {
            b' ' => blank.into(),
            _ if is_unreserved(byte) => vec![byte],
            _ if is_upper => format!("%{byte:02X}").into(),
            _ => format!("%{byte:02x}").into(),
        }));
    }
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._/:=@%+,".contains(&byte);
    forms.push(encoded(value, |byte| if is_plain(byte) { vec![byte] } else { vec![b'\\', byte] }));
    forms.push(encoded(value, |byte| if b"\"$`\\!".contains(&byte) { vec![b'\\', byte] } else { vec![byte] }));
    forms.push(encoded(value, |byte| if byte == b'\'' { b"'\\''".to_vec() } else { vec![byte] }));
    forms.iter_mut().for_each(|form| form.truncate(MOST_BYTES));
    forms.retain(|form| form.len() >= LEAST_BYTES);
    forms
}

fn encoded(value: &[u8], byte: impl Fn(u8) -> Vec<u8>) -> Vec<u8> {
    value.iter().flat_map(|each| byte(*each)).collect()
}

fn json(value: &[u8], with_slashes: bool) -> Vec<u8> {
    encoded(value, |byte| match byte {
        b'"' | b'\\' => vec![b'\\', byte],
        b'/' if with_slashes => b"\\/".to_vec(),
        b'\n' => b"\\n".to_vec(),
        b'\r' => b"\\r".to_vec(),
        b'\t' => b"\\t".to_vec(),
        0..0x20 => format!("\\u{byte:04x}").into(),
        _ => vec![byte],
    })
}

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL_SAFE: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// The characters of base64 that depend only on `value`, if `offset` other bytes of its group precede it.
fn base64_core(value: &[u8], offset: usize, alphabet: &[u8; 64]) -> Vec<u8> {
    // A character is six bits: whole ones lie between these.
    let (first, last) = ((offset * 8).div_ceil(6), (offset + value.len()) * 8 / 6);
    let bit = |at: usize| value[at / 8 - offset] >> (7 - at % 8) & 1;
    let letter = |at: usize| (at * 6..at * 6 + 6).fold(0, |sum, at| sum << 1 | usize::from(bit(at)));
    (first..last).map(|at| alphabet[letter(at)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(prefix: &str, value: &str) -> String {
        let core = base64_core([prefix.as_bytes(), value.as_bytes()].concat().as_slice(), 0, STANDARD);
        String::from_utf8(core).expect("base64 is text")
    }

    #[test]
    fn the_core_is_a_part_of_every_encoding_around_it() {
        assert_eq!(whole("", "Many hands make light work."), "TWFueSBoYW5kcyBtYWtlIGxpZ2h0IHdvcmsu");
        for (offset, prefix) in ["", "u", "us"].into_iter().enumerate() {
            let core = base64_core(b"a value that is long", offset, STANDARD);
            let core = String::from_utf8(core).expect("base64 is text");
            let around = whole(prefix, "a value that is long, and more");
            assert!(core.len() >= 25 && around.contains(&core), "{around} lacks {core}");
        }
    }
}
