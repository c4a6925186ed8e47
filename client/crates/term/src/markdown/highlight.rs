//! Colours code on a separate thread. The answer does not wait for it: a line that has no colours in time is shown plain.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
        mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender, TryRecvError},
    },
    thread,
    time::Duration,
};

use syntect::parsing::{ParseState, ScopeStack, SyntaxSet};
use tokio::sync::Notify;

use super::scopes::ScopeStyles;
use crate::wrap::{StyledRow, push_text};

/// Lines on their way to the thread; with more, the block continues plain.
const MAX_QUEUED_LINES: usize = 1024;
/// Longest line that is coloured; a longer one ends the colours of its block.
const MAX_LINE_BYTES: usize = 4 * 1024;
/// Blocks whose state the thread keeps; the oldest goes first.
const MAX_OPEN_FENCES: usize = 16;
/// After so long without code the thread ends and gives its memory back.
const IDLE_BEFORE_EXIT: Duration = Duration::from_secs(30);
/// Languages that the syntax set knows under another name, or a close relative.
const ALIASES: &[(&str, &str)] = &[
    ("console", "bash"),
    ("fish", "bash"),
    ("jsonc", "json"),
    ("jsx", "js"),
    ("shell", "bash"),
    ("shellsession", "bash"),
    ("ts", "js"),
    ("tsx", "js"),
    ("typescript", "js"),
    ("zsh", "bash"),
];

/// A handle to the colouring thread; clones share it. The thread and its tables exist from the first block of code on.
#[derive(Clone, Default)]
pub struct Highlighter {
    shared: Arc<SharedColours>,
}

#[derive(Default)]
struct SharedColours {
    worker: Mutex<Option<SyncSender<Request>>>,
    changed: Arc<Notify>,
    next_fence: AtomicU64,
}

impl fmt::Debug for Highlighter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Highlighter")
    }
}

enum Request {
    Open { fence: u64, language: String, results: Sender<StyledRow> },
    Line { fence: u64, text: String },
    Close { fence: u64 },
}

/// Sends the lines of one block.
#[derive(Debug)]
pub(super) struct FenceWriter {
    requests: SyncSender<Request>,
    fence: u64,
}

/// Gets them back in order.
#[derive(Debug)]
pub(super) struct FenceReader {
    results: Receiver<StyledRow>,
}

/// The next line of a block.
#[derive(Debug)]
pub(super) enum Coloured {
    Ready(StyledRow),
    Waiting,
    /// Neither this line nor a later one will come.
    Never,
}

impl Highlighter {
    /// A handle without a thread yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Waits until lines got their colours since the last wait. For one waiter at a time.
    pub async fn changed(&self) {
        self.shared.changed.notified().await;
    }

    /// Begins a block. `None` if it stays plain for sure.
    pub(super) fn open(&self, language: &str) -> Option<(FenceWriter, FenceReader)> {
        if language.is_empty() {
            return None;
        }
        let fence = self.shared.next_fence.fetch_add(1, Ordering::Relaxed);
        let (results, reader) = mpsc::channel();
        let request = Request::Open { fence, language: language.to_lowercase(), results };
        let requests = self.send_first(request)?;
        Some((FenceWriter { requests, fence }, FenceReader { results: reader }))
    }

    /// Sends to the thread, or to a new one if it is not running (any more).
    fn send_first(&self, request: Request) -> Option<SyncSender<Request>> {
        let mut worker = self.shared.worker.lock().unwrap_or_else(PoisonError::into_inner);
        let request = match worker.as_ref() {
            None => request,
            Some(requests) => match requests.try_send(request) {
                Ok(()) => return worker.clone(),
                Err(mpsc::TrySendError::Full(_)) => return None,
                Err(mpsc::TrySendError::Disconnected(request)) => request,
            },
        };
        let (requests, queue) = mpsc::sync_channel(MAX_QUEUED_LINES);
        let changed = Arc::clone(&self.shared.changed);
        let body = move || Worker::new().run(&queue, &changed);
        thread::Builder::new().name("cohab-colours".into()).spawn(body).ok()?;
        requests.try_send(request).ok()?;
        *worker = Some(requests);
        worker.clone()
    }
}

impl FenceWriter {
    /// Sends a line without its line feed. Never waits. `false` if the line and the rest of the block stay plain.
    pub(super) fn send(&self, line: &str) -> bool {
        line.len() <= MAX_LINE_BYTES
            && self.requests.try_send(Request::Line { fence: self.fence, text: format!("{line}\n") }).is_ok()
    }
}

impl Drop for FenceWriter {
    fn drop(&mut self) {
        // If the queue is full, the thread forgets the block when newer ones come.
        let _ = self.requests.try_send(Request::Close { fence: self.fence });
    }
}

impl FenceReader {
    /// The next line, if it is there.
    pub(super) fn next(&mut self) -> Coloured {
        match self.results.try_recv() {
            Ok(row) => Coloured::Ready(row),
            Err(TryRecvError::Empty) => Coloured::Waiting,
            Err(TryRecvError::Disconnected) => Coloured::Never,
        }
    }
}

/// A block on the thread.
struct Fence {
    state: ParseState,
    scopes: ScopeStack,
    results: Sender<StyledRow>,
}

struct Worker {
    syntaxes: SyntaxSet,
    styles: ScopeStyles,
    fences: BTreeMap<u64, Fence>,
}

impl Worker {
    fn new() -> Self {
        Self { syntaxes: SyntaxSet::load_defaults_newlines(), styles: ScopeStyles::new(), fences: BTreeMap::new() }
    }

    fn run(mut self, requests: &Receiver<Request>, changed: &Notify) {
        loop {
            match requests.recv_timeout(IDLE_BEFORE_EXIT) {
                Ok(request) => self.handle(request),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return,
            }
            changed.notify_one();
        }
    }

    fn handle(&mut self, request: Request) {
        match request {
            Request::Open { fence, language, results } => {
                let alias = ALIASES.iter().find(|(name, _)| *name == language);
                let token = alias.map_or(language.as_str(), |(_, token)| token);
                let Some(syntax) = self.syntaxes.find_syntax_by_token(token) else { return };
                self.fences.insert(fence, Fence { state: ParseState::new(syntax), scopes: ScopeStack::new(), results });
                if self.fences.len() > MAX_OPEN_FENCES {
                    self.fences.pop_first();
                }
            }
            Request::Line { fence, text } => {
                let Some(open) = self.fences.get_mut(&fence) else { return };
                let row = colour(open, &text, &self.syntaxes, &self.styles);
                if row.is_none_or(|row| open.results.send(row).is_err()) {
                    self.fences.remove(&fence);
                }
            }
            Request::Close { fence } => {
                self.fences.remove(&fence);
            }
        }
    }
}

/// The line with colours; `None` if the syntax tables fail on it.
fn colour(fence: &mut Fence, line: &str, syntaxes: &SyntaxSet, styles: &ScopeStyles) -> Option<StyledRow> {
    let changes = fence.state.parse_line(line, syntaxes).ok()?;
    let (mut row, mut from) = (StyledRow::new(), 0);
    for (at, change) in changes {
        push_text(&mut row, line.get(from..at)?.trim_end_matches('\n'), styles.of(&fence.scopes));
        fence.scopes.apply(&change).ok()?;
        from = at;
    }
    push_text(&mut row, line.get(from..)?.trim_end_matches('\n'), styles.of(&fence.scopes));
    Some(row)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theme;

    fn colours(language: &str, lines: &[&str]) -> Vec<Option<StyledRow>> {
        let mut worker = Worker::new();
        let (results, reader) = mpsc::channel();
        worker.handle(Request::Open { fence: 1, language: language.into(), results });
        for line in lines {
            worker.handle(Request::Line { fence: 1, text: format!("{line}\n") });
        }
        worker.handle(Request::Close { fence: 1 });
        lines.iter().map(|_| reader.try_recv().ok()).collect()
    }

    fn style_of(row: &StyledRow, word: &str) -> ratatui::style::Style {
        row.iter().find(|span| span.content.contains(word)).unwrap_or_else(|| panic!("{word} in {row:?}")).style
    }

    #[test]
    fn rust_gets_colours_and_keeps_its_text() {
        let rows = colours("rust", &["fn main() { let x = \"a\"; } // end"]);
        let row = rows[0].as_ref().expect("a line");
        let text: String = row.iter().map(|span| span.content.as_ref()).collect();
        assert_eq!(text, "fn main() { let x = \"a\"; } // end");
        assert_eq!(style_of(row, "fn"), theme::CODE_KEYWORD);
        assert_eq!(style_of(row, "main"), theme::CODE_FUNCTION);
        assert_eq!(style_of(row, "a\""), theme::CODE_STRING);
        assert_eq!(style_of(row, "end"), theme::CODE_COMMENT);
    }

    #[test]
    fn a_comment_goes_on_over_lines() {
        let rows = colours("c", &["/* one", "two */ int x;"]);
        assert_eq!(style_of(rows[1].as_ref().expect("a line"), "two"), theme::CODE_COMMENT);
    }

    #[test]
    fn an_unknown_language_never_gets_colours() {
        assert_eq!(colours("no-such-language", &["a"]), [None]);
    }

    #[test]
    fn a_close_relative_stands_in() {
        assert_eq!(
            style_of(colours("typescript", &["const a = 1"])[0].as_ref().expect("a line"), "1"),
            theme::CODE_CONSTANT
        );
    }
}
