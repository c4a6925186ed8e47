//! Splits network bytes into the payloads of server-sent events, or of JSON values one a line. All sizes are bounded.
//!
//! `eventsource-stream` panics on a byte order mark, stops for good at an invalid byte, holds back lines that end with CR and rescans its
//! buffer with every chunk. So it never gets network bytes: `WholeEvents` gives it the lines of one whole, valid event per item, and for
//! such input it is correct and fast.

use std::{
    collections::VecDeque,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
};

use bytes::Bytes;
use eventsource_stream::{EventStreamError, Eventsource as _};
use futures::{Stream, StreamExt as _, TryStreamExt as _, future};
use memchr::memchr2;

use super::{surrogates::Surrogates, wire::Framing};

/// Longest line.
pub const MAX_LINE_BYTES: usize = 8 * 1024 * 1024;
/// Longest event: all bytes between two blank lines.
pub const MAX_EVENT_BYTES: usize = 16 * 1024 * 1024;
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// The reason for the end of the events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SseError<E> {
    /// The byte stream failed; the unfinished line is dropped.
    #[error("{0}")]
    Transport(E),
    /// Longer than [`MAX_LINE_BYTES`].
    #[error("a line of the answer is longer than {} MiB", MAX_LINE_BYTES >> 20)]
    LineTooLong,
    /// Longer than [`MAX_EVENT_BYTES`].
    #[error("an event of the answer is longer than {} MiB", MAX_EVENT_BYTES >> 20)]
    EventTooLong,
    /// Refused by the parser behind the adaptor; whole valid lines should never be refused.
    #[error("the answer is no stream of events")]
    Malformed,
}

/// Splits bytes into lines by the WHATWG rules: LF, CR or CRLF, one byte order mark at the very start dropped, invalid UTF-8 replaced.
/// Line ends are ASCII, so an invalid sequence never reaches beyond them and each line decodes separately.
#[derive(Debug)]
pub struct LineSplitter {
    framing: Framing,
    /// The start of a line without its end.
    line: Vec<u8>,
    event_bytes: usize,
    is_at_start: bool,
    after_cr: bool,
    max_line_bytes: usize,
    max_event_bytes: usize,
}

/// The limit that [`LineSplitter`] found exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TooLong {
    /// A line.
    Line,
    /// An event.
    Event,
}

impl LineSplitter {
    /// A splitter for streams of this form.
    pub fn new(framing: Framing) -> Self {
        Self {
            framing,
            line: Vec::new(),
            event_bytes: 0,
            is_at_start: true,
            after_cr: false,
            max_line_bytes: MAX_LINE_BYTES,
            // Lines have no blank lines between them that would end an event.
            max_event_bytes: if framing == Framing::Lines { usize::MAX } else { MAX_EVENT_BYTES },
        }
    }

    /// Takes a chunk and appends every finished line that can have a meaning, each with one LF, to `lines`.
    pub fn push(&mut self, chunk: &[u8], lines: &mut VecDeque<String>) -> Result<(), TooLong> {
        let mut rest = chunk;
        while let Some(&first) = rest.first() {
            if std::mem::take(&mut self.after_cr) && first == b'\n' {
                rest = &rest[1..];
                continue;
            }
            let end = memchr2(b'\n', b'\r', rest);
            let (piece, tail) = rest.split_at(end.unwrap_or(rest.len()));
            self.count(piece.len())?;
            let Some((end, tail)) = tail.split_first() else {
                self.line.extend_from_slice(piece);
                break;
            };
            self.after_cr = *end == b'\r';
            lines.extend(self.take_line(piece));
            rest = tail;
        }
        Ok(())
    }

    /// The unfinished last line, and whether an event lacks its blank line.
    pub fn finish(&mut self) -> (Option<String>, bool) {
        let is_unclosed = self.event_bytes > 0;
        let line = if self.line.is_empty() { None } else { self.take_line(b"") };
        (line, is_unclosed)
    }

    fn count(&mut self, more_bytes: usize) -> Result<(), TooLong> {
        if self.line.len() + more_bytes > self.max_line_bytes {
            return Err(TooLong::Line);
        }
        self.event_bytes += more_bytes;
        if self.event_bytes > self.max_event_bytes {
            return Err(TooLong::Event);
        }
        Ok(())
    }

    /// The finished line with `end` appended; `None` if the line is not needed.
    fn take_line(&mut self, end: &[u8]) -> Option<String> {
        let mut line = std::mem::take(&mut self.line);
        // Room for both line ends of an event of one line.
        line.reserve_exact(end.len() + 2);
        line.extend_from_slice(end);
        if line.is_empty() {
            self.event_bytes = 0;
        }
        if std::mem::take(&mut self.is_at_start) && line.starts_with(BYTE_ORDER_MARK) {
            line.drain(..BYTE_ORDER_MARK.len());
        }
        // The payload is in `data` alone: comments, names, ids and all other fields need not be parsed.
        if self.framing == Framing::Events && !line.is_empty() && !line.starts_with(b"data") {
            return None;
        }
        line.push(b'\n');
        Some(String::from_utf8(line).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
    }
}

/// A stream of whole events, or lines, made from a byte stream for `eventsource-stream`.
struct WholeEvents<S, E> {
    bytes: S,
    splitter: LineSplitter,
    lines: VecDeque<String>,
    /// The lines of an event without its blank line.
    event: String,
    is_done: bool,
    failure: Option<SseError<E>>,
    ended_inside_event: Arc<AtomicBool>,
}

impl<S, E> WholeEvents<S, E> {
    /// Returns the whole event or line that the lines so far make.
    fn ready(&mut self) -> Option<String> {
        while let Some(line) = self.lines.pop_front() {
            if self.splitter.framing == Framing::Lines {
                return Some(line);
            }
            let is_end = line == "\n";
            if self.event.is_empty() {
                self.event = line;
            } else {
                self.event.push_str(&line);
            }
            if is_end {
                return Some(std::mem::take(&mut self.event));
            }
        }
        None
    }

    fn end(&mut self) {
        self.is_done = true;
        let (rest, is_unclosed) = self.splitter.finish();
        self.ended_inside_event.store(is_unclosed, Ordering::Relaxed);
        self.lines.extend(rest);
        self.lines.push_back("\n".to_owned());
    }
}

impl<S, E> Stream for WholeEvents<S, E>
where
    S: Stream<Item = Result<Bytes, E>> + Unpin,
    E: Unpin,
{
    type Item = Result<String, SseError<E>>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        loop {
            if let Some(ready) = this.ready() {
                return Poll::Ready(Some(Ok(ready)));
            }
            if this.is_done {
                return Poll::Ready(this.failure.take().map(Err));
            }
            match std::task::ready!(this.bytes.poll_next_unpin(context)) {
                Some(Ok(chunk)) => {
                    if let Err(too_long) = this.splitter.push(&chunk, &mut this.lines) {
                        this.is_done = true;
                        this.failure = Some(match too_long {
                            TooLong::Line => SseError::LineTooLong,
                            TooLong::Event => SseError::EventTooLong,
                        });
                    }
                }
                Some(Err(error)) => {
                    this.is_done = true;
                    this.failure = Some(SseError::Transport(error));
                }
                None => this.end(),
            }
        }
    }
}

/// The payloads of a byte stream: the `data` of its events, without comments, names, ids and unknown fields; or its nonblank lines.
/// Characters cut in two are joined.
pub struct Payloads<E> {
    events: futures::stream::BoxStream<'static, Result<String, SseError<E>>>,
    surrogates: Surrogates,
    ended_inside_event: Arc<AtomicBool>,
}

impl<E: Send + Unpin + 'static> Payloads<E> {
    /// Reads `bytes`.
    pub fn new(bytes: impl Stream<Item = Result<Bytes, E>> + Send + Unpin + 'static, framing: Framing) -> Self {
        let ended_inside_event = Arc::new(AtomicBool::new(false));
        let events = WholeEvents {
            bytes,
            splitter: LineSplitter::new(framing),
            // A first line of our own stops the crate from searching for a byte order mark.
            lines: VecDeque::from(["\n".to_owned()]),
            event: String::new(),
            is_done: false,
            failure: None,
            ended_inside_event: Arc::clone(&ended_inside_event),
        };
        if framing == Framing::Lines {
            let lines = events.try_filter(|line| future::ready(!line.trim().is_empty()));
            return Self { events: lines.boxed(), surrogates: Surrogates::default(), ended_inside_event };
        }
        let events = events.eventsource().map(|event| match event {
            Ok(event) => Ok(event.data),
            Err(EventStreamError::Transport(error)) => Err(error),
            Err(EventStreamError::Utf8(_) | EventStreamError::Parser(_)) => Err(SseError::Malformed),
        });
        Self { events: events.boxed(), surrogates: Surrogates::default(), ended_inside_event }
    }

    /// The next payload; `None` at a clean end.
    pub async fn next(&mut self) -> Option<Result<String, SseError<E>>> {
        let payload = self.events.next().await?;
        Some(payload.map(|payload| self.surrogates.mend(payload)))
    }

    /// Whether the stream ended cleanly, but in the middle of an event. The event was still delivered.
    pub fn ended_inside_event(&self) -> bool {
        self.ended_inside_event.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
#[path = "sse_tests.rs"]
mod tests;
