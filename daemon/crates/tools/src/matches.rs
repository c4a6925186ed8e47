//! Renders matching lines of many files as one bounded text.

use std::{fmt::Write as _, fs::File, io, ops::ControlFlow, path::Path};

use cohab_system::files::{self, FileError};
use grep_regex::RegexMatcher;
use grep_searcher::{
    BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkContextKind, SinkFinish, SinkMatch,
};
use tokio_util::sync::CancellationToken;

use super::render;

/// Longest line that is held while searching; a file with a longer one counts as unreadable from there on.
const HELD_MAX_BYTES: usize = 16 * 1024 * 1024;
/// Longest part of a line that is shown.
const LINE_MAX_BYTES: usize = 500;

/// Bounds of one result.
pub(super) struct Limits {
    /// Matching lines.
    pub(super) matches: usize,
    /// Lines before and after each.
    pub(super) context_lines: usize,
    /// Length of the text.
    pub(super) bytes: usize,
}

/// The searcher for one file after the other.
pub(super) fn searcher(limits: &Limits) -> Searcher {
    SearcherBuilder::new()
        .line_number(true)
        .before_context(limits.context_lines)
        .after_context(limits.context_lines)
        .heap_limit(Some(HELD_MAX_BYTES))
        .binary_detection(BinaryDetection::quit(0))
        .build()
}

/// The growing result.
pub(super) struct Matches<'a> {
    /// The lines so far.
    pub(super) text: String,
    /// Matching lines so far.
    pub(super) count: usize,
    /// Files with a match.
    pub(super) files: usize,
    /// Files that were skipped, or left, because of a NUL.
    pub(super) binary: usize,
    /// Files that could not be opened or read to their end.
    pub(super) unreadable: usize,
    /// Whether a limit was reached before the end.
    pub(super) is_full: bool,
    limits: &'a Limits,
    cancel: &'a CancellationToken,
}

impl<'a> Matches<'a> {
    pub(super) fn new(limits: &'a Limits, cancel: &'a CancellationToken) -> Self {
        let text = String::new();
        Self { text, count: 0, files: 0, binary: 0, unreadable: 0, is_full: false, limits, cancel }
    }

    /// Adds the matches of one file, shown under `name`. Breaks when the result is full or the call cancelled.
    pub(super) fn search(
        &mut self,
        searcher: &mut Searcher,
        matcher: &RegexMatcher,
        file: &Path,
        name: &str,
    ) -> ControlFlow<()> {
        match files::open_regular(file) {
            Ok((opened, _)) => {
                let reader = CancellableFile { file: opened, cancel: self.cancel };
                let before = self.count;
                let result = searcher.search_reader(matcher, reader, FileSink { matches: self, name, is_new: true });
                self.files += usize::from(self.count > before);
                self.unreadable += usize::from(result.is_err());
            }
            // The walk lists links and pipes; they have no text to search.
            Err(FileError::Special(_)) => {}
            Err(_) => self.unreadable += 1,
        }
        if self.is_full || self.cancel.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Adds a line, or marks the result as full.
    fn push(&mut self, name: &str, mark: char, number: Option<u64>, line: &[u8]) -> bool {
        // The rest of a very long line would be decoded only to be cut off.
        let bounded = &line[..line.len().min(4 * LINE_MAX_BYTES)];
        let text = String::from_utf8_lossy(bounded);
        let cut = render::cut_end(text.trim_end_matches(['\n', '\r']), LINE_MAX_BYTES);
        let note = if bounded.len() < line.len() { " …" } else { "" };
        let line = format!("{name}{mark}{}{mark}{cut}{note}", number.unwrap_or(0));
        if self.text.len() + line.len() >= self.limits.bytes {
            self.is_full = true;
            return false;
        }
        // Writing to a String cannot fail.
        let _ = writeln!(self.text, "{line}");
        true
    }
}

struct FileSink<'m, 'a> {
    matches: &'m mut Matches<'a>,
    name: &'m str,
    is_new: bool,
}

impl FileSink<'_, '_> {
    fn separate(&mut self) {
        if self.is_new && self.matches.limits.context_lines > 0 && !self.matches.text.is_empty() {
            self.matches.text.push_str("--\n");
        }
        self.is_new = false;
    }
}

impl Sink for FileSink<'_, '_> {
    type Error = io::Error;

    fn matched(&mut self, _searcher: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        if self.matches.count == self.matches.limits.matches {
            self.matches.is_full = true;
            return Ok(false);
        }
        self.separate();
        let is_room = self.matches.push(self.name, ':', found.line_number(), found.bytes());
        self.matches.count += usize::from(is_room);
        Ok(is_room)
    }

    fn context(&mut self, _searcher: &Searcher, context: &SinkContext<'_>) -> Result<bool, io::Error> {
        if *context.kind() == SinkContextKind::Before && self.matches.count == self.matches.limits.matches {
            self.matches.is_full = true;
            return Ok(false);
        }
        self.separate();
        Ok(self.matches.push(self.name, '-', context.line_number(), context.bytes()))
    }

    fn context_break(&mut self, _searcher: &Searcher) -> Result<bool, io::Error> {
        self.is_new = true;
        Ok(true)
    }

    fn finish(&mut self, _searcher: &Searcher, finish: &SinkFinish) -> Result<(), io::Error> {
        self.matches.binary += usize::from(finish.binary_byte_offset().is_some());
        Ok(())
    }
}

/// Ends a long read soon after a cancellation.
struct CancellableFile<'a> {
    file: File,
    cancel: &'a CancellationToken,
}

impl io::Read for CancellableFile<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.cancel.is_cancelled() {
            return Err(io::Error::other("cancelled"));
        }
        self.file.read(buffer)
    }
}
