//! Collects and checks the arguments of tool calls: strict JSON objects or nothing. Only arguments of valid JSON are executed.

use std::{cell::OnceCell, collections::BTreeSet, fmt, io};

use cohab_model_api::{BrokenArguments, JsonObject};
use cohab_text::cut::head;
use serde::{
    Serialize,
    de::{Deserialize, DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Value};

/// Longest arguments of a call, in bytes of their JSON: the same limit as for a command.
pub const MAX_BYTES: usize = 4 * 1024 * 1024;
/// Longer arguments are kept once: not also in the service's own form, if that form adds nothing.
pub const LONG_BYTES: usize = 64 * 1024;
/// Bytes that are kept of refused arguments.
const REFUSED_BYTES: usize = 1024;

/// The text of a call's arguments as it arrives. Beyond [`MAX_BYTES`] only its start is kept, and the call is refused.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RawArguments {
    text: String,
    is_too_long: bool,
}

impl RawArguments {
    /// Takes a piece.
    pub fn push(&mut self, piece: &str) {
        if self.is_too_long {
            return;
        }
        if self.text.len() + piece.len() <= MAX_BYTES {
            self.text.push_str(piece);
            return;
        }
        let rest = REFUSED_BYTES.saturating_sub(self.text.len());
        let start = [head(&self.text, REFUSED_BYTES), head(piece, rest)].concat();
        *self = Self { text: start, is_too_long: true };
    }

    /// Replaces all earlier pieces with the whole text.
    pub fn set(&mut self, whole: &str) {
        *self = Self::default();
        self.push(whole);
    }

    /// Replaces all earlier pieces with the text of an object.
    pub fn set_object(&mut self, object: &Value) {
        match Bounded::of(object, MAX_BYTES) {
            Bounded { length, .. } if length > MAX_BYTES => {
                *self = Self { text: Bounded::of(object, REFUSED_BYTES).into_text(), is_too_long: true };
            }
            whole => *self = Self { text: whole.into_text(), is_too_long: false },
        }
    }

    /// Whether only the start was kept.
    pub fn is_too_long(&self) -> bool {
        self.is_too_long
    }

    /// The received text, or its start.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Parses the arguments: strict JSON that is not too long.
    pub fn parse(&self) -> Result<JsonObject, BrokenArguments> {
        if self.is_too_long { Err(too_long(self.text.clone())) } else { parse(&self.text) }
    }
}

/// The refusal of arguments for their length. `start` is the part that is kept.
pub(super) fn too_long(start: String) -> BrokenArguments {
    let error =
        format!("the arguments are longer than {MAX_BYTES} bytes; write the data into a file, in several calls");
    BrokenArguments { raw: start, error }
}

/// The part that is kept of refused arguments.
pub(super) fn start_of(object: &JsonObject) -> String {
    Bounded::of(object, REFUSED_BYTES).into_text()
}

/// Refuses arguments that are too long.
pub(super) fn check_length(object: &JsonObject) -> Result<(), BrokenArguments> {
    match Bounded::of(object, REFUSED_BYTES) {
        start if start.length > MAX_BYTES => Err(too_long(start.into_text())),
        _ => Ok(()),
    }
}

/// Keeps the first bytes of a text that is written, and counts its length.
struct Bounded {
    start: Vec<u8>,
    room: usize,
    length: usize,
}

impl Bounded {
    fn of(value: &impl Serialize, room: usize) -> Self {
        let mut bounded = Self { start: Vec::new(), room, length: 0 };
        // Neither the writer nor a value with string keys fails.
        let _ = serde_json::to_writer(&mut bounded, value);
        bounded
    }

    fn into_text(self) -> String {
        String::from_utf8(self.start).unwrap_or_else(|error| {
            let end = error.utf8_error().valid_up_to();
            String::from_utf8_lossy(&error.as_bytes()[..end]).into_owned()
        })
    }
}

impl io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(self.room - self.start.len());
        self.start.extend_from_slice(&bytes[..taken]);
        self.length += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Parses `raw`. An empty text and `null` mean no arguments; a string that holds an object is decoded once.
pub fn parse(raw: &str) -> Result<JsonObject, BrokenArguments> {
    let start = || head(raw, REFUSED_BYTES).to_owned();
    if raw.len() > MAX_BYTES {
        return Err(too_long(start()));
    }
    let broken = |error: String| BrokenArguments { raw: start(), error };
    if raw.trim().is_empty() {
        return Ok(Map::new());
    }
    match strict(raw).map_err(|error| broken(format!("the arguments are not valid JSON: {error}")))? {
        Value::Null => Ok(Map::new()),
        Value::Object(object) => Ok(object),
        Value::String(inner) => match strict(&inner) {
            Ok(Value::Object(object)) => Ok(object),
            _ => Err(broken("the arguments are a string, not a JSON object".to_owned())),
        },
        Value::Array(_) => Err(broken("the arguments are an array, not a JSON object".to_owned())),
        Value::Bool(_) | Value::Number(_) => Err(broken("the arguments are no JSON object".to_owned())),
    }
}

/// The text of an event that holds arguments.
pub struct EventText<'a> {
    text: &'a str,
    flaw: OnceCell<Option<String>>,
}

impl<'a> EventText<'a> {
    /// Wraps the text of an event that parses as JSON.
    pub fn new(text: &'a str) -> Self {
        Self { text, flaw: OnceCell::new() }
    }

    /// The arguments in the field `value` of the event: an object, or a string that holds one.
    pub fn arguments(&self, value: Option<&Value>) -> Result<JsonObject, BrokenArguments> {
        match value {
            None | Some(Value::Null) => Ok(Map::new()),
            Some(Value::String(text)) => parse(text),
            Some(Value::Object(object)) => {
                check_length(object)?;
                match self.flaw() {
                    None => Ok(object.clone()),
                    Some(flaw) => {
                        let error = format!("the arguments are not valid JSON: {flaw}");
                        Err(BrokenArguments { raw: start_of(object), error })
                    }
                }
            }
            Some(other) => parse(&other.to_string()),
        }
    }

    /// Reports a repeated key. The parsed event has kept one of two equal keys; only the text shows both.
    fn flaw(&self) -> Option<&str> {
        let flaw = self.flaw.get_or_init(|| strict(self.text).err().map(|error| error.to_string()));
        flaw.as_deref()
    }
}

fn strict(text: &str) -> Result<Value, serde_json::Error> {
    serde_json::from_str::<Strict>(text).map(|strict| strict.0)
}

/// A value without repeated keys in any object.
struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        StrictSeed.deserialize(deserializer).map(Self)
    }
}

struct StrictSeed;

impl<'de> DeserializeSeed<'de> for StrictSeed {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for StrictSeed {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        while let Some(item) = items.next_element_seed(StrictSeed)? {
            array.push(item);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            let value = entries.next_value_seed(StrictSeed)?;
            if object.contains_key(&key) {
                return Err(A::Error::custom(format_args!("the key {key:?} stands twice")));
            }
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}

/// Gives calls ids that are unique in the conversation, and equal for call and result.
#[derive(Debug, Default)]
pub struct CallIds {
    taken: BTreeSet<String>,
    next: usize,
}

impl CallIds {
    /// Starts with the ids of the conversation; new ids must not repeat them.
    pub fn beside<'a>(taken: impl IntoIterator<Item = &'a str>) -> Self {
        Self { taken: taken.into_iter().map(str::to_owned).collect(), next: 0 }
    }

    /// Returns `wire_id` if it is usable, else a new id.
    pub fn claim(&mut self, wire_id: &str) -> String {
        let mut id = wire_id.to_owned();
        while id.is_empty() || self.taken.contains(&id) {
            self.next += 1;
            id = format!("call_{}", self.next);
        }
        self.taken.insert(id.clone());
        id
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn no_arguments_come_in_four_forms() {
        for raw in ["", "  \n", "null", "{}"] {
            assert_eq!(parse(raw), Ok(Map::new()), "{raw:?}");
        }
    }

    #[test]
    fn a_string_that_holds_an_object_is_decoded_once() {
        let once = json!({"command": "ls"}).to_string();
        let twice = json!(once).to_string();
        assert_eq!(parse(&twice).expect("an object")["command"], "ls");
        assert!(parse(&json!(twice).to_string()).is_err());
        assert!(parse("\"ls\"").is_err());
    }

    #[test]
    fn whatever_is_no_strict_object_is_broken() {
        for raw in [
            "[1]",
            "7",
            "true",
            "{\"a\":1",
            "{\"a\":1} x",
            "{\"a\":1,\"a\":2}",
            "{\"a\":{\"b\":1,\"b\":1}}",
            "{'a':1}",
            "{\"a\":1}{\"a\":1}",
        ] {
            let broken = parse(raw).expect_err(raw);
            assert_eq!(broken.raw, raw);
            assert!(!broken.error.is_empty());
        }
    }

    #[test]
    fn arguments_inside_an_event_are_as_strict() {
        let read = |event: &str| {
            let value: Value = serde_json::from_str(event).expect("JSON");
            EventText::new(event).arguments(value.get("args"))
        };
        for event in ["{}", r#"{"args": null}"#, r#"{"args": {}}"#, r#"{"args": "{}"}"#] {
            assert_eq!(read(event), Ok(Map::new()), "{event}");
        }
        assert_eq!(read(r#"{"args": {"a": 1}}"#).expect("an object")["a"], 1);
        for event in [r#"{"args": {"a": 1, "a": 2}}"#, r#"{"args": [1]}"#, r#"{"args": "ls"}"#, r#"{"args": 7}"#] {
            assert!(read(event).is_err(), "{event}");
        }
    }

    #[test]
    fn text_arrives_byte_exact() {
        let command = format!("echo \u{1f600} \"quoted\" \\ \n{}", "x".repeat(100_000));
        let escaped = json!({"command": command}).to_string().replace('\u{1f600}', "\\ud83d\\ude00");
        assert_eq!(parse(&escaped).expect("an object")["command"], command);
    }

    #[test]
    fn made_ids_are_unique_and_leave_the_others_alone() {
        let mut ids = CallIds::beside(["call_1", "abc"]);
        assert_eq!(ids.claim(""), "call_2");
        assert_eq!(ids.claim("abc"), "call_3");
        assert_eq!(ids.claim("own"), "own");
        assert_eq!(ids.claim("own"), "call_4");
    }

    proptest! {
        #[test]
        fn any_text_is_parsed_or_refused(raw in ".*") {
            if let Ok(object) = parse(&raw) {
                let again = parse(&Value::Object(object.clone()).to_string());
                prop_assert_eq!(again, Ok(object));
            }
        }
    }
}
