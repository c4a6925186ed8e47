//! Keeps the values of a scrubber's placeholders, in memory only, and wipes them when it is dropped. Pure.

use std::{
    collections::{HashMap, VecDeque},
    fmt,
};

use zeroize::Zeroizing;

/// Largest number of kept values; beyond it the oldest is dropped, and its placeholder cannot be filled in any more.
const MOST_KEPT: usize = 1024;
/// Largest size of all of them together, in bytes.
const MOST_KEPT_BYTES: usize = 512 * 1024;
/// Longer values are not kept: no user types them.
const MOST_VALUE_BYTES: usize = 8 * 1024;

#[derive(Default)]
pub(super) struct Values {
    kept: HashMap<usize, Kept>,
    /// Numbers, oldest first.
    order: VecDeque<usize>,
    bytes: usize,
}

struct Kept {
    kind: &'static str,
    value: Zeroizing<Vec<u8>>,
}

impl Values {
    /// Keeps the value of a placeholder.
    pub(super) fn keep(&mut self, kind: &'static str, number: usize, value: &[u8]) {
        if value.len() > MOST_VALUE_BYTES || self.kept.contains_key(&number) {
            return;
        }
        while self.kept.len() >= MOST_KEPT || self.bytes + value.len() > MOST_KEPT_BYTES {
            let Some(gone) = self.order.pop_front().and_then(|oldest| self.kept.remove(&oldest)) else { break };
            self.bytes -= gone.value.len();
        }
        self.bytes += value.len();
        self.order.push_back(number);
        self.kept.insert(number, Kept { kind, value: Zeroizing::new(value.to_vec()) });
    }

    /// The value of the placeholder of that kind and number.
    pub(super) fn get(&self, kind: &str, number: &str) -> Option<&[u8]> {
        // The number must be written in its only form, so that no two placeholders are the same one.
        let kept = number.parse().ok().filter(|parsed: &usize| parsed.to_string() == number)?;
        let kept = self.kept.get(&kept).filter(|kept| kept.kind == kind)?;
        Some(&kept.value)
    }
}

impl fmt::Debug for Values {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Values({})", self.kept.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_found_by_kind_and_number_as_they_were_written() {
        let mut values = Values::default();
        values.keep("jwt", 1, b"a value");
        assert_eq!(values.get("jwt", "1"), Some(b"a value".as_slice()));
        for (kind, number) in [("github-token", "1"), ("jwt", "2"), ("jwt", "01"), ("jwt", "")] {
            assert_eq!(values.get(kind, number), None, "{kind}#{number}");
        }
        assert_eq!(format!("{values:?}"), "Values(1)");
    }

    #[test]
    fn old_and_long_values_are_not_kept() {
        let mut values = Values::default();
        for number in 1..=MOST_KEPT + 1 {
            values.keep("jwt", number, &[b'a'; MOST_KEPT_BYTES / MOST_KEPT]);
        }
        assert_eq!((values.kept.len(), values.order.len(), values.bytes), (MOST_KEPT, MOST_KEPT, MOST_KEPT_BYTES));
        assert!(values.get("jwt", "1").is_none() && values.get("jwt", "2").is_some());
        values.keep("jwt", 5_000, &[b'a'; MOST_VALUE_BYTES]);
        assert!(values.bytes <= MOST_KEPT_BYTES && values.get("jwt", "5000").is_some());
        values.keep("jwt", 5_001, &[b'a'; MOST_VALUE_BYTES + 1]);
        assert!(values.get("jwt", "5001").is_none());
    }
}
