//! Collects the findings about a line.

use cohab_text::cut::head;

use super::verdict::{Level, Objection, Verdict};

/// Largest number of reasons that are worth reading.
pub(super) const MAX_REASONS: usize = 12;

/// Longest reason, in bytes: a reason may hold a word of the line, which may be of any length.
const MAX_REASON_BYTES: usize = 400;

/// The reason, cut if it is too long to be read.
pub(super) fn shortened(mut reason: String) -> String {
    if reason.len() > MAX_REASON_BYTES {
        reason.truncate(head(&reason, MAX_REASON_BYTES).len());
        reason.push_str(" ...");
    }
    reason
}

/// The findings so far. Without findings the level is `Allow`.
#[derive(Debug, Default)]
pub(super) struct Findings {
    found: Vec<(Level, String)>,
    has_firm_reason: bool,
}

impl Findings {
    pub(super) fn ask(&mut self, reason: impl Into<String>) {
        self.add(Objection::ask(reason));
    }

    pub(super) fn danger(&mut self, reason: impl Into<String>) {
        self.add(Objection::danger(reason));
    }

    pub(super) fn add(&mut self, objection: Objection) {
        self.has_firm_reason |= objection.is_firm;
        self.add_reason(objection.level, objection.reason);
    }

    fn add_reason(&mut self, level: Level, reason: String) {
        let reason = shortened(reason);
        if let Some(known) = self.found.iter_mut().find(|(_, known)| *known == reason) {
            known.0 = known.0.max(level);
            return;
        }
        if self.found.len() < MAX_REASONS {
            self.found.push((level, reason));
        } else if level > self.level() {
            // The worst reason must not be lost to a crowd of lesser ones.
            self.found[MAX_REASONS - 1] = (level, reason);
        }
    }

    /// Puts the findings of `others` first.
    pub(super) fn put_in_front(&mut self, others: Self) {
        self.has_firm_reason |= others.has_firm_reason;
        let later = std::mem::replace(&mut self.found, others.found);
        later.into_iter().for_each(|(level, reason)| self.add_reason(level, reason));
    }

    /// Adds the findings of `others` that are more than a question.
    pub(super) fn add_dangers(&mut self, others: Self) {
        let dangers = others.found.into_iter().filter(|(level, _)| *level > Level::Ask);
        dangers.for_each(|(level, reason)| self.add_reason(level, reason));
    }

    pub(super) fn level(&self) -> Level {
        self.found.iter().map(|(level, _)| *level).max().unwrap_or(Level::Allow)
    }

    pub(super) fn into_verdict(mut self) -> Verdict {
        let level = self.level();
        self.found.sort_by_key(|(level, _)| std::cmp::Reverse(*level));
        let reasons = self.found.into_iter().map(|(_, reason)| reason).collect();
        Verdict { level, reasons, has_firm_reason: self.has_firm_reason }
    }
}
