//! Reads the history files of shells. Opens no file: the caller passes the bytes.
//!
//! - [`HistoryReader`] reads a file of bash, zsh or fish, one [`NewRun`] after another in bounded memory. Files may be large,
//!   broken or hostile.
//! - [`HistoryEnvironment`] names the paths of the files.
//! - [`clean_line`], [`plausible_time`] and [`plausible_duration`] are the rules for every source; the reader of atuin's database is in
//!   `cohab_store`, and uses them, too.
//!
//! Invariants: a command is imported as it was typed or not at all, and what is not imported is counted with its [`SkipReason`]; a line
//! that begins with a blank is not imported; a file whose last line has no newline is being written or was cut, and its last entry is not
//! imported.

mod bash;
mod fish;
mod lines;
mod location;
mod zsh;

use std::{
    io::{self, BufRead},
    time::Duration,
};

use jiff::Timestamp;

pub use self::location::HistoryEnvironment;
use self::{bash::BashFormat, fish::FishFormat, lines::LineReader};
use super::record::{MAX_LINE_BYTES, NewRun, RunSource};

/// The first second of 1990 in UTC. No shell wrote times before, and a smaller number is no time.
const EARLIEST_SECOND: i64 = 631_152_000;
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
struct RawRun {
    line: Vec<u8>,
    /// Its time, in seconds since 1970.
    seconds: Option<i64>,
    duration: Option<Duration>,
}

/// The format of a file, with the state of its reader.
enum FormatState {
    Bash(BashFormat),
    Zsh,
    Fish(FishFormat),
}

/// Reads the history file of a shell. Returns the runs in the order of the file; after an error of the file it returns no more.
///
/// ```
/// use cohab_memory::past::import::HistoryReader;
///
/// let mut reader = HistoryReader::zsh(&b": 1700000000:2;make test\n: 1700000005:0; secret\n"[..], jiff::Timestamp::now());
/// let lines: Vec<_> = reader.by_ref().map(|run| run.map(|run| run.line)).collect::<Result<_, _>>()?;
/// assert_eq!(lines, ["make test"]);
/// assert_eq!((reader.counts().read, reader.counts().all_skipped()), (1, 1));
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct HistoryReader<R> {
    lines: LineReader<R>,
    format: FormatState,
    source: RunSource,
    now: Timestamp,
    counts: ImportCounts,
    is_over: bool,
}

impl<R: BufRead> HistoryReader<R> {
    /// Reads a file of bash.
    pub fn bash(input: R, now: Timestamp) -> Self {
        Self::new(FormatState::Bash(BashFormat::default()), RunSource::Bash, input, now)
    }

    /// Reads a file of zsh.
    pub fn zsh(input: R, now: Timestamp) -> Self {
        Self::new(FormatState::Zsh, RunSource::Zsh, input, now)
    }

    /// Reads a file of fish.
    pub fn fish(input: R, now: Timestamp) -> Self {
        Self::new(FormatState::Fish(FishFormat::default()), RunSource::Fish, input, now)
    }

    /// Reads a file of this source. `None` if it has no history file of its own, or a database.
    pub fn of_source(source: RunSource, input: R, now: Timestamp) -> Option<Self> {
        match source {
            RunSource::Bash => Some(Self::bash(input, now)),
            RunSource::Zsh => Some(Self::zsh(input, now)),
            RunSource::Fish => Some(Self::fish(input, now)),
            RunSource::Shell | RunSource::Atuin => None,
        }
    }

    fn new(format: FormatState, source: RunSource, input: R, now: Timestamp) -> Self {
        let lines = LineReader::new(input);
        Self { lines, format, source, now, counts: ImportCounts::default(), is_over: false }
    }

    /// The counts up to here.
    #[must_use]
    pub fn counts(&self) -> ImportCounts {
        self.counts
    }

    fn next_raw(&mut self) -> io::Result<Option<Result<RawRun, SkipReason>>> {
        match &mut self.format {
            FormatState::Bash(format) => format.next_run(&mut self.lines),
            FormatState::Zsh => zsh::next_run(&mut self.lines),
            FormatState::Fish(format) => format.next_run(&mut self.lines),
        }
    }

    fn run_of(&self, raw: &RawRun) -> Result<NewRun, SkipReason> {
        let at = raw.seconds.and_then(|seconds| Timestamp::from_second(seconds).ok());
        Ok(NewRun {
            line: clean_line(&raw.line)?,
            at: at.and_then(|at| plausible_time(at, self.now)),
            folder: None,
            exit_code: None,
            duration: raw.duration,
            output_tail: String::new(),
            source: self.source,
        })
    }
}

impl<R: BufRead> Iterator for HistoryReader<R> {
    type Item = io::Result<NewRun>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.is_over {
            match self.next_raw() {
                Err(error) => {
                    self.is_over = true;
                    return Some(Err(error));
                }
                Ok(None) => self.is_over = true,
                Ok(Some(raw)) => match raw.and_then(|raw| self.run_of(&raw)) {
                    Ok(run) => {
                        self.counts.read += 1;
                        return Some(Ok(run));
                    }
                    Err(reason) => self.counts.skip(reason),
                },
            }
        }
        None
    }
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

#[cfg(test)]
mod tests;
