//! Folds the chunks of a generateContent answer into neutral events.

use cohab_model_api::{StopClass, TokenUsage};
use serde_json::Value;

use super::{counts::Counts, fast_path, parts::Parts};
use crate::{
    error::ErrorBody,
    tool_arguments::{CallIds, EventText},
    wire::{End, Fold, Folded, Progress, Stopped},
};

/// Reasons of stops by a filter.
const FILTERS: &[&str] = &[
    "SAFETY",
    "RECITATION",
    "LANGUAGE",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "SPII",
    "IMAGE_SAFETY",
    "IMAGE_PROHIBITED_CONTENT",
    "IMAGE_RECITATION",
];
/// Reasons of stops after a call that the service could not read.
const REJECTED_CALLS: &[&str] =
    &["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "MALFORMED_RESPONSE"];
/// The code that makes the agent ask the model to write its call again.
const REJECTED_CODE: &str = "tool_use_failed";

/// The state of an answer that is being read.
#[derive(Debug, Default)]
pub(super) struct ContentFold {
    ids: CallIds,
    parts: Parts,
    usage: Counts,
    finish_reason: Option<String>,
    has_failed: bool,
}

impl ContentFold {
    /// Starts with the call ids of the conversation; new ids must not repeat them.
    pub(super) fn beside<'a>(taken: impl IntoIterator<Item = &'a str>) -> Self {
        Self { ids: CallIds::beside(taken), ..Self::default() }
    }

    fn fail(&mut self, failure: Folded, folded: &mut Vec<Folded>) {
        self.has_failed = true;
        folded.push(failure);
    }

    fn on_chunk(&mut self, chunk: &Value, event: &EventText<'_>, folded: &mut Vec<Folded>) {
        if chunk.get("error").is_some_and(|error| !error.is_null()) {
            return self.fail(Folded::Error(ErrorBody::from_value(chunk)), folded);
        }
        // Usage comes before the parts: the parts may end in a failure, and its tokens count.
        folded.extend(self.on_usage(chunk.get("usageMetadata")));
        let candidates = chunk.get("candidates").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        for candidate in candidates {
            if candidate.get("index").and_then(Value::as_u64).unwrap_or(0) == 0 && !self.has_failed {
                self.on_candidate(candidate, event, folded);
            }
        }
        let block_reason = chunk.pointer("/promptFeedback/blockReason").and_then(Value::as_str);
        if let (Some(reason), true, false) = (block_reason, candidates.is_empty(), self.has_failed) {
            let message = chunk.pointer("/promptFeedback/blockReasonMessage").and_then(Value::as_str);
            let text = format!("The service's filter stopped the question: {}", message.unwrap_or(reason));
            folded.push(Folded::Refusal(text));
            self.finish_reason = Some("SAFETY".to_owned());
        }
    }

    fn on_candidate(&mut self, candidate: &Value, event: &EventText<'_>, folded: &mut Vec<Folded>) {
        let parts = candidate.pointer("/content/parts").and_then(Value::as_array);
        for part in parts.into_iter().flatten().filter_map(Value::as_object) {
            match self.parts.push(part, event) {
                Ok(shown) => folded.extend(shown),
                Err(what) => return self.fail(Folded::Protocol(what), folded),
            }
        }
        let reason = candidate.get("finishReason").and_then(Value::as_str);
        let Some(reason) = reason.filter(|reason| !matches!(*reason, "" | "FINISH_REASON_UNSPECIFIED")) else { return };
        let message = candidate.get("finishMessage").and_then(Value::as_str).filter(|text| !text.trim().is_empty());
        if REJECTED_CALLS.contains(&reason) {
            let text = message.unwrap_or(reason).to_owned();
            let body = ErrorBody { codes: REJECTED_CODE.to_owned(), text, ..ErrorBody::default() };
            return self.fail(Folded::Error(body), folded);
        }
        if FILTERS.contains(&reason) && self.finish_reason.as_deref() != Some(reason) {
            let gap = if self.parts.has_text() { "\n\n" } else { "" };
            let text = format!("{gap}The service's filter stopped the answer: {}", message.unwrap_or(reason));
            folded.push(Folded::Refusal(text));
        }
        self.finish_reason = Some(reason.to_owned());
    }

    fn on_usage(&mut self, usage: Option<&Value>) -> Option<Folded> {
        let usage = usage.filter(|usage| usage.is_object())?;
        let count = |key: &str| usage.get(key).and_then(Value::as_u64);
        Some(self.on_counts(Counts {
            prompt: count("promptTokenCount"),
            cached: count("cachedContentTokenCount"),
            candidates: count("candidatesTokenCount"),
            thoughts: count("thoughtsTokenCount"),
        }))
    }

    fn on_counts(&mut self, new: Counts) -> Folded {
        let Counts { prompt, cached, candidates, thoughts } = self.usage;
        self.usage = Counts {
            prompt: new.prompt.or(prompt),
            cached: new.cached.or(cached),
            candidates: new.candidates.or(candidates),
            thoughts: new.thoughts.or(thoughts),
        };
        let Counts { prompt, cached, candidates, thoughts } = self.usage;
        // The wire includes cached tokens in the prompt, but does not include thoughts in the answer.
        Folded::Usage(TokenUsage {
            input: prompt.map(|prompt| prompt.saturating_sub(cached.unwrap_or(0))),
            output: [candidates, thoughts].into_iter().flatten().reduce(u64::saturating_add),
            cache_read: cached,
            reasoning: thoughts,
            ..TokenUsage::default()
        })
    }

    fn on_text(&mut self, text: String, counts: Option<Counts>) -> Vec<Folded> {
        let mut folded: Vec<Folded> = counts.map(|counts| self.on_counts(counts)).into_iter().collect();
        match self.parts.push_text(&text) {
            Ok(()) if text.is_empty() => {}
            Ok(()) => folded.push(Folded::Text(text)),
            Err(what) => self.fail(Folded::Protocol(what), &mut folded),
        }
        folded
    }

    fn stop(&mut self, reason: &str) -> Vec<Folded> {
        let parts = std::mem::take(&mut self.parts);
        let class = match reason {
            "MAX_TOKENS" => StopClass::Length,
            filter if FILTERS.contains(&filter) => StopClass::Refusal,
            _ if parts.has_calls() => StopClass::Tool,
            _ => StopClass::End,
        };
        // A cut or filtered answer may end inside a call.
        let has_void_calls = parts.has_calls() && matches!(class, StopClass::Length | StopClass::Refusal);
        let (calls, own) = parts.finish(&mut self.ids);
        let (calls, message) = if has_void_calls { (Vec::new(), None) } else { (calls, Some(own)) };
        let stop = Folded::Stop(Stopped { class, message, has_void_calls });
        calls.into_iter().map(Folded::Call).chain([stop]).collect()
    }
}

impl Fold for ContentFold {
    fn on_event(&mut self, data: &str) -> Vec<Folded> {
        let mut folded = Vec::new();
        if self.has_failed || matches!(data.trim(), "" | "[DONE]") {
            return folded;
        }
        if let Some((text, counts)) = fast_path::text_of(data) {
            return self.on_text(text, counts);
        }
        let event = EventText::new(data);
        match serde_json::from_str::<Value>(data) {
            // The whole answer, if no stream was requested or a gateway does not support streams.
            Ok(Value::Array(chunks)) => {
                for chunk in chunks {
                    if !self.has_failed {
                        self.on_chunk(&chunk, &event, &mut folded);
                    }
                }
            }
            Ok(chunk) => self.on_chunk(&chunk, &event, &mut folded),
            Err(error) if self.finish_reason.is_some() => tracing::debug!(%error, "garbage after the end of an answer"),
            Err(error) => {
                self.fail(Folded::Protocol(format!("sent an event that is not JSON: {error}")), &mut folded);
            }
        }
        folded
    }

    fn finish(&mut self, end: End) -> Vec<Folded> {
        if self.has_failed {
            return Vec::new();
        }
        if let Some(reason) = self.finish_reason.take() {
            return self.stop(&reason);
        }
        vec![end.incomplete()]
    }

    fn progress(&self) -> Progress {
        if self.has_failed {
            Progress::Over
        } else if self.finish_reason.is_some() {
            Progress::Complete
        } else {
            Progress::Open
        }
    }
}

#[cfg(test)]
#[path = "fold_tests.rs"]
mod tests;
