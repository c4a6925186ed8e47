//! Rebuilds the content blocks of an answer from their starts and deltas, so that they can go back unchanged.

use cohab_model_api::{BrokenArguments, JsonObject};
use serde_json::{Map, Value, json};

use crate::tool_arguments::RawArguments;

/// A block being received.
#[derive(Debug)]
pub(super) struct ContentBlock {
    /// The wire's number; of several blocks with the same number the newest counts.
    pub(super) index: u64,
    start: Map<String, Value>,
    text: String,
    thinking: String,
    signature: String,
    partial_json: RawArguments,
    citations: Vec<Value>,
    compaction: String,
}

/// The visible part of a delta.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum VisibleDelta {
    /// Text.
    Text(String),
    /// Reasoning.
    Reasoning(String),
    /// Part of a tool's input, or of a block that is not shown.
    Hidden,
    /// Nothing new.
    Nothing,
}

impl ContentBlock {
    /// Makes a block from a `content_block`.
    pub(super) fn new(index: u64, start: Map<String, Value>) -> Self {
        let text = |key: &str| start.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        Self {
            index,
            text: text("text"),
            thinking: text("thinking"),
            signature: text("signature"),
            start,
            partial_json: RawArguments::default(),
            citations: Vec::new(),
            compaction: String::new(),
        }
    }

    /// The block that a delta without a start belongs to.
    pub(super) fn implied_by(index: u64, delta: &Value) -> Option<Self> {
        let start = match delta.get("type").and_then(Value::as_str)? {
            "text_delta" => json!({"type": "text", "text": ""}),
            "thinking_delta" => json!({"type": "thinking", "thinking": ""}),
            _ => return None,
        };
        start.as_object().cloned().map(|start| Self::new(index, start))
    }

    /// The type of the block.
    pub(super) fn kind(&self) -> &str {
        self.start.get("type").and_then(Value::as_str).unwrap_or_default()
    }

    /// A text of the block's start: `id`, `name`.
    pub(super) fn field(&self, key: &str) -> &str {
        self.start.get(key).and_then(Value::as_str).unwrap_or_default()
    }

    /// The part that the block's start already shows.
    pub(super) fn shown_at_start(&self) -> VisibleDelta {
        match self.kind() {
            "text" => shown(&self.text, VisibleDelta::Text),
            "thinking" => shown(&self.thinking, VisibleDelta::Reasoning),
            _ => VisibleDelta::Hidden,
        }
    }

    /// Applies a delta.
    pub(super) fn push(&mut self, delta: &Value) -> VisibleDelta {
        let piece = |key: &str| delta.get(key).and_then(Value::as_str).unwrap_or_default();
        match delta.get("type").and_then(Value::as_str).unwrap_or_default() {
            "text_delta" => self.push_text(piece("text").to_owned()),
            "thinking_delta" => {
                self.thinking.push_str(piece("thinking"));
                shown(piece("thinking"), VisibleDelta::Reasoning)
            }
            "signature_delta" => {
                self.signature.push_str(piece("signature"));
                VisibleDelta::Hidden
            }
            "input_json_delta" => {
                self.partial_json.push(piece("partial_json"));
                if piece("partial_json").is_empty() { VisibleDelta::Nothing } else { VisibleDelta::Hidden }
            }
            "citations_delta" => {
                self.citations.extend(delta.get("citation").cloned());
                VisibleDelta::Hidden
            }
            "compaction_delta" => {
                self.compaction.push_str(piece("content"));
                VisibleDelta::Hidden
            }
            other => {
                tracing::debug!(other, "unknown delta skipped");
                VisibleDelta::Nothing
            }
        }
    }

    /// Appends a piece of text.
    pub(super) fn push_text(&mut self, piece: String) -> VisibleDelta {
        self.text.push_str(&piece);
        if piece.is_empty() { VisibleDelta::Nothing } else { VisibleDelta::Text(piece) }
    }

    /// A tool's input: the joined pieces, else the input in the block's start.
    pub(super) fn input(&self) -> Result<JsonObject, BrokenArguments> {
        if !self.partial_json.text().trim().is_empty() {
            return self.partial_json.parse();
        }
        let mut whole = RawArguments::default();
        self.start.get("input").into_iter().for_each(|input| whole.set_object(input));
        whole.parse()
    }

    /// Length of a tool's input that came in pieces.
    pub(super) fn input_bytes(&self) -> usize {
        self.partial_json.text().len()
    }

    /// Whether the neutral form of a message holds all of the block's content.
    pub(super) fn is_plain(&self) -> bool {
        matches!(self.kind(), "text" | "tool_use") && self.citations.is_empty()
    }

    /// The block in the form that goes back, with `id` if the wire's own could not be used; `None` if it is empty, since the service would
    /// refuse it.
    pub(super) fn rebuild(&self, id: Option<&str>) -> Option<Value> {
        let mut block = self.start.clone();
        match self.kind() {
            "text" if self.text.trim().is_empty() => return None,
            "text" => {
                block.insert("text".to_owned(), json!(self.text));
            }
            "thinking" => {
                block.insert("thinking".to_owned(), json!(self.thinking));
                block.insert("signature".to_owned(), json!(self.signature));
            }
            _ => {}
        }
        if !self.partial_json.text().trim().is_empty() || self.kind() == "tool_use" {
            block.insert("input".to_owned(), json!(self.input().unwrap_or_default()));
        }
        if !self.citations.is_empty() {
            block.insert("citations".to_owned(), json!(self.citations));
        }
        if !self.compaction.is_empty() {
            block.insert("content".to_owned(), json!(self.compaction));
        }
        if let Some(id) = id {
            block.insert("id".to_owned(), json!(id));
        }
        Some(Value::Object(block))
    }
}

fn shown(text: &str, as_shown: fn(String) -> VisibleDelta) -> VisibleDelta {
    if text.is_empty() { VisibleDelta::Nothing } else { as_shown(text.to_owned()) }
}
