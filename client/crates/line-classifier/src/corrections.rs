//! The user's corrections: the decision, shell or assistant, for a line from now on. Only a hash of each line is kept, never the line.

use std::{collections::BTreeMap, fmt::Write as _};

use super::{Decision, weights::hash};

/// Most corrections that are remembered; the oldest is dropped first.
pub const MAX_CORRECTIONS: usize = 1_000;
/// The first line of the text; any other line means another version.
const HEADER: &str = "cohab gate corrections 1";
/// Seed for the hash of a line.
const SEED: u64 = 0x6c69_6e65;

/// The user's decisions about lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Corrections {
    /// The hash of a line, with the order of learning and the decision.
    decisions: BTreeMap<u64, (u64, Decision)>,
    next: u64,
}

impl Corrections {
    /// The user's decision about this line; whitespace does not matter.
    #[must_use]
    pub fn lookup(&self, line: &str) -> Option<Decision> {
        self.decisions.get(&key(line)).map(|(_, decision)| *decision)
    }

    /// Remembers a decision as the newest.
    pub fn learn(&mut self, line: &str, decision: Decision) {
        self.insert(key(line), decision);
    }

    /// The number of corrections.
    #[must_use]
    pub fn len(&self) -> usize {
        self.decisions.len()
    }

    /// Whether no correction is remembered.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.decisions.is_empty()
    }

    /// Reads the text of [`Corrections::to_text`]. Unreadable rows are left out, and all rows if the header is a different one.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let mut corrections = Self::default();
        let mut rows = text.lines();
        if rows.next().map(str::trim) != Some(HEADER) {
            return corrections;
        }
        for (key, decision) in rows.filter_map(row) {
            corrections.insert(key, decision);
        }
        corrections
    }

    /// A header and one row for each correction, the newest last.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut rows: Vec<_> = self.decisions.iter().map(|(key, (age, decision))| (age, key, decision)).collect();
        rows.sort_unstable_by_key(|(age, ..)| **age);
        let mut text = format!("{HEADER}\n");
        for (_, key, decision) in rows {
            let _ = writeln!(text, "{key:016x} {}", decision.word());
        }
        text
    }

    fn insert(&mut self, key: u64, decision: Decision) {
        self.decisions.insert(key, (self.next, decision));
        self.next += 1;
        if self.decisions.len() > MAX_CORRECTIONS {
            let oldest = self.decisions.iter().min_by_key(|(_, (age, _))| *age).map(|(key, _)| *key);
            oldest.and_then(|key| self.decisions.remove(&key));
        }
    }
}

fn row(row: &str) -> Option<(u64, Decision)> {
    let (key, decision) = row.trim().split_once(' ')?;
    let decision = [Decision::Shell, Decision::Assistant].into_iter().find(|known| known.word() == decision.trim())?;
    Some((u64::from_str_radix(key, 16).ok().filter(|_| key.len() == 16)?, decision))
}

/// The hash of a line without surrounding whitespace, and with runs of whitespace as one space.
fn key(line: &str) -> u64 {
    let mut normalised = String::with_capacity(line.len());
    for word in line.split_whitespace() {
        if !normalised.is_empty() {
            normalised.push(' ');
        }
        normalised.push_str(word);
    }
    hash(normalised.as_bytes(), SEED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_correction_is_found_again_whatever_its_blanks() {
        let mut corrections = Corrections::default();
        corrections.learn("make  it so ", Decision::Assistant);
        assert_eq!(corrections.lookup(" make it\tso"), Some(Decision::Assistant));
        assert_eq!(corrections.lookup("make it"), None);
        corrections.learn("make it so", Decision::Shell);
        assert_eq!((corrections.lookup("make it so"), corrections.len()), (Some(Decision::Shell), 1));
    }

    #[test]
    fn the_text_holds_no_line_and_is_read_back_as_it_was() {
        let mut corrections = Corrections::default();
        corrections.learn("secret plans", Decision::Assistant);
        corrections.learn("ls", Decision::Shell);
        corrections.learn("secret plans", Decision::Shell);
        let text = corrections.to_text();
        assert!(!text.contains("secret"), "{text}");
        assert_eq!(Corrections::parse(&text).to_text(), text);
        assert_eq!(Corrections::parse(&text).lookup("secret plans"), Some(Decision::Shell));
    }

    #[test]
    fn the_oldest_goes_first() {
        let mut corrections = Corrections::default();
        for number in 0..=MAX_CORRECTIONS {
            corrections.learn(&format!("line {number}"), Decision::Assistant);
        }
        assert_eq!(corrections.len(), MAX_CORRECTIONS);
        assert_eq!(corrections.lookup("line 0"), None);
        assert_eq!(corrections.lookup("line 1"), Some(Decision::Assistant));
        assert_eq!(Corrections::parse(&corrections.to_text()).len(), MAX_CORRECTIONS);
    }

    #[test]
    fn what_cannot_be_read_is_left_out() {
        let mut corrections = Corrections::default();
        corrections.learn("ls", Decision::Assistant);
        let good = corrections.to_text();
        let noisy = format!("{good}\nnonsense\n12 shell\nzzzzzzzzzzzzzzzz ai\n0123456789abcdef perhaps\n\u{0}\n");
        assert_eq!(Corrections::parse(&noisy).lookup("ls"), Some(Decision::Assistant));
        assert_eq!(Corrections::parse(&noisy).len(), 1);
        for text in ["", "other\n0123456789abcdef ai\n", "\u{feff}"] {
            assert!(Corrections::parse(text).is_empty(), "{text:?}");
        }
    }
}
