//! Folds the lines of an Ollama chat answer into neutral events.

use std::sync::Arc;

use cohab_model_api::{ModelRequest, StopClass, TokenUsage, ToolCall};
use serde_json::{Value, json};

use super::{fast_path, request};
use crate::{
    error::ErrorBody,
    history,
    tool_arguments::{CallIds, EventText},
    wire::{End, Fold, Folded, MAX_CALLS, Options, Progress, Stopped},
};

/// Used part of a context, in percent, from which it counts as nearly full. The server cuts the rest without a notice.
const FULL_PERCENT: u64 = 90;

/// The state of an answer that is being read.
#[derive(Debug, Default)]
pub(super) struct LineFold {
    ids: CallIds,
    /// Size of the context in the request.
    context_window_tokens: u64,
    thinking: String,
    calls: Vec<ToolCall>,
    done_reason: Option<String>,
    has_failed: bool,
}

impl LineFold {
    /// Starts to read the answer to `request`.
    pub(super) fn new(request: &ModelRequest, options: &Options<'_>) -> Self {
        Self {
            ids: CallIds::beside(history::call_ids(&request.messages)),
            context_window_tokens: request::context_window_tokens(options),
            ..Self::default()
        }
    }

    fn fail(&mut self, failure: Folded, folded: &mut Vec<Folded>) {
        self.has_failed = true;
        folded.push(failure);
    }

    fn on_line(&mut self, line: &Value, text: &EventText<'_>, folded: &mut Vec<Folded>) {
        if line.get("error").is_some_and(|error| !error.is_null()) {
            return self.fail(Folded::Error(ErrorBody::from_value(line)), folded);
        }
        let piece = |pointer: &str| line.pointer(pointer).and_then(Value::as_str).filter(|piece| !piece.is_empty());
        if let Some(thinking) = piece("/message/thinking") {
            self.thinking.push_str(thinking);
            folded.push(Folded::Reasoning(thinking.to_owned()));
        }
        folded.extend(piece("/message/content").map(|content| Folded::Text(content.to_owned())));
        for call in line.pointer("/message/tool_calls").and_then(Value::as_array).into_iter().flatten() {
            if self.calls.len() == MAX_CALLS {
                return self.fail(Folded::Protocol(format!("sent more than {MAX_CALLS} tool calls")), folded);
            }
            self.on_call(call, text);
            folded.push(Folded::Hidden);
        }
        if line.get("done").and_then(Value::as_bool) == Some(true) {
            self.done_reason = Some(piece("/done_reason").unwrap_or_default().to_owned());
            self.on_counts(line, folded);
        }
    }

    /// Takes a call. Calls arrive whole; only newer servers send ids.
    fn on_call(&mut self, call: &Value, line: &EventText<'_>) {
        let text = |pointer: &str| call.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let args = line.arguments(call.pointer("/function/arguments"));
        self.calls.push(ToolCall {
            id: self.ids.claim(text("/id")),
            name: text("/function/name").to_owned(),
            args: args.map(Arc::new),
        });
    }

    /// Takes the counts. The server does not count a prompt whose beginning is still in its memory.
    fn on_counts(&mut self, line: &Value, folded: &mut Vec<Folded>) {
        let count = |key: &str| line.get(key).and_then(Value::as_u64);
        let (input, output) = (count("prompt_eval_count"), count("eval_count"));
        if input.is_some() || output.is_some() {
            folded.push(Folded::Usage(TokenUsage { input, output, ..TokenUsage::default() }));
        }
        let used = input.unwrap_or(0).saturating_add(output.unwrap_or(0));
        let window = self.context_window_tokens;
        if used.saturating_mul(100) >= window.saturating_mul(FULL_PERCENT) {
            folded.push(Folded::Notice(format!(
                "The context of {window} tokens is nearly full, and Ollama forgets what does not fit: raise \
                 `context_window_tokens` under [model], or start a new session."
            )));
        }
    }

    fn stop(&mut self, reason: &str) -> Vec<Folded> {
        let class = match reason {
            "length" => StopClass::Length,
            _ if !self.calls.is_empty() => StopClass::Tool,
            _ => StopClass::End,
        };
        // A cut answer may end inside a call.
        let has_void_calls = class == StopClass::Length && !self.calls.is_empty();
        let calls = std::mem::take(&mut self.calls);
        let calls = if has_void_calls { Vec::new() } else { calls };
        let goes_back = !calls.is_empty() && !self.thinking.is_empty();
        let message = goes_back.then(|| json!({"thinking": self.thinking}));
        let stop = Folded::Stop(Stopped { class, message, has_void_calls });
        calls.into_iter().map(Folded::Call).chain([stop]).collect()
    }
}

impl Fold for LineFold {
    fn on_event(&mut self, data: &str) -> Vec<Folded> {
        if let Some(content) = fast_path::text_of(data).filter(|_| self.progress() == Progress::Open) {
            return vec![Folded::Text(content)];
        }
        let mut folded = Vec::new();
        // One line, or all lines if a proxy holds the answer back until it is whole.
        let mut lines = serde_json::Deserializer::from_str(data).into_iter::<Value>();
        while self.progress() == Progress::Open {
            let start = lines.byte_offset();
            match lines.next() {
                Some(Ok(line)) => {
                    self.on_line(&line, &EventText::new(&data[start..lines.byte_offset()]), &mut folded);
                }
                Some(Err(error)) => {
                    self.fail(Folded::Protocol(format!("sent a line that is not JSON: {error}")), &mut folded);
                }
                None => break,
            }
        }
        folded
    }

    fn finish(&mut self, end: End) -> Vec<Folded> {
        if self.has_failed {
            return Vec::new();
        }
        if let Some(reason) = self.done_reason.take() {
            return self.stop(&reason);
        }
        vec![end.incomplete()]
    }

    fn progress(&self) -> Progress {
        if self.has_failed || self.done_reason.is_some() { Progress::Over } else { Progress::Open }
    }
}

#[cfg(test)]
#[path = "fold_tests.rs"]
mod tests;
