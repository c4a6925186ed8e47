//! Seals: HMAC-SHA-256 over the bytes of a line or of a row. Pure.

use std::fmt;

use ring::hmac;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

/// Length of a key, in bytes.
pub(super) const KEY_BYTES: usize = 32;
/// Length of a seal, in bytes.
const MAC_BYTES: usize = 32;
/// Stands before the seal in a line.
const BEFORE: &str = ",\"mac\":\"";
/// Stands behind it.
const BEHIND: &str = "\"}";

/// The key of the seals.
#[derive(Clone)]
pub(super) struct Key(hmac::Key);

/// A seal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mac([u8; MAC_BYTES]);

/// The sealed object. The seal of one kind is never valid for the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    Record,
    Head,
    MemoryRow,
    MemoryEntry,
    MemoryHead,
    PastRun,
    PastTurn,
    Rejected,
    Proposal,
    BlockVersion,
    LearnedPlace,
    LearnedFile,
    Passage,
}

impl Purpose {
    /// Stands before what is sealed.
    fn label(self) -> &'static [u8] {
        match self {
            Self::Record => b"record\n",
            Self::Head => b"head\n",
            Self::MemoryRow => b"memory row\n",
            Self::MemoryEntry => b"memory entry\n",
            Self::MemoryHead => b"memory head\n",
            Self::PastRun => b"past run\n",
            Self::PastTurn => b"past turn\n",
            Self::Rejected => b"rejected\n",
            Self::Proposal => b"proposal\n",
            Self::BlockVersion => b"block version\n",
            Self::LearnedPlace => b"learned place\n",
            Self::LearnedFile => b"learned file\n",
            Self::Passage => b"passage\n",
        }
    }
}

impl Key {
    pub fn new(bytes: &[u8; KEY_BYTES]) -> Self {
        Self(hmac::Key::new(hmac::HMAC_SHA256, bytes))
    }

    /// The seal of these bytes.
    pub fn mac(&self, purpose: Purpose, body: &[u8]) -> Mac {
        let mut context = hmac::Context::with_key(&self.0);
        context.update(purpose.label());
        context.update(body);
        let mut mac = Mac::default();
        for (to, from) in mac.0.iter_mut().zip(context.sign().as_ref()) {
            *to = *from;
        }
        mac
    }

    /// `body`, a JSON object, as a line with its seal, and the seal.
    pub fn sealed(&self, purpose: Purpose, body: &str) -> (String, Mac) {
        let mac = self.mac(purpose, body.as_bytes());
        let open = body.strip_suffix('}').unwrap_or(body);
        (format!("{open}{BEFORE}{mac}{BEHIND}\n"), mac)
    }

    /// The body and the seal of a line without its end; `None` if any byte of it was changed.
    pub fn opened(&self, purpose: Purpose, line: &[u8]) -> Option<(String, Mac)> {
        let line = std::str::from_utf8(line).ok()?;
        let rest = line.strip_suffix(BEHIND)?;
        let (rest, digits) = rest.split_at_checked(rest.len().checked_sub(2 * MAC_BYTES)?)?;
        let body = format!("{}}}", rest.strip_suffix(BEFORE)?);
        let mac = self.mac(purpose, body.as_bytes());
        // Compared as written: digits of another case are another byte.
        (mac.to_string() == digits).then_some((body, mac))
    }
}

impl Mac {
    pub fn of_bytes(bytes: [u8; MAC_BYTES]) -> Self {
        Self(bytes)
    }

    pub fn bytes(self) -> [u8; MAC_BYTES] {
        self.0
    }
}

impl fmt::Display for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// The first line of a file, which must be whole.
pub(super) fn first_line(text: &[u8]) -> Option<&[u8]> {
    text.iter().position(|byte| *byte == b'\n').and_then(|end| text.get(..end))
}

/// Bytes written as pairs of lower-case hexadecimal digits; `None` for anything else.
pub(super) fn from_hex<const N: usize>(digits: &str) -> Option<[u8; N]> {
    let is_hex = digits.len() == 2 * N && digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let mut bytes = [0; N];
    for (index, byte) in bytes.iter_mut().enumerate().filter(|_| is_hex) {
        *byte = u8::from_str_radix(digits.get(2 * index..2 * index + 2)?, 16).ok()?;
    }
    is_hex.then_some(bytes)
}

impl Serialize for Mac {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Mac {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let digits = String::deserialize(deserializer)?;
        from_hex(&digits).map(Self).ok_or_else(|| D::Error::custom("no seal"))
    }
}
