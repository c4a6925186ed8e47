//! An answer is the server's reply to one request.

use std::{sync::Arc, time::Duration};

use serde_json::Value;

/// One answer of the model, or one failure of its service. Built up with the methods below.
#[derive(Clone)]
pub struct Answer {
    pub(super) head: Head,
    pub(super) text: TextDeltas,
    pub(super) calls: Vec<Call>,
    pub(super) input_tokens: u64,
    pub(super) output_tokens: u64,
    pub(super) pacing: Pacing,
    pub(super) fault: Option<Fault>,
    pub(super) argument_piece_chars: usize,
}

/// The beginning of the answer to the HTTP request.
#[derive(Clone)]
pub(super) enum Head {
    /// 200 and a stream of events.
    Stream,
    /// Another status, with headers and the whole body.
    Plain { status: u16, headers: Vec<(String, String)>, content_type: &'static str, body: String },
    /// The connection is closed before any byte.
    Closed,
}

/// A request of the model to use a tool.
#[derive(Clone)]
pub(super) struct Call {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) arguments: String,
}

/// The text in pieces; each piece is made when it is sent.
#[derive(Clone)]
pub(super) struct TextDeltas {
    pub(super) count: usize,
    pub(super) make: Arc<dyn Fn(usize) -> String + Send + Sync>,
}

#[derive(Clone, Copy, Default)]
pub(super) struct Pacing {
    pub(super) before_each_event: Duration,
    pub(super) piece_bytes: Option<usize>,
}

/// The fault of a stream; a number counts events.
#[derive(Clone, Copy)]
pub(super) enum Fault {
    /// The connection ends without the last chunk of the body.
    Cut(usize),
    /// The same with all of the answer except the mark that it is complete.
    CutBeforeMark,
    /// Nothing more comes; the connection stays open until the client closes it.
    Stall(usize),
    /// The wire's own error event, then a clean end.
    Error(usize),
}

impl Answer {
    /// A text, a word an event.
    #[must_use]
    pub fn text(text: &str) -> Self {
        Self::pieces(text.split_inclusive(' ').map(str::to_owned).collect())
    }

    /// A text in exactly these events.
    #[must_use]
    pub fn pieces(pieces: Vec<String>) -> Self {
        Self::generated(pieces.len(), move |index| pieces[index].clone())
    }

    /// `count` text events, each made at the moment it is sent.
    #[must_use]
    pub fn generated(count: usize, make: impl Fn(usize) -> String + Send + Sync + 'static) -> Self {
        Self {
            head: Head::Stream,
            text: TextDeltas { count, make: Arc::new(make) },
            calls: Vec::new(),
            input_tokens: 11,
            output_tokens: 7,
            pacing: Pacing::default(),
            fault: None,
            argument_piece_chars: usize::MAX,
        }
    }

    /// A call of one tool.
    #[must_use]
    pub fn call(tool: &str, arguments: &Value) -> Self {
        Self::pieces(Vec::new()).and_call(tool, arguments)
    }

    /// A call of `bash`.
    #[must_use]
    pub fn bash(command: &str) -> Self {
        Self::call("bash", &serde_json::json!({ "command": command }))
    }

    /// Adds a call; several run as one batch. Ids are `call_1`, `call_2` in order.
    #[must_use]
    pub fn and_call(self, tool: &str, arguments: &Value) -> Self {
        self.and_raw_call(tool, arguments.to_string())
    }

    /// The same with the text of the arguments as it is sent, JSON or not.
    #[must_use]
    pub fn and_raw_call(mut self, tool: &str, arguments: String) -> Self {
        let id = format!("call_{}", self.calls.len() + 1);
        self.calls.push(Call { id, name: tool.into(), arguments });
        self
    }

    /// Another token count.
    #[must_use]
    pub fn usage(self, input_tokens: u64, output_tokens: u64) -> Self {
        Self { input_tokens, output_tokens, ..self }
    }

    /// A wait before each event.
    #[must_use]
    pub fn paced(mut self, before_each_event: Duration) -> Self {
        self.pacing.before_each_event = before_each_event;
        self
    }

    /// The body in pieces of `bytes` bytes, each flushed.
    #[must_use]
    pub fn in_pieces_of(mut self, bytes: usize) -> Self {
        self.pacing.piece_bytes = Some(bytes);
        self
    }

    /// The arguments of calls in events of `chars` characters.
    #[must_use]
    pub fn arguments_in_pieces_of(self, chars: usize) -> Self {
        Self { argument_piece_chars: chars, ..self }
    }

    /// Cut off after `events` events, without the last chunk of the body.
    #[must_use]
    pub fn cut_after(self, events: usize) -> Self {
        Self { fault: Some(Fault::Cut(events)), ..self }
    }

    /// Cut off when all was sent except the mark that the answer is complete.
    #[must_use]
    pub fn cut_before_mark(self) -> Self {
        Self { fault: Some(Fault::CutBeforeMark), ..self }
    }

    /// Silent after `events` events, until the client closes the connection.
    #[must_use]
    pub fn stall_after(self, events: usize) -> Self {
        Self { fault: Some(Fault::Stall(events)), ..self }
    }

    /// The wire's own error event after `events` events.
    #[must_use]
    pub fn error_after(self, events: usize) -> Self {
        Self { fault: Some(Fault::Error(events)), ..self }
    }

    /// A failure with a JSON body in the style that all wires understand.
    #[must_use]
    pub fn status(status: u16, message: &str) -> Self {
        let body = serde_json::json!({ "type": "error", "error": { "type": "api_error", "message": message } });
        Self::plain(status, "application/json", body.to_string())
    }

    /// A whole JSON body, which is no stream.
    #[must_use]
    pub fn json(body: &Value) -> Self {
        Self::plain(200, "application/json", body.to_string())
    }

    /// A page for people instead of an answer.
    #[must_use]
    pub fn html(status: u16) -> Self {
        Self::plain(status, "text/html", "<!doctype html><title>Bad gateway</title><h1>nginx</h1>".into())
    }

    /// The connection closes before any byte of an answer.
    #[must_use]
    pub fn closed() -> Self {
        Self { head: Head::Closed, ..Self::pieces(Vec::new()) }
    }

    /// Adds a header to a failure.
    ///
    /// # Panics
    /// If this is no failure with a status.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        let Head::Plain { headers, .. } = &mut self.head else { panic!("only failures carry headers") };
        headers.push((name.into(), value.into()));
        self
    }

    fn plain(status: u16, content_type: &'static str, body: String) -> Self {
        let head = Head::Plain { status, headers: Vec::new(), content_type, body };
        Self { head, ..Self::pieces(Vec::new()) }
    }
}
