//! Server-sent events, and JSON values one a line: network bytes in, payloads out, bounded.
//!
//! `eventsource-stream` panics on a byte order mark, stops for good at an invalid byte, holds back lines that end with CR and
//! rescans its buffer with every chunk. So it never sees network bytes: [`EventLines`] gives it one whole, valid line per
//! item, and for that input it is right and fast.

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

use super::{surrogates::Surrogates, wire::Framing};

/// Longest line.
pub(crate) const MAX_LINE_BYTES: usize = 8 * 1024 * 1024;
/// Longest event: all bytes between two blank lines.
pub(crate) const MAX_EVENT_BYTES: usize = 16 * 1024 * 1024;

/// Why no more events come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SseError<E> {
    /// The byte stream failed; the unfinished line is dropped.
    #[error("{0}")]
    Transport(E),
    /// Longer than [`MAX_LINE_BYTES`].
    #[error("a line of the answer is longer than {} MiB", MAX_LINE_BYTES >> 20)]
    LineTooLong,
    /// Longer than [`MAX_EVENT_BYTES`].
    #[error("an event of the answer is longer than {} MiB", MAX_EVENT_BYTES >> 20)]
    EventTooLong,
    /// Refused by the parser behind the adaptor; whole valid lines give it no reason to.
    #[error("the answer is no stream of events")]
    Malformed,
}

/// Splits bytes into lines as the WHATWG rules say: LF, CR or CRLF, one byte order mark at the very start dropped, invalid
/// UTF-8 replaced. Line ends are ASCII, so an invalid sequence never reaches over them and each line decodes on its own.
#[derive(Debug)]
pub(crate) struct LineSplitter {
    line: Vec<u8>,
    event_bytes: usize,
    is_at_start: bool,
    after_cr: bool,
    max_line_bytes: usize,
    max_event_bytes: usize,
}

/// What [`LineSplitter`] refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TooLong {
    /// A line.
    Line,
    /// An event.
    Event,
}

impl Default for LineSplitter {
    fn default() -> Self {
        Self {
            line: Vec::new(),
            event_bytes: 0,
            is_at_start: true,
            after_cr: false,
            max_line_bytes: MAX_LINE_BYTES,
            max_event_bytes: MAX_EVENT_BYTES,
        }
    }
}

impl LineSplitter {
    /// Takes a chunk and appends every line that it ends, each with one LF, to `lines`.
    pub(crate) fn push(&mut self, chunk: &[u8], lines: &mut VecDeque<String>) -> Result<(), TooLong> {
        let mut rest = chunk;
        while let Some(&first) = rest.first() {
            if std::mem::take(&mut self.after_cr) && first == b'\n' {
                rest = &rest[1..];
                continue;
            }
            let end = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            self.extend(&rest[..end.unwrap_or(rest.len())])?;
            let Some(end) = end else { break };
            self.after_cr = rest[end] == b'\r';
            lines.push_back(self.take_line());
            rest = &rest[end + 1..];
        }
        Ok(())
    }

    /// The unfinished last line, and whether an event was left without its blank line.
    pub(crate) fn finish(&mut self) -> (Option<String>, bool) {
        let is_unclosed = self.event_bytes > 0;
        let line = (!self.line.is_empty()).then(|| self.take_line());
        (line, is_unclosed)
    }

    fn extend(&mut self, bytes: &[u8]) -> Result<(), TooLong> {
        if self.line.len() + bytes.len() > self.max_line_bytes {
            return Err(TooLong::Line);
        }
        self.event_bytes += bytes.len();
        if self.event_bytes > self.max_event_bytes {
            return Err(TooLong::Event);
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn take_line(&mut self) -> String {
        if self.line.is_empty() {
            self.event_bytes = 0;
        }
        let mut bytes: &[u8] = &self.line;
        if std::mem::take(&mut self.is_at_start) {
            bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
        }
        let mut line = String::from_utf8_lossy(bytes).into_owned();
        line.push('\n');
        self.line.clear();
        line
    }
}

/// A byte stream as a stream of whole lines, made for `eventsource-stream`.
struct EventLines<S, E> {
    bytes: S,
    splitter: LineSplitter,
    ready: VecDeque<String>,
    is_done: bool,
    failure: Option<SseError<E>>,
    ended_inside_event: Arc<AtomicBool>,
}

impl<S, E> Stream for EventLines<S, E>
where
    S: Stream<Item = Result<Bytes, E>> + Unpin,
    E: Unpin,
{
    type Item = Result<String, SseError<E>>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        loop {
            if let Some(line) = this.ready.pop_front() {
                return Poll::Ready(Some(Ok(line)));
            }
            if this.is_done {
                return Poll::Ready(this.failure.take().map(Err));
            }
            match std::task::ready!(this.bytes.poll_next_unpin(context)) {
                Some(Ok(chunk)) => {
                    if let Err(too_long) = this.splitter.push(&chunk, &mut this.ready) {
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
                None => {
                    this.is_done = true;
                    let (rest, is_unclosed) = this.splitter.finish();
                    this.ended_inside_event.store(is_unclosed, Ordering::Relaxed);
                    this.ready.extend(rest);
                    this.ready.push_back("\n".to_owned());
                }
            }
        }
    }
}

/// The payloads of a byte stream: the `data` of its events, without comments, names, ids and unknown fields; or its lines that
/// are not blank. Characters cut in two are joined.
pub(crate) struct Payloads<E> {
    events: futures::stream::BoxStream<'static, Result<String, SseError<E>>>,
    surrogates: Surrogates,
    ended_inside_event: Arc<AtomicBool>,
}

impl<E: Send + Unpin + 'static> Payloads<E> {
    /// Reads `bytes`.
    pub(crate) fn new(bytes: impl Stream<Item = Result<Bytes, E>> + Send + Unpin + 'static, framing: Framing) -> Self {
        let ended_inside_event = Arc::new(AtomicBool::new(false));
        let lines = EventLines {
            bytes,
            splitter: LineSplitter::default(),
            // A first line of our own keeps the crate from ever looking for a byte order mark.
            ready: VecDeque::from(["\n".to_owned()]),
            is_done: false,
            failure: None,
            ended_inside_event: Arc::clone(&ended_inside_event),
        };
        if framing == Framing::Lines {
            let lines = lines.try_filter(|line| future::ready(!line.trim().is_empty()));
            return Self { events: lines.boxed(), surrogates: Surrogates::default(), ended_inside_event };
        }
        let events = lines.eventsource().map(|event| match event {
            Ok(event) => Ok(event.data),
            Err(EventStreamError::Transport(error)) => Err(error),
            Err(EventStreamError::Utf8(_) | EventStreamError::Parser(_)) => Err(SseError::Malformed),
        });
        Self { events: events.boxed(), surrogates: Surrogates::default(), ended_inside_event }
    }

    /// The next payload; `None` at a clean end.
    pub(crate) async fn next(&mut self) -> Option<Result<String, SseError<E>>> {
        let payload = self.events.next().await?;
        Some(payload.map(|payload| self.surrogates.mend(payload)))
    }

    /// Whether the stream ended cleanly, but in the middle of an event. That event was still delivered.
    pub(crate) fn ended_inside_event(&self) -> bool {
        self.ended_inside_event.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
#[path = "sse_tests.rs"]
mod tests;
