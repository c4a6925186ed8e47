//! Folds the events of a Responses answer into neutral events.

use std::sync::Arc;

use cohab_model_api::{StopClass, TokenUsage, ToolCall};
use serde_json::Value;

use super::{
    fast_path::{self, TextDelta},
    items::{CALL, GAP, Item, Items, MAX_ITEMS, MESSAGE, REASONING, TooManyItems},
};
use crate::{
    error::ErrorBody,
    openai_chat::cost_microusd,
    tool_arguments::CallIds,
    wire::{End, Fold, Folded, MAX_CALLS, Progress, Stopped},
};

/// The state of an answer that is being read.
#[derive(Debug, Default)]
pub(super) struct ResponseFold {
    ids: CallIds,
    items: Items,
    has_text: bool,
    has_reasoning: bool,
    is_refused: bool,
    /// The service's reason for an incomplete answer.
    incomplete_reason: Option<String>,
    is_ended: bool,
    has_failed: bool,
}

impl ResponseFold {
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
        let folded = match kind {
            "response.output_text.delta" => self.on_text(&TextDelta::of(event), false),
            "response.refusal.delta" => self.on_text(&TextDelta::of(event), true),
            "response.reasoning_summary_text.delta" => self.on_reasoning(event, "summary_index"),
            "response.reasoning_text.delta" => self.on_reasoning(event, "content_index"),
            "response.function_call_arguments.delta" | "response.function_call_arguments.done" => {
                self.on_arguments(event)
            }
            "response.output_item.added" => self.on_item(event, false),
            "response.output_item.done" => self.on_item(event, true),
            "response.completed"
            | "response.incomplete"
            | "response.failed"
            | "response.cancelled"
            | "response.done" => self.on_end(kind, event.get("response").unwrap_or(event)),
            // A whole answer that arrives in place of a stream.
            "" if event.get("output").is_some_and(Value::is_array) => self.on_end(kind, event),
            _ if kind == "error" || event.get("error").is_some_and(|error| !error.is_null()) => {
                Ok(self.fail(Folded::Error(ErrorBody::from_value(event))))
            }
            _ => Ok(Vec::new()),
        };
        self.or_too_many(folded)
    }

    fn or_too_many(&mut self, folded: Result<Vec<Folded>, TooManyItems>) -> Vec<Folded> {
        folded.unwrap_or_else(|TooManyItems| self.fail(Folded::Protocol(format!("sent more than {MAX_ITEMS} items"))))
    }

    fn on_text(&mut self, delta: &TextDelta<'_>, is_refusal: bool) -> Result<Vec<Folded>, TooManyItems> {
        let item = self.items.of_named_part(delta.index, delta.item_id, MESSAGE)?;
        let is_first = item.shown_text.is_empty();
        item.shown_text.push_str(&delta.text);
        Ok(self.shown(&delta.text, is_refusal, is_first))
    }

    /// Shows text; a blank line separates several messages in one answer.
    fn shown(&mut self, text: &str, is_refusal: bool, is_first: bool) -> Vec<Folded> {
        if text.is_empty() {
            return Vec::new();
        }
        self.is_refused |= is_refusal;
        let gap = if is_first && self.has_text { GAP } else { "" };
        self.has_text = true;
        let text = format!("{gap}{text}");
        vec![if is_refusal { Folded::Refusal(text) } else { Folded::Text(text) }]
    }

    fn on_reasoning(&mut self, event: &Value, part_key: &str) -> Result<Vec<Folded>, TooManyItems> {
        let part = event.get(part_key).and_then(Value::as_u64).unwrap_or(0);
        let delta = text_of(event, "delta");
        let item = self.items.of_part(event, REASONING)?;
        if delta.is_empty() {
            return Ok(Vec::new());
        }
        let is_new_part = item.shown_reasoning.is_empty() || item.reasoning_part != part;
        item.reasoning_part = part;
        item.shown_reasoning.push_str(delta);
        Ok(vec![self.shown_reasoning(delta, is_new_part)])
    }

    fn shown_reasoning(&mut self, text: &str, is_new_part: bool) -> Folded {
        let gap = if is_new_part && self.has_reasoning { GAP } else { "" };
        self.has_reasoning = true;
        Folded::Reasoning(format!("{gap}{text}"))
    }

    fn on_arguments(&mut self, event: &Value) -> Result<Vec<Folded>, TooManyItems> {
        let item = self.items.of_part(event, CALL)?;
        if let Some(whole) = event.get("arguments").and_then(Value::as_str) {
            if !item.is_done && !whole.is_empty() {
                item.args.set(whole);
            }
            return Ok(Vec::new());
        }
        let delta = text_of(event, "delta");
        if item.is_done || delta.is_empty() {
            return Ok(Vec::new());
        }
        item.args.push(delta);
        Ok(vec![Folded::Hidden])
    }

    fn on_item(&mut self, event: &Value, is_done: bool) -> Result<Vec<Folded>, TooManyItems> {
        let Some(json) = event.get("item").and_then(Value::as_object) else { return Ok(Vec::new()) };
        let item = self.items.of_item(event, json, is_done)?;
        item.take(json, is_done);
        let unshown = if is_done { Unshown::take(item) } else { Unshown::default() };
        Ok(self.settle(unshown))
    }

    fn settle(&mut self, unshown: Unshown) -> Vec<Folded> {
        let mut folded = vec![Folded::Hidden];
        folded.extend(unshown.reasoning.map(|text| self.shown_reasoning(&text, true)));
        let mut is_first = unshown.is_first;
        for (is_refusal, text) in unshown.parts {
            folded.extend(self.shown(&text, is_refusal, is_first));
            is_first = false;
        }
        if self.items.iter().filter(|item| item.kind() == CALL).count() > MAX_CALLS {
            folded.extend(self.fail(Folded::Protocol(format!("sent more than {MAX_CALLS} tool calls"))));
        }
        folded
    }

    /// Takes the terminal object. Content that the events have not shown is taken from its items, once.
    fn on_end(&mut self, kind: &str, response: &Value) -> Result<Vec<Folded>, TooManyItems> {
        let status = text_of(response, "status");
        if kind.is_empty() && matches!(status, "in_progress" | "queued") {
            return Ok(Vec::new());
        }
        let is = |word: &str| status == word || kind.strip_prefix("response.") == Some(word);
        if is("failed") || is("cancelled") || response.get("error").is_some_and(|error| !error.is_null()) {
            return Ok(self.fail(Folded::Error(failure(response))));
        }
        let mut folded = Vec::new();
        let mut kinds: Vec<&str> = Vec::new();
        let output = response.get("output").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        for json in output.iter().filter_map(Value::as_object) {
            let kind = json.get("type").and_then(Value::as_str).unwrap_or_default();
            let place = kinds.iter().filter(|before| **before == kind).count();
            kinds.push(kind);
            let item = self.items.of_terminal(json, place)?;
            item.take(json, true);
            let unshown = Unshown::take(item);
            folded.extend(self.settle(unshown));
            if self.has_failed {
                return Ok(folded);
            }
        }
        folded.extend(token_usage(response.get("usage")).map(Folded::Usage));
        let reason = response.pointer("/incomplete_details/reason").and_then(Value::as_str);
        self.incomplete_reason = reason.or(is("incomplete").then_some("unknown")).map(str::to_owned);
        self.is_ended = true;
        Ok(folded)
    }

    fn stop(&mut self) -> Vec<Folded> {
        let has_calls = self.items.iter().any(|item| item.kind() == CALL);
        let has_cut_call = self.items.iter().any(|item| item.kind() == CALL && item.field("status") == "incomplete");
        let class = match self.incomplete_reason.as_deref() {
            Some("content_filter") => StopClass::Refusal,
            Some(_) => StopClass::Length,
            None if self.is_refused => StopClass::Refusal,
            None if has_cut_call => StopClass::Length,
            None if has_calls => StopClass::Tool,
            None => StopClass::End,
        };
        // A cut or refused answer may end inside the arguments even if they parse.
        let has_void_calls = has_calls && matches!(class, StopClass::Length | StopClass::Refusal);
        let mut folded = Vec::new();
        let mut own = Vec::new();
        for item in self.items.iter().filter(|_| !has_void_calls) {
            if item.kind() != CALL {
                own.extend(item.rebuild(None));
                continue;
            }
            let id = self.ids.claim(item.field("call_id"));
            own.extend(item.rebuild(Some(&id)));
            folded.push(Folded::Call(ToolCall {
                id,
                name: item.field("name").to_owned(),
                args: item.args.parse().map(Arc::new),
            }));
        }
        let message = (!has_void_calls).then_some(Value::Array(own));
        folded.push(Folded::Stop(Stopped { class, message, has_void_calls }));
        folded
    }
}

/// The content of a whole item that was not shown before.
#[derive(Debug, Default)]
struct Unshown {
    reasoning: Option<String>,
    /// The texts, each with whether it is a refusal.
    parts: Vec<(bool, String)>,
    /// Whether none of the text was shown before.
    is_first: bool,
}

impl Unshown {
    /// Takes the content that was not shown, and marks it as shown.
    fn take(item: &mut Item) -> Self {
        let reasoning = item.unshown_reasoning().filter(|_| item.kind() == REASONING);
        let parts = item.unshown_parts().into_iter().map(|(kind, text)| (kind == "refusal", text.to_owned()));
        let unshown = Self { parts: parts.collect(), reasoning, is_first: item.shown_text.is_empty() };
        unshown.parts.iter().for_each(|(_, text)| item.shown_text.push_str(text));
        item.shown_reasoning.push_str(unshown.reasoning.as_deref().unwrap_or_default());
        unshown
    }
}

impl Fold for ResponseFold {
    fn on_event(&mut self, data: &str) -> Vec<Folded> {
        let data = data.trim();
        if self.has_failed || self.is_ended || data.is_empty() || data == "[DONE]" {
            return Vec::new();
        }
        if let Some(delta) = fast_path::text_of(data) {
            let folded = self.on_text(&delta, false);
            return self.or_too_many(folded);
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
        if self.is_ended {
            return self.stop();
        }
        vec![end.incomplete()]
    }

    fn progress(&self) -> Progress {
        if self.has_failed || self.is_ended { Progress::Over } else { Progress::Open }
    }
}

fn text_of<'a>(json: &'a Value, key: &str) -> &'a str {
    json.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// The error in the terminal object.
fn failure(response: &Value) -> ErrorBody {
    let mut body = response.get("error").map(ErrorBody::from_value).unwrap_or_default();
    if body.text.is_empty() {
        let is_cancelled = text_of(response, "status") == "cancelled";
        body.text = format!("the answer was {}", if is_cancelled { "cancelled" } else { "given up" });
    }
    body
}

/// Reads token counts. The wire includes cached tokens in the input.
fn token_usage(usage: Option<&Value>) -> Option<TokenUsage> {
    let usage = usage.filter(|usage| usage.is_object())?;
    let count = |pointer: &str| usage.pointer(pointer).and_then(Value::as_u64);
    let cache_read = count("/input_tokens_details/cached_tokens");
    Some(TokenUsage {
        input: count("/input_tokens").map(|input| input.saturating_sub(cache_read.unwrap_or(0))),
        output: count("/output_tokens"),
        cache_read,
        cache_write: None,
        reasoning: count("/output_tokens_details/reasoning_tokens"),
        cost_microusd: cost_microusd(usage),
    })
}

#[cfg(test)]
#[path = "fold_tests.rs"]
mod tests;
