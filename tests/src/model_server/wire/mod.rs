//! The wires render an answer as events and read a request as neutral facts. Pure. One wire per file.

mod anthropic;
mod gemini;
mod ollama;
mod openai_chat;
mod openai_responses;

use serde_json::Value;

use super::answer::Answer;

/// The API that the server speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    /// `POST {base}/chat/completions`.
    OpenAiChat,
    /// `POST {base}/v1/messages`.
    Anthropic,
    /// `POST {base}/responses`.
    OpenAiResponses,
    /// `POST {base}/v1beta/models/{model}:streamGenerateContent`.
    Gemini,
    /// `POST {base}/api/chat`.
    Ollama,
}

/// The format of a wire, for writing and reading.
trait Speech {
    /// The provider's name in the settings.
    fn provider(&self) -> &'static str;

    /// The path of the base URL.
    fn base_path(&self) -> &'static str;

    /// The path of a call of the model `scripted-model`.
    fn call_path(&self) -> &'static str;

    /// Whether a POST to `path` is a call of any model.
    fn is_call(&self, path: &str) -> bool {
        path == self.call_path()
    }

    /// The header with the key, and the text before the key in it.
    fn key_header(&self) -> (&'static str, &'static str) {
        ("authorization", "Bearer ")
    }

    /// The content type of a stream.
    fn content_type(&self) -> &'static str {
        "text/event-stream"
    }

    /// The whole answer, event by event; each is made when it is asked for.
    fn events<'a>(&self, answer: &'a Answer) -> Box<dyn Iterator<Item = String> + 'a>;

    /// The number of events at the end that are, or follow, the mark that the answer is complete.
    fn mark_events(&self) -> usize;

    /// An error in the middle of a stream.
    fn error_event(&self) -> String;

    /// The tool results in a request, oldest first.
    fn tool_results(&self, body: &Value) -> Vec<SentToolResult>;
}

/// The result of a tool call in the form for the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentToolResult {
    /// Id of the call.
    pub call_id: String,
    /// The text.
    pub content: String,
}

impl Wire {
    /// All, for tests that hold for each.
    pub const ALL: [Self; 5] = [Self::OpenAiChat, Self::Anthropic, Self::OpenAiResponses, Self::Gemini, Self::Ollama];

    fn speech(self) -> &'static dyn Speech {
        match self {
            Self::OpenAiChat => &openai_chat::OpenAiChat,
            Self::Anthropic => &anthropic::Anthropic,
            Self::OpenAiResponses => &openai_responses::OpenAiResponses,
            Self::Gemini => &gemini::Gemini,
            Self::Ollama => &ollama::Ollama,
        }
    }

    /// The provider's name in the settings.
    #[must_use]
    pub fn provider(self) -> &'static str {
        self.speech().provider()
    }

    pub(super) fn base_path(self) -> &'static str {
        self.speech().base_path()
    }

    /// The path of a call of the model `scripted-model`.
    #[must_use]
    pub fn call_path(self) -> &'static str {
        self.speech().call_path()
    }

    pub(super) fn is_call(self, path: &str) -> bool {
        self.speech().is_call(path)
    }

    pub(super) fn content_type(self) -> &'static str {
        self.speech().content_type()
    }

    pub(super) fn events(self, answer: &Answer) -> Box<dyn Iterator<Item = String> + '_> {
        self.speech().events(answer)
    }

    /// The number of events of `answer` before the mark that it is complete.
    pub(super) fn events_before_mark(self, answer: &Answer) -> usize {
        self.events(answer).count() - self.speech().mark_events()
    }

    pub(super) fn error_event(self) -> String {
        self.speech().error_event()
    }

    pub(super) fn key_header(self) -> (&'static str, &'static str) {
        self.speech().key_header()
    }

    pub(super) fn tool_results(self, body: &Value) -> Vec<SentToolResult> {
        self.speech().tool_results(body)
    }
}

fn data(value: &Value) -> String {
    format!("data: {value}\n\n")
}

fn array(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().map(Vec::as_slice).unwrap_or_default().iter()
}

fn pieces(text: &str, chars: usize) -> Vec<String> {
    let all: Vec<char> = text.chars().collect();
    all.chunks(chars.max(1)).map(|piece| piece.iter().collect()).collect()
}

fn result(id: &Value, content: &Value) -> SentToolResult {
    let mut text = String::new();
    collect_text(content, &mut text);
    SentToolResult { call_id: id.as_str().unwrap_or_default().to_owned(), content: text }
}

/// The text of a content: a string, or a list of blocks with a `text`.
fn collect_text(content: &Value, out: &mut String) {
    match content {
        Value::String(text) => out.push_str(text),
        Value::Array(blocks) => blocks.iter().for_each(|block| collect_text(&block["text"], out)),
        _ => {}
    }
}
