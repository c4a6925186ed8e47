//! An entry of a history, and the rules by which it becomes a run. Pure.

use std::time::Duration;

use jiff::Timestamp;

use crate::past::record::MAX_LINE_BYTES;

/// The first second of 1990 in UTC. No shell wrote times before, and a smaller number is no time.
pub(super) const EARLIEST_SECOND: i64 = 631_152_000;
/// A clock may be ahead by a time zone.
const CLOCK_LEAD: Duration = Duration::from_secs(24 * 3_600);
/// Longest duration of a command: ten years.
const LONGEST: Duration = Duration::from_secs(10 * 366 * 24 * 3_600);

/// The reason for which an entry is not imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkipReason {
    /// The line is longer than [`MAX_LINE_BYTES`].
    TooLong,
    /// The line is not valid UTF-8.
    NotText,
    /// The line has a control character other than newline and tab.
    Control,
    /// The line has no characters other than white space.
    Empty,
    /// The line begins with a blank: by convention, the user did not want it kept.
    Hidden,
    /// The file ends within the entry.
    Cut,
    /// It is no entry of this format.
    Malformed,
    /// An assistant ran the command, not the user.
    ByAgent,
}

impl SkipReason {
    /// All of them, with a phrase for the user.
    pub const PHRASES: [(Self, &'static str); 8] = [
        (Self::TooLong, "too long"),
        (Self::NotText, "not UTF-8"),
        (Self::Control, "with control characters"),
        (Self::Empty, "empty"),
        (Self::Hidden, "beginning with a blank"),
        (Self::Cut, "incomplete"),
        (Self::Malformed, "not in the format of this history"),
        (Self::ByAgent, "run by an assistant"),
    ];
}

/// The number of entries that were imported, and of those that were not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ImportCounts {
    /// Entries that were returned.
    pub read: u64,
    /// Entries that were not, in the order of [`SkipReason::PHRASES`].
    skipped: [u64; SkipReason::PHRASES.len()],
}

impl ImportCounts {
    /// Counts an entry that is not imported.
    pub fn skip(&mut self, reason: SkipReason) {
        let index = SkipReason::PHRASES.iter().position(|(known, _)| *known == reason);
        if let Some(count) = index.and_then(|index| self.skipped.get_mut(index)) {
            *count += 1;
        }
    }

    /// The number of entries that were not imported for this reason.
    #[must_use]
    pub fn skipped(&self, reason: SkipReason) -> u64 {
        self.skips().find(|(known, ..)| *known == reason).map_or(0, |(.., count)| count)
    }

    /// The number of entries that were not imported.
    #[must_use]
    pub fn all_skipped(&self) -> u64 {
        self.skipped.iter().sum()
    }

    /// The reasons that occurred, each with its phrase and number.
    pub fn skips(&self) -> impl Iterator<Item = (SkipReason, &'static str, u64)> {
        let counted = SkipReason::PHRASES.into_iter().zip(self.skipped);
        counted.filter(|(_, count)| *count > 0).map(|((reason, phrase), count)| (reason, phrase, count))
    }
}

/// An entry as its file has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RawRun {
    pub line: Vec<u8>,
    /// Its time, in seconds since 1970.
    pub seconds: Option<i64>,
    pub duration: Option<Duration>,
}

/// The text of a command, without newlines at its end.
///
/// # Errors
/// It is not to be imported: half a command, or an altered one, is another command.
///
/// ```
/// use cohab_memory::past::import::{SkipReason, clean_line};
///
/// assert_eq!(clean_line(b"ls\n"), Ok("ls".to_owned()));
/// assert_eq!(clean_line(b" ls"), Err(SkipReason::Hidden));
/// assert_eq!(clean_line(b"echo \x1b[2J"), Err(SkipReason::Control));
/// ```
pub fn clean_line(bytes: &[u8]) -> Result<String, SkipReason> {
    let end = bytes.iter().rposition(|byte| *byte != b'\n').map_or(0, |last| last + 1);
    if end > MAX_LINE_BYTES {
        return Err(SkipReason::TooLong);
    }
    let line = str::from_utf8(&bytes[..end]).map_err(|_| SkipReason::NotText)?;
    if line.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t')) {
        Err(SkipReason::Control)
    } else if line.trim().is_empty() {
        Err(SkipReason::Empty)
    } else if line.starts_with([' ', '\t']) {
        Err(SkipReason::Hidden)
    } else {
        Ok(line.to_owned())
    }
}

/// The time, if a shell can have written it: from 1990 to a day after `now`.
#[must_use]
pub fn plausible_time(at: Timestamp, now: Timestamp) -> Option<Timestamp> {
    let latest = now.checked_add(CLOCK_LEAD).unwrap_or(Timestamp::MAX);
    (at.as_second() >= EARLIEST_SECOND && at <= latest).then_some(at)
}

/// The duration, if it is at most ten years.
#[must_use]
pub fn plausible_duration(duration: Duration) -> Option<Duration> {
    (duration <= LONGEST).then_some(duration)
}
