//! Folds the events of a Messages answer into neutral events.

use std::sync::Arc;

use cohab_model_api::{StopClass, TokenUsage, ToolCall};
use serde_json::Value;

use super::{
    blocks::{ContentBlock, VisibleDelta},
    fast_path,
};
use crate::{
    error::ErrorBody,
    tool_arguments::{self, CallIds},
    wire::{End, Fold, Folded, MAX_CALLS, Progress, Stopped},
};

/// Most content blocks in one answer.
const MAX_BLOCKS: usize = 4 * MAX_CALLS;

/// The state of an answer that is being read.
#[derive(Debug, Default)]
pub(super) struct MessageFold {
    ids: CallIds,
    message_id: Option<String>,
    blocks: Vec<ContentBlock>,
    usage: TokenUsage,
    stop_reason: Option<String>,
    is_stopped: bool,
    has_failed: bool,
}

impl MessageFold {
    /// Starts with the call ids of the conversation; new ids must not repeat them.
    pub(super) fn beside<'a>(taken: impl IntoIterator<Item = &'a str>) -> Self {
        Self { ids: CallIds::beside(taken), ..Self::default() }
    }

    fn fail(&mut self, failure: Folded) -> Vec<Folded> {
        self.has_failed = true;
        vec![failure]
    }

    fn dispatch(&mut self, event: &Value) -> Vec<Folded> {
        let kind = event.get("type").and_then(Value::as_str).unwrap_or_default();
        if kind == "error" || event.get("error").is_some_and(|error| !error.is_null()) {
            return self.fail(Folded::Error(ErrorBody::from_value(event)));
        }
        let index = event.get("index").and_then(Value::as_u64).unwrap_or(0);
        match kind {
            "message_start" => self.on_start(&event["message"]),
            "content_block_start" => self.open(index, &event["content_block"]),
            "content_block_delta" => self.on_delta(index, &event["delta"]),
            "message_delta" => {
                self.on_stop_reason(&event["delta"]).into_iter().chain(self.on_usage(event.get("usage"))).collect()
            }
            "message_stop" => {
                self.is_stopped = true;
                Vec::new()
            }
            "message" => self.on_whole(event),
            "ping" | "content_block_stop" => Vec::new(),
            other => {
                tracing::debug!(other, "unknown event skipped");
                Vec::new()
            }
        }
    }

    fn on_start(&mut self, message: &Value) -> Vec<Folded> {
        let id = message.get("id").and_then(Value::as_str).unwrap_or_default();
        match &self.message_id {
            None => {
                self.message_id = Some(id.to_owned());
                self.on_usage(message.get("usage")).into_iter().collect()
            }
            Some(first) if first == id => Vec::new(),
            Some(_) => self.fail(Folded::Protocol("began a second message inside the answer".to_owned())),
        }
    }

    fn open(&mut self, index: u64, start: &Value) -> Vec<Folded> {
        let Value::Object(start) = start else { return Vec::new() };
        self.push_block(ContentBlock::new(index, start.clone()))
    }

    fn push_block(&mut self, block: ContentBlock) -> Vec<Folded> {
        if self.blocks.len() == MAX_BLOCKS {
            return self.fail(Folded::Protocol(format!("sent more than {MAX_BLOCKS} content blocks")));
        }
        let shown = block.shown_at_start();
        self.blocks.push(block);
        folded(shown)
    }

    fn on_delta(&mut self, index: u64, delta: &Value) -> Vec<Folded> {
        if !self.blocks.iter().any(|block| block.index == index) {
            let Some(block) = ContentBlock::implied_by(index, delta) else { return Vec::new() };
            if let failure @ [_, ..] = self.push_block(block).as_slice() {
                return failure.to_vec();
            }
        }
        let block = self.blocks.iter_mut().rfind(|block| block.index == index);
        block.map(|block| folded(block.push(delta))).unwrap_or_default()
    }

    fn on_stop_reason(&mut self, delta: &Value) -> Option<Folded> {
        let reason = delta.get("stop_reason").and_then(Value::as_str)?;
        self.stop_reason = Some(reason.to_owned());
        let explanation =
            delta.pointer("/stop_details/explanation").and_then(Value::as_str).filter(|text| !text.is_empty());
        explanation.filter(|_| reason == "refusal").map(|text| Folded::Refusal(text.to_owned()))
    }

    /// Takes token counts. The numbers are totals so far; an absent field keeps its last value.
    fn on_usage(&mut self, usage: Option<&Value>) -> Option<Folded> {
        let usage = usage.filter(|usage| usage.is_object())?;
        let count = |key: &str| usage.get(key).and_then(Value::as_u64);
        self.usage.input = count("input_tokens").or(self.usage.input);
        self.usage.output = count("output_tokens").or(self.usage.output);
        self.usage.cache_read = count("cache_read_input_tokens").or(self.usage.cache_read);
        self.usage.cache_write = count("cache_creation_input_tokens").or(self.usage.cache_write);
        Some(Folded::Usage(self.usage))
    }

    /// Handles a whole answer that arrives in place of a stream.
    fn on_whole(&mut self, message: &Value) -> Vec<Folded> {
        let mut all = self.on_start(message);
        let content = message.get("content").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        for (index, block) in (0..).zip(content) {
            all.extend(self.open(index, block));
        }
        all.extend(self.on_stop_reason(message));
        self.is_stopped = !self.has_failed;
        all
    }

    fn stop(&mut self) -> Vec<Folded> {
        let has_calls = self.blocks.iter().any(|block| block.kind() == "tool_use");
        let class = match self.stop_reason.as_deref() {
            Some("max_tokens" | "model_context_window_exceeded") => StopClass::Length,
            Some("refusal") => StopClass::Refusal,
            Some("pause_turn") if !has_calls => StopClass::Pause,
            _ if has_calls => StopClass::Tool,
            _ => StopClass::End,
        };
        // A cut or refused answer may end inside a tool's input even if the input parses.
        let has_void_calls = has_calls && matches!(class, StopClass::Length | StopClass::Refusal);
        // Long content that the neutral form holds as well is not held twice.
        let length: usize = self.blocks.iter().map(ContentBlock::input_bytes).sum();
        let is_plain = self.blocks.iter().all(ContentBlock::is_plain);
        let has_own_form = !has_void_calls && (!is_plain || length <= tool_arguments::LONG_BYTES);
        let mut all = Vec::new();
        let mut content = Vec::new();
        for block in &self.blocks {
            if block.kind() != "tool_use" {
                content.extend(block.rebuild(None).filter(|_| has_own_form));
                continue;
            }
            let id = self.ids.claim(block.field("id"));
            if has_own_form {
                content.extend(block.rebuild(Some(&id)));
            }
            if !has_void_calls {
                all.push(Folded::Call(ToolCall {
                    id,
                    name: block.field("name").to_owned(),
                    args: block.input().map(Arc::new),
                }));
            }
        }
        let message = has_own_form.then_some(Value::Array(content));
        all.push(Folded::Stop(Stopped { class, message, has_void_calls }));
        all
    }
}

impl Fold for MessageFold {
    fn on_event(&mut self, data: &str) -> Vec<Folded> {
        if self.has_failed || self.is_stopped || data.trim().is_empty() || data.trim() == "[DONE]" {
            return Vec::new();
        }
        if let Some((index, text)) = fast_path::text_of(data)
            && let Some(block) = self.blocks.iter_mut().rfind(|block| block.index == index)
        {
            return folded(block.push_text(text));
        }
        match serde_json::from_str::<Value>(data) {
            Ok(event) => self.dispatch(&event),
            Err(error) => self.fail(Folded::Protocol(format!("sent an event that is not JSON: {error}"))),
        }
    }

    fn finish(&mut self, end: End) -> Vec<Folded> {
        if self.has_failed {
            return Vec::new();
        }
        if self.is_stopped {
            return self.stop();
        }
        vec![end.incomplete()]
    }

    fn progress(&self) -> Progress {
        if self.has_failed || self.is_stopped { Progress::Over } else { Progress::Open }
    }
}

fn folded(shown: VisibleDelta) -> Vec<Folded> {
    match shown {
        VisibleDelta::Text(text) => vec![Folded::Text(text)],
        VisibleDelta::Reasoning(text) => vec![Folded::Reasoning(text)],
        VisibleDelta::Hidden => vec![Folded::Hidden],
        VisibleDelta::Nothing => Vec::new(),
    }
}

#[cfg(test)]
#[path = "fold_tests.rs"]
mod tests;
