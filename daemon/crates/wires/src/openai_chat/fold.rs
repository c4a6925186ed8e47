//! Folds the chunks of a Chat Completions answer into neutral events.

use std::sync::Arc;

use cohab_model_api::{ModelRequest, StopClass, TokenUsage, ToolCall};
use serde_json::{Map, Value, json};

use super::{
    cost_microusd, fast_path, printed,
    request::call_value,
    slots::{Slots, TooManyCalls},
    think::{Piece, ThinkSplitter},
};
use crate::{
    error::ErrorBody,
    history,
    tool_arguments::{self, CallIds},
    wire::{End, Fold, Folded, MAX_CALLS, Options, Progress, Quirk, Stopped},
};

/// The state of an answer that is being read.
#[derive(Debug, Default)]
pub(super) struct ChatFold {
    ids: CallIds,
    /// Names of the tools that may be called.
    tools: Vec<String>,
    splitter: ThinkSplitter,
    text: String,
    refused: bool,
    /// Joined `reasoning_content`, once that key occurred.
    reasoning_content: Option<String>,
    reasoning_details: Vec<Value>,
    slots: Slots,
    finish_reason: Option<String>,
    is_done: bool,
    has_failed: bool,
}

impl ChatFold {
    /// Starts to read the answer to `request`.
    pub(super) fn new(request: &ModelRequest, options: &Options<'_>) -> Self {
        let may_call = request.allow_tools && !options.has(Quirk::NoTools);
        let tools = request.tools.iter().filter(|_| may_call).map(|tool| tool.name.clone());
        let splitter = match options.has(Quirk::SwallowsThinkTag) {
            true => ThinkSplitter::without_opening_tag(),
            false => ThinkSplitter::default(),
        };
        Self {
            ids: CallIds::beside(history::call_ids(&request.messages)),
            tools: tools.collect(),
            splitter,
            ..Self::default()
        }
    }

    fn fail(&mut self, failure: Folded) -> Vec<Folded> {
        self.has_failed = true;
        vec![failure]
    }

    fn on_chunk(&mut self, chunk: &Value) -> Vec<Folded> {
        let is_bare_error = chunk.get("choices").is_none()
            && (chunk.get("object").and_then(Value::as_str) == Some("error") || chunk.get("detail").is_some());
        if chunk.get("error").is_some_and(|error| !error.is_null()) || is_bare_error {
            return self.fail(Folded::Error(ErrorBody::from_value(chunk)));
        }
        let mut folded = Vec::new();
        let choices = chunk.get("choices").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        for choice in choices {
            if choice.get("index").and_then(Value::as_u64).unwrap_or(0) != 0 {
                continue;
            }
            if let Some(delta) = choice.get("delta").filter(|delta| delta.is_object()).or_else(|| choice.get("message"))
            {
                self.on_delta(delta, &mut folded);
            }
            if self.has_failed {
                return folded;
            }
            match choice.get("finish_reason").and_then(Value::as_str) {
                None | Some("") => {}
                Some("error") => {
                    let text = "the service stopped the answer with an error".to_owned();
                    folded.extend(self.fail(Folded::Error(ErrorBody { text, ..ErrorBody::default() })));
                    return folded;
                }
                Some(reason) => self.finish_reason = Some(reason.to_owned()),
            }
        }
        let usage =
            [chunk.get("usage"), chunk.pointer("/x_groq/usage")].into_iter().flatten().find(|usage| usage.is_object());
        folded.extend(usage.map(|usage| Folded::Usage(token_usage(usage))));
        folded
    }

    fn on_delta(&mut self, delta: &Value, folded: &mut Vec<Folded>) {
        let text_of = |key: &str| delta.get(key).and_then(Value::as_str);
        if let Some(reasoning) = text_of("reasoning_content") {
            self.reasoning_content.get_or_insert_default().push_str(reasoning);
        }
        let reasoning = text_of("reasoning_content").filter(|text| !text.is_empty()).or_else(|| text_of("reasoning"));
        if reasoning.is_some_and(|reasoning| !reasoning.is_empty()) {
            self.splitter.leave_to_service();
        }
        push_reasoning(reasoning.unwrap_or_default(), folded);
        if let Some(details) = delta.get("reasoning_details").and_then(Value::as_array) {
            self.reasoning_details.extend(details.iter().cloned());
        }
        match delta.get("content") {
            Some(Value::String(text)) => self.on_text(text, folded),
            Some(Value::Array(parts)) => parts.iter().for_each(|part| self.on_part(part, folded)),
            _ => {}
        }
        if let Some(refusal) = text_of("refusal").filter(|refusal| !refusal.is_empty()) {
            self.refused = true;
            folded.push(Folded::Refusal(refusal.to_owned()));
        }
        for fragment in delta.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
            match self.slots.push(fragment) {
                Ok(true) => folded.push(Folded::Hidden),
                Ok(false) => {}
                Err(TooManyCalls) => {
                    folded.extend(self.fail(Folded::Protocol(format!("sent more than {MAX_CALLS} tool calls"))));
                    return;
                }
            }
        }
    }

    /// Takes a typed part of the content, which some reasoning services send.
    fn on_part(&mut self, part: &Value, folded: &mut Vec<Folded>) {
        let thinking = part.get("thinking");
        if let Some(text) = part.get("text").and_then(Value::as_str) {
            self.on_text(text, folded);
        } else if let Some(text) = thinking.and_then(Value::as_str) {
            push_reasoning(text, folded);
        }
        for text in thinking.and_then(Value::as_array).into_iter().flatten() {
            push_reasoning(text.get("text").and_then(Value::as_str).unwrap_or_default(), folded);
        }
    }

    fn on_text(&mut self, text: &str, folded: &mut Vec<Folded>) {
        let pieces = self.splitter.push(text);
        self.take_pieces(pieces, folded);
    }

    fn take_pieces(&mut self, pieces: Vec<Piece>, folded: &mut Vec<Folded>) {
        for piece in pieces {
            match piece {
                Piece::Text(text) => {
                    self.text.push_str(&text);
                    folded.push(Folded::Text(text));
                }
                Piece::Reasoning(text) => folded.push(Folded::Reasoning(text)),
            }
        }
    }

    fn is_complete(&self) -> bool {
        self.finish_reason.is_some() || (self.is_done && self.slots.all_parse())
    }

    fn stop(&mut self, folded: &mut Vec<Folded>) {
        let class = match self.finish_reason.as_deref() {
            Some("length") => StopClass::Length,
            Some("content_filter") => StopClass::Refusal,
            _ if self.refused => StopClass::Refusal,
            _ if !self.slots.is_empty() => StopClass::Tool,
            _ => StopClass::End,
        };
        // A cut or filtered answer may end inside the arguments even if they parse.
        let has_void_calls = matches!(class, StopClass::Length | StopClass::Refusal) && !self.slots.is_empty();
        let slots = if has_void_calls { Vec::new() } else { self.slots.take() };
        // Long content that the neutral form holds as well is not held twice.
        let length: usize = slots.iter().map(|slot| slot.args.text().len()).sum();
        let is_plain = self.reasoning_content.is_none() && self.reasoning_details.is_empty();
        let has_own_form = !has_void_calls && (!is_plain || length <= tool_arguments::LONG_BYTES);
        let mut own_calls = Vec::new();
        for slot in slots {
            let call =
                ToolCall { id: self.ids.claim(&slot.id), name: slot.name, args: slot.args.parse().map(Arc::new) };
            let raw = slot.args.text();
            let own_args = if call.args.is_ok() && !raw.trim().is_empty() { raw } else { "{}" };
            if has_own_form {
                own_calls.push(call_value(&call.id, &call.name, own_args));
            }
            folded.push(Folded::Call(call));
        }
        let message = has_own_form.then(|| self.own_message(own_calls));
        folded.push(Folded::Stop(Stopped { class, message, has_void_calls }));
    }

    fn own_message(&self, calls: Vec<Value>) -> Value {
        let mut message = Map::new();
        message.insert("role".to_owned(), json!("assistant"));
        message.insert("content".to_owned(), if self.text.is_empty() { Value::Null } else { json!(self.text) });
        if !calls.is_empty() {
            if let Some(reasoning) = &self.reasoning_content {
                message.insert("reasoning_content".to_owned(), json!(reasoning));
            }
            message.insert("tool_calls".to_owned(), Value::Array(calls));
        }
        if !self.reasoning_details.is_empty() {
            message.insert("reasoning_details".to_owned(), json!(self.reasoning_details));
        }
        Value::Object(message)
    }
}

impl Fold for ChatFold {
    fn on_event(&mut self, data: &str) -> Vec<Folded> {
        let data = data.trim();
        if self.has_failed || self.is_done || data.is_empty() {
            return Vec::new();
        }
        if data == "[DONE]" {
            self.is_done = true;
            return Vec::new();
        }
        if let Some(text) = fast_path::text_of(data) {
            let mut folded = Vec::new();
            self.on_text(&text, &mut folded);
            return folded;
        }
        match serde_json::from_str::<Value>(data) {
            Ok(chunk) => self.on_chunk(&chunk),
            Err(error) if self.finish_reason.is_some() => {
                tracing::debug!(%error, "garbage after the end of an answer");
                Vec::new()
            }
            Err(error) => self.fail(Folded::Protocol(format!("sent an event that is not JSON: {error}"))),
        }
    }

    fn finish(&mut self, end: End) -> Vec<Folded> {
        if self.has_failed {
            return Vec::new();
        }
        let mut folded = Vec::new();
        let is_cut = self.finish_reason.as_deref().map_or(!self.is_done, |reason| reason == "length");
        let held = self.splitter.finish(is_cut || !self.slots.is_empty());
        self.take_pieces(held, &mut folded);
        if self.splitter.has_bare_close() {
            folded.push(Folded::Learned(Quirk::SwallowsThinkTag));
        }
        if self.slots.is_empty() && printed::has_call(&self.text, &self.tools) {
            folded.push(Folded::Notice(printed::NOTICE.to_owned()));
        }
        if self.is_complete() {
            self.stop(&mut folded);
        } else {
            folded.push(if self.is_done {
                Folded::Incomplete("the answer ended inside the arguments of a tool call".to_owned())
            } else {
                end.incomplete()
            });
        }
        folded
    }

    fn progress(&self) -> Progress {
        if self.has_failed || self.is_done {
            Progress::Over
        } else if self.finish_reason.is_some() {
            Progress::Complete
        } else {
            Progress::Open
        }
    }
}

fn push_reasoning(text: &str, folded: &mut Vec<Folded>) {
    if !text.is_empty() {
        folded.push(Folded::Reasoning(text.to_owned()));
    }
}

/// Reads token counts. The wire includes cached tokens in the prompt.
fn token_usage(usage: &Value) -> TokenUsage {
    let count = |pointer: &str| usage.pointer(pointer).and_then(Value::as_u64);
    let cache_read = count("/prompt_tokens_details/cached_tokens").or_else(|| count("/prompt_cache_hit_tokens"));
    TokenUsage {
        input: count("/prompt_tokens").map(|prompt| prompt.saturating_sub(cache_read.unwrap_or(0))),
        output: count("/completion_tokens"),
        cache_read,
        cache_write: count("/prompt_tokens_details/cache_write_tokens"),
        reasoning: count("/completion_tokens_details/reasoning_tokens"),
        cost_microusd: cost_microusd(usage),
    }
}

#[cfg(test)]
#[path = "fold_tests.rs"]
mod tests;
