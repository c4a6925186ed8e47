//! Reads the most frequent event of a Messages answer: a piece of text.

use serde::Deserialize;

use crate::fast_path::{self, Unusual};

#[derive(Deserialize)]
struct DeltaEvent<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    index: u64,
    #[serde(borrow)]
    delta: Delta<'a>,
    #[serde(rename = "error")]
    _error: Option<Unusual>,
}

#[derive(Deserialize)]
struct Delta<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    text: String,
}

/// The piece of text and the number of its block, if `data` is such an event.
pub(super) fn text_of(data: &str) -> Option<(u64, String)> {
    let event: DeltaEvent<'_> = fast_path::read(data)?;
    let is_text = event.kind == "content_block_delta" && event.delta.kind == "text_delta";
    is_text.then_some((event.index, event.delta.text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delta_of_text_alone_is_usual() {
        let usual = r#"{"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"a\né"}}"#;
        assert_eq!(text_of(usual), Some((2, "a\né".to_owned())));
        let unusual = [
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","text":"a"}}"#,
            r#"{"type":"content_block_start","index":0,"delta":{"type":"text_delta","text":"a"}}"#,
            r#"{"type":"content_block_delta","delta":{"type":"text_delta","text":"a"}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta"}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"},"error":{}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}} x"#,
        ];
        for data in unusual {
            assert_eq!(text_of(data), None, "{data}");
        }
    }
}
