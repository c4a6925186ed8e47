//! Collects the output items of an answer from events that name them in different ways, in the form that goes back later.

use cohab_model_api::AssistantMessage;
use serde_json::{Map, Value, json};

use crate::{tool_arguments::RawArguments, wire::MAX_CALLS};

/// Most items in one answer.
pub(super) const MAX_ITEMS: usize = 4 * MAX_CALLS;
/// Separates two messages of one answer, and two parts of its reasoning.
pub(super) const GAP: &str = "\n\n";

/// A message. Other kinds than the three here are kept as they are.
pub(super) const MESSAGE: &str = "message";
/// A tool call.
pub(super) const CALL: &str = "function_call";
/// Reasoning, mostly encrypted.
pub(super) const REASONING: &str = "reasoning";

/// An item being received.
#[derive(Debug, Default)]
pub(super) struct Item {
    index: Option<u64>,
    id: String,
    kind: String,
    /// The latest form of the item from the service.
    json: Map<String, Value>,
    /// Whether the service sent the item whole.
    pub(super) is_done: bool,
    /// Text and refusals shown so far.
    pub(super) shown_text: String,
    /// Reasoning shown so far.
    pub(super) shown_reasoning: String,
    /// Number of the part of the reasoning that was shown last.
    pub(super) reasoning_part: u64,
    /// Joined arguments.
    pub(super) args: RawArguments,
}

impl Item {
    /// The kind of the item.
    pub(super) fn kind(&self) -> &str {
        &self.kind
    }

    /// A text of the item.
    pub(super) fn field(&self, key: &str) -> &str {
        text_at(&self.json, key)
    }

    /// Takes the item from a later event, which is more complete. A whole item stays the same.
    pub(super) fn take(&mut self, json: &Map<String, Value>, is_done: bool) {
        if self.is_done {
            return;
        }
        self.is_done = is_done;
        self.json.clone_from(json);
        let is_call = self.kind == CALL;
        match self.json.get_mut("arguments").filter(|_| is_call) {
            Some(Value::String(text)) if !text.is_empty() => self.args.set(text),
            Some(object @ Value::Object(_)) => self.args.set_object(object),
            _ => return,
        }
        // The arguments are kept separately, and put back here when the item goes back.
        self.json.insert("arguments".to_owned(), Value::Null);
    }

    /// The parts of the item's text that no delta has shown, as `(kind of part, text)`.
    pub(super) fn unshown_parts(&self) -> Vec<(&str, &str)> {
        let mut shown = self.shown_text.as_str();
        let mut rest = Vec::new();
        for (kind, text) in parts(&self.json) {
            let common = if text.starts_with(shown) {
                shown.len()
            } else if shown.starts_with(text) {
                text.len()
            } else {
                break;
            };
            if let Some(unshown) = text.get(common..).filter(|unshown| !unshown.is_empty()) {
                rest.push((kind, unshown));
            }
            shown = shown.get(common..).unwrap_or_default();
        }
        rest
    }

    /// The reasoning in the item, if no delta has shown any.
    pub(super) fn unshown_reasoning(&self) -> Option<String> {
        if !self.shown_reasoning.is_empty() {
            return None;
        }
        let joined = |key: &str| {
            let texts = self.json.get(key).and_then(Value::as_array).into_iter().flatten();
            let texts: Vec<&str> = texts.filter_map(|part| part.get("text")).filter_map(Value::as_str).collect();
            texts.join(GAP)
        };
        [joined("summary"), joined("content")].into_iter().find(|text| !text.is_empty())
    }

    /// The item in the form that goes back, with `call_id` if it is a call; `None` if it never arrived whole and cannot be completed.
    pub(super) fn rebuild(&self, call_id: Option<&str>) -> Option<Value> {
        let mut json = self.json.clone();
        match (self.kind.as_str(), call_id) {
            (CALL, Some(call_id)) => {
                json.insert("type".to_owned(), json!(CALL));
                json.insert("call_id".to_owned(), json!(call_id));
                // Broken arguments would break the service's own template; the result reports the error to the model.
                let is_sound = !self.args.text().trim().is_empty() && self.args.parse().is_ok();
                json.insert("arguments".to_owned(), json!(if is_sound { self.args.text() } else { "{}" }));
            }
            _ if self.is_done => {}
            (MESSAGE, _) if !self.shown_text.is_empty() => {
                json.insert("type".to_owned(), json!(MESSAGE));
                json.insert("role".to_owned(), json!("assistant"));
                json.insert("content".to_owned(), json!([{"type": "output_text", "text": self.shown_text}]));
            }
            _ => return None,
        }
        if !self.is_done {
            json.insert("status".to_owned(), json!("completed"));
        }
        Some(Value::Object(json))
    }
}

/// All items of an answer, in order of arrival.
#[derive(Debug, Default)]
pub(super) struct Items(Vec<Item>);

/// More than [`MAX_ITEMS`] items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooManyItems;

impl Items {
    /// All items.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Item> {
        self.0.iter()
    }

    /// The item of an event about one of its parts; begins an item of `kind` if none exists.
    pub(super) fn of_part(&mut self, event: &Value, kind: &str) -> Result<&mut Item, TooManyItems> {
        self.of_named_part(index_of(event), event.get("item_id").and_then(Value::as_str).unwrap_or_default(), kind)
    }

    /// The same, for an explicit number and id.
    pub(super) fn of_named_part(
        &mut self,
        index: Option<u64>,
        id: &str,
        kind: &str,
    ) -> Result<&mut Item, TooManyItems> {
        let found = self.position(index, id, kind);
        // An event with unknown names, from a service that changes its ids, means the newest item.
        let newest = || self.0.iter().rposition(|item| index.is_none() && item.kind == kind && !item.is_done);
        match found.or_else(newest) {
            Some(position) => Ok(&mut self.0[position]),
            None => self.begin(index, id, kind),
        }
    }

    /// The item of an event with an `item`, the item's first event or (`is_done`) its last; begins the item if none exists.
    pub(super) fn of_item(
        &mut self,
        event: &Value,
        json: &Map<String, Value>,
        is_done: bool,
    ) -> Result<&mut Item, TooManyItems> {
        let (id, kind) = (text_at(json, "id"), text_at(json, "type"));
        let index = index_of(event);
        let call_id = text_at(json, "call_id");
        // Without a number and with an unknown id: calls are found by their own id, of the other kinds the open item is meant.
        let unnumbered = || match kind {
            _ if index.is_some() => None,
            CALL => self.0.iter().rposition(|item| !call_id.is_empty() && item.field("call_id") == call_id),
            _ => self.0.iter().rposition(|item| is_done && item.kind == kind && !item.is_done),
        };
        match self.position(index, id, kind).or_else(unnumbered) {
            Some(position) => Ok(&mut self.0[position]),
            None => self.begin(index, id, kind),
        }
    }

    /// The item for `json` of the terminal object: the same call, else the item with the same place among its kind, since the numbers and
    /// ids there may differ from those of the events.
    pub(super) fn of_terminal(&mut self, json: &Map<String, Value>, place: usize) -> Result<&mut Item, TooManyItems> {
        let (kind, call_id) = (text_at(json, "type"), text_at(json, "call_id"));
        let same_call = self.0.iter().position(|item| !call_id.is_empty() && item.field("call_id") == call_id);
        let same_place = || self.0.iter().enumerate().filter(|(_, item)| item.kind == kind).nth(place);
        match same_call.or_else(|| same_place().map(|(position, _)| position)) {
            Some(position) => Ok(&mut self.0[position]),
            None => self.begin(None, text_at(json, "id"), kind),
        }
    }

    /// Finds an item. A number is more reliable than an id: some services write another id in each event.
    fn position(&self, index: Option<u64>, id: &str, kind: &str) -> Option<usize> {
        let by_index = || self.0.iter().rposition(|item| item.index == index && item.kind == kind);
        let by_id = || {
            let is_it = |item: &Item| item.id == id && (index.is_none() || item.index.is_none());
            (!id.is_empty()).then(|| self.0.iter().rposition(is_it))?
        };
        index.and_then(|_| by_index()).or_else(by_id)
    }

    fn begin(&mut self, index: Option<u64>, id: &str, kind: &str) -> Result<&mut Item, TooManyItems> {
        if self.0.len() == MAX_ITEMS {
            return Err(TooManyItems);
        }
        self.0.push(Item { index, id: id.to_owned(), kind: kind.to_owned(), ..Item::default() });
        self.0.last_mut().ok_or(TooManyItems)
    }
}

fn index_of(event: &Value) -> Option<u64> {
    event.get("output_index").and_then(Value::as_u64)
}

fn text_at<'a>(json: &'a Map<String, Value>, key: &str) -> &'a str {
    json.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Kind and text of the parts of a message.
fn parts(json: &Map<String, Value>) -> impl Iterator<Item = (&str, &str)> {
    let is_message = text_at(json, "type") == MESSAGE;
    let content = json.get("content").filter(|_| is_message).and_then(Value::as_array).into_iter().flatten();
    content.filter_map(|part| match part.get("type")?.as_str()? {
        "output_text" => Some(("output_text", part.get("text")?.as_str()?)),
        "refusal" => Some(("refusal", part.get("refusal")?.as_str()?)),
        _ => None,
    })
}

/// The part of `own` that goes back in place of `assistant`, if that is still the same message. The service would refuse reasoning that
/// nothing follows, or that it could not read again.
pub(super) fn to_send_back<'a>(own: &'a [Value], assistant: &AssistantMessage) -> Option<&'a [Value]> {
    let objects = || own.iter().filter_map(Value::as_object);
    let calls = objects().filter(|item| text_at(item, "type") == CALL).map(|item| text_at(item, "call_id"));
    let texts: Vec<String> = objects().map(|item| parts(item).map(|(_, text)| text).collect()).collect();
    let texts: Vec<String> = texts.into_iter().filter(|text| !text.is_empty()).collect();
    let is_same = texts.join(GAP).trim() == assistant.text.trim()
        && calls.eq(assistant.tool_calls.iter().map(|call| call.id.as_str()));
    let is_reasoning = |item: &Value| item.get("type").is_some_and(|kind| kind == REASONING);
    let length = own.iter().rposition(|item| !is_reasoning(item)).map_or(0, |last| last + 1);
    let is_readable = own.iter().take(length).filter(|item| is_reasoning(item)).all(|item| {
        let is_filled =
            |key: &str| item.get(key).is_some_and(|value| !matches!(value.as_str(), Some("")) && !value.is_null());
        is_filled("encrypted_content")
            || item.get("content").and_then(Value::as_array).is_some_and(|parts| !parts.is_empty())
    });
    own.get(..length).filter(|sent| is_same && is_readable && !sent.is_empty())
}
