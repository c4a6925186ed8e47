//! Reads the most frequent event of a Responses answer: a piece of the text of a message.

use serde::Deserialize;
use serde_json::Value;

use crate::fast_path;

#[derive(Deserialize)]
struct DeltaEvent<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    output_index: Option<u64>,
    #[serde(default)]
    item_id: &'a str,
    delta: String,
}

/// A piece of text and the item of it.
pub(super) struct TextDelta<'a> {
    pub(super) index: Option<u64>,
    pub(super) item_id: &'a str,
    pub(super) text: String,
}

impl<'a> TextDelta<'a> {
    /// Reads any event with a `delta`.
    pub(super) fn of(event: &'a Value) -> Self {
        let text = |key: &str| event.get(key).and_then(Value::as_str).unwrap_or_default();
        let index = event.get("output_index").and_then(Value::as_u64);
        Self { index, item_id: text("item_id"), text: text("delta").to_owned() }
    }
}

/// The piece of text, if `data` is such an event.
pub(super) fn text_of(data: &str) -> Option<TextDelta<'_>> {
    let DeltaEvent { kind, output_index: index, item_id, delta: text } = fast_path::read(data)?;
    (kind == "response.output_text.delta").then_some(TextDelta { index, item_id, text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delta_of_text_is_usual() {
        let usual =
            r#"{"type":"response.output_text.delta","item_id":"m","output_index":2,"delta":"a\né","logprobs":[]}"#;
        let delta = text_of(usual).expect("usual");
        assert_eq!((delta.index, delta.item_id, delta.text.as_str()), (Some(2), "m", "a\né"));
        let unusual = [
            r#"{"type":"response.refusal.delta","output_index":2,"delta":"a"}"#,
            r#"{"type":"response.output_text.delta","output_index":"2","delta":"a"}"#,
            r#"{"type":"response.output_text.delta","output_index":2,"delta":{}}"#,
            r#"{"type":"response.output_text.delta","output_index":2}"#,
        ];
        for data in unusual {
            assert!(text_of(data).is_none(), "{data}");
        }
    }
}
