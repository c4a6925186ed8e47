//! Collects the result of an answer, for tests of folds.

use bytes::Bytes;
use cohab_model_api::{StopClass, TokenUsage};
use futures::{FutureExt as _, stream};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{
    sse::Payloads,
    wire::{End, Fold, Folded, Framing, Stopped},
};

/// The complete result of an answer.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Answer {
    pub(super) text: String,
    pub(super) reasoning: String,
    pub(super) refusal: String,
    pub(super) notices: Vec<String>,
    /// Id, name and arguments as JSON.
    pub(super) calls: Vec<(String, String, String)>,
    pub(super) usage: TokenUsage,
    pub(super) end: Option<Folded>,
}

impl Answer {
    /// The class of the stop, if the answer is complete.
    pub(super) fn class(&self) -> Option<StopClass> {
        self.stopped().map(|stopped| stopped.class)
    }

    /// The stop, if the answer is complete.
    pub(super) fn stopped(&self) -> Option<&Stopped> {
        match &self.end {
            Some(Folded::Stop(stopped)) => Some(stopped),
            _ => None,
        }
    }

    fn take(&mut self, item: Folded) {
        assert!(self.end.is_none(), "{item:?} after the end");
        match item {
            Folded::Text(text) => self.text.push_str(&text),
            Folded::Reasoning(text) => self.reasoning.push_str(&text),
            Folded::Refusal(text) => self.refusal.push_str(&text),
            Folded::Notice(text) => self.notices.push(text),
            Folded::Usage(usage) => self.usage = usage,
            Folded::Call(call) => {
                let args =
                    call.args.map_or_else(|broken| format!("broken: {}", broken.error), |args| json!(args).to_string());
                self.calls.push((call.id, call.name, args));
            }
            Folded::Hidden | Folded::Learned(_) => {}
            end => self.end = Some(end),
        }
    }
}

/// A call in the form of [`Answer::calls`].
pub(super) fn call(id: &str, name: &str, args: &str) -> (String, String, String) {
    (id.to_owned(), name.to_owned(), args.to_owned())
}

/// Folds whole events up to a clean end.
pub(super) fn fold_events(mut fold: Box<dyn Fold>, events: &[Value]) -> Answer {
    let mut answer = Answer::default();
    for event in events {
        fold.on_event(&event.to_string()).into_iter().for_each(|item| answer.take(item));
    }
    fold.finish(End::Clean).into_iter().for_each(|item| answer.take(item));
    answer
}

/// Folds the received bytes of an answer.
pub(super) fn fold_bytes(mut fold: Box<dyn Fold>, bytes: &[u8], framing: Framing) -> Answer {
    let chunk: Result<Bytes, String> = Ok(Bytes::copy_from_slice(bytes));
    let mut payloads = Payloads::new(stream::iter([chunk]), framing);
    let mut answer = Answer::default();
    while let Some(payload) = payloads.next().now_or_never().expect("all bytes are there") {
        let payload = payload.expect("the bytes are short");
        fold.on_event(&payload).into_iter().for_each(|item| answer.take(item));
    }
    fold.finish(End::Clean).into_iter().for_each(|item| answer.take(item));
    answer
}

/// JSON of any shape with the words of a wire.
pub(super) fn json_in(words: &'static [&'static str]) -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        prop::sample::select(words).prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 48, 5, move |inner| {
        let entries = prop::collection::vec((prop::sample::select(words), inner.clone()), 0..5);
        let object =
            entries.prop_map(|entries| entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect());
        prop_oneof![1 => prop::collection::vec(inner, 0..4).prop_map(Value::Array), 3 => object.prop_map(Value::Object)]
    })
}

/// Checks the invariants of every answer, for any output of the service.
pub(super) fn is_sound(answer: &Answer) -> bool {
    let is_complete = answer.class().is_some();
    answer.end.is_some() && (is_complete || answer.calls.is_empty())
}
