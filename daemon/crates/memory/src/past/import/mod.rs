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
mod entry;
mod fish;
mod lines;
mod location;
mod zsh;

use std::io::{self, BufRead};

use jiff::Timestamp;

use self::{bash::BashFormat, entry::RawRun, fish::FishFormat, lines::LineReader};
pub use self::{
    entry::{ImportCounts, SkipReason, clean_line, plausible_duration, plausible_time},
    location::HistoryEnvironment,
};
use super::record::{NewRun, RunSource};

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

#[cfg(test)]
mod tests;
