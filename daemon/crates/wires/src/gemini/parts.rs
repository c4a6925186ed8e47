//! Collects the parts of an answer in the form in which each can go back: a signature belongs to its own part only.

use std::sync::Arc;

use cohab_model_api::{BrokenArguments, JsonObject, ToolCall};
use serde_json::{Map, Value, json};

use super::arguments::{PartialArguments, whole_numbers};
use crate::{
    tool_arguments::{CallIds, EventText},
    wire::{Folded, MAX_CALLS},
};

/// Most parts in one answer; neighbouring texts count as one.
const MAX_PARTS: usize = 8 * MAX_CALLS;
/// Keys of parts with text only.
const TEXT_KEYS: &[&str] = &["text", "thought"];

/// All parts so far, in order.
#[derive(Debug, Default)]
pub(super) struct Parts {
    parts: Vec<ContentPart>,
    calls: usize,
}

#[derive(Debug)]
enum ContentPart {
    /// Text, a thought, or a part specific to the service.
    Plain(Map<String, Value>),
    Call(Box<Call>),
}

/// A call under construction.
#[derive(Debug)]
struct Call {
    /// The part without its `functionCall`: the signature.
    beside: Map<String, Value>,
    /// The `functionCall` without the fields that build its arguments.
    function: Map<String, Value>,
    args: Args,
    /// Whether more of the call is announced.
    is_open: bool,
}

#[derive(Debug)]
enum Args {
    Whole(Result<JsonObject, BrokenArguments>),
    Pieces(PartialArguments),
}

impl Parts {
    /// Takes one part of `event` and returns its visible content.
    ///
    /// # Errors
    /// The service's mistake; continues "Service (host) ...".
    pub(super) fn push(&mut self, part: &Map<String, Value>, event: &EventText<'_>) -> Result<Option<Folded>, String> {
        self.check_room()?;
        if let Some(function) = part.get("functionCall").and_then(Value::as_object) {
            self.on_call(part, function, event)?;
            return Ok(Some(Folded::Hidden));
        }
        let text = part.get("text").and_then(Value::as_str);
        self.push_plain(part, text.unwrap_or_default());
        Ok(match text {
            None => Some(Folded::Hidden),
            Some("") => part.contains_key("thoughtSignature").then_some(Folded::Hidden),
            Some(text) if is_thought(part) => Some(Folded::Reasoning(text.to_owned())),
            Some(text) => Some(Folded::Text(text.to_owned())),
        })
    }

    /// Takes a part with text only.
    ///
    /// # Errors
    /// As [`push`](Self::push).
    pub(super) fn push_text(&mut self, text: &str) -> Result<(), String> {
        self.check_room()?;
        if let Some(ContentPart::Plain(last)) = self.parts.last_mut()
            && is_only_text(last)
            && !is_thought(last)
            && let Some(Value::String(joined)) = last.get_mut("text")
        {
            joined.push_str(text);
        } else {
            self.parts.push(ContentPart::Plain(Map::from_iter([("text".to_owned(), json!(text))])));
        }
        Ok(())
    }

    fn check_room(&self) -> Result<(), String> {
        let is_full = self.parts.len() == MAX_PARTS;
        if is_full { Err(format!("sent more than {MAX_PARTS} parts")) } else { Ok(()) }
    }

    /// Joins pieces of text into one part, unless a piece carries more than its text.
    fn push_plain(&mut self, part: &Map<String, Value>, text: &str) {
        if let Some(ContentPart::Plain(last)) = self.parts.last_mut()
            && is_only_text(last)
            && is_only_text(part)
            && is_thought(last) == is_thought(part)
            && let Some(Value::String(joined)) = last.get_mut("text")
        {
            joined.push_str(text);
        } else {
            self.parts.push(ContentPart::Plain(part.clone()));
        }
    }

    fn on_call(
        &mut self,
        part: &Map<String, Value>,
        function: &Map<String, Value>,
        event: &EventText<'_>,
    ) -> Result<(), String> {
        let is_open = function.get("willContinue").and_then(Value::as_bool).unwrap_or(false);
        let pieces = function.get("partialArgs").and_then(Value::as_array);
        if text_of(function, "name").is_empty() || pieces.is_some() {
            if let Some(call) = self.last_call().filter(|call| call.is_continued_by(function)) {
                call.take(part, function);
                return Ok(());
            }
            if function.is_empty() {
                // The end mark of a call that was already whole.
                return Ok(());
            }
        }
        if self.calls == MAX_CALLS {
            return Err(format!("sent more than {MAX_CALLS} tool calls"));
        }
        let args = if is_open || pieces.is_some() {
            Args::Pieces(PartialArguments::default())
        } else {
            let args = event.arguments(function.get("args"));
            Args::Whole(args.map(|args| args.into_iter().map(|(name, value)| (name, whole_numbers(value))).collect()))
        };
        let mut call = Call { beside: Map::new(), function: Map::new(), args, is_open };
        call.take(part, function);
        self.calls += 1;
        self.parts.push(ContentPart::Call(Box::new(call)));
        Ok(())
    }

    fn last_call(&mut self) -> Option<&mut Call> {
        self.parts.iter_mut().rev().find_map(|part| match part {
            ContentPart::Call(call) => Some(call.as_mut()),
            ContentPart::Plain(_) => None,
        })
    }

    /// Whether calls arrived.
    pub(super) fn has_calls(&self) -> bool {
        self.calls > 0
    }

    /// Whether text arrived that is not a thought.
    pub(super) fn has_text(&self) -> bool {
        self.parts.iter().any(|part| match part {
            ContentPart::Plain(part) => !is_thought(part) && !text_of(part, "text").is_empty(),
            ContentPart::Call(_) => false,
        })
    }

    /// The calls, and the parts in the form that goes back.
    pub(super) fn finish(self, ids: &mut CallIds) -> (Vec<ToolCall>, Value) {
        let (mut calls, mut own) = (Vec::new(), Vec::new());
        for part in self.parts {
            match part {
                // The service ignores thoughts without a signature, and refuses parts without content.
                ContentPart::Plain(part)
                    if is_only_text(&part) && (is_thought(&part) || text_of(&part, "text").is_empty()) => {}
                ContentPart::Plain(part) => own.push(Value::Object(part)),
                ContentPart::Call(call) => {
                    let (call, part) = call.finish(ids);
                    calls.push(call);
                    own.push(Value::Object(part));
                }
            }
        }
        (calls, Value::Array(own))
    }
}

impl Call {
    /// A piece may repeat the name; a second call of the same tool begins with the name alone.
    fn is_continued_by(&self, function: &Map<String, Value>) -> bool {
        let agrees = |key: &str| {
            let (own, other) = (text_of(&self.function, key), text_of(function, key));
            other.is_empty() || own.is_empty() || own == other
        };
        let is_nameless = text_of(function, "name").is_empty();
        matches!(self.args, Args::Pieces(_)) && (self.is_open || is_nameless) && agrees("name") && agrees("id")
    }

    fn take(&mut self, part: &Map<String, Value>, function: &Map<String, Value>) {
        for (into, from, apart) in [
            (&mut self.beside, part, &["functionCall"][..]),
            (&mut self.function, function, &["args", "partialArgs", "willContinue"][..]),
        ] {
            let kept = from.iter().filter(|(key, value)| !apart.contains(&key.as_str()) && !value.is_null());
            into.extend(kept.map(|(key, value)| (key.clone(), value.clone())));
        }
        self.is_open = function.get("willContinue").and_then(Value::as_bool).unwrap_or(false);
        if let Args::Pieces(args) = &mut self.args {
            function.get("args").and_then(Value::as_object).into_iter().for_each(|whole| args.start_with(whole));
            let pieces = function.get("partialArgs").and_then(Value::as_array);
            pieces.into_iter().flatten().for_each(|piece| args.push(piece));
        }
    }

    fn finish(self, ids: &mut CallIds) -> (ToolCall, Map<String, Value>) {
        let Self { mut beside, mut function, args, .. } = self;
        let args = match args {
            Args::Whole(args) => args,
            Args::Pieces(args) => args.finish(),
        };
        let own_id = text_of(&function, "id").to_owned();
        let call =
            ToolCall { id: ids.claim(&own_id), name: text_of(&function, "name").to_owned(), args: args.map(Arc::new) };
        if !own_id.is_empty() {
            function.insert("id".to_owned(), json!(call.id));
        }
        let sent_args = call.args.clone().unwrap_or_default();
        function.insert("args".to_owned(), json!(sent_args));
        beside.insert("functionCall".to_owned(), Value::Object(function));
        (call, beside)
    }
}

fn is_thought(part: &Map<String, Value>) -> bool {
    part.get("thought").and_then(Value::as_bool).unwrap_or(false)
}

fn is_only_text(part: &Map<String, Value>) -> bool {
    part.contains_key("text") && part.keys().all(|key| TEXT_KEYS.contains(&key.as_str()))
}

fn text_of<'a>(object: &'a Map<String, Value>, key: &str) -> &'a str {
    object.get(key).and_then(Value::as_str).unwrap_or_default()
}
