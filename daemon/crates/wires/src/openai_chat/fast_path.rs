//! Reads the most frequent chunk of a Chat Completions answer: a piece of the content, and nothing else of meaning.

use serde::Deserialize;

use crate::fast_path::{self, Unusual};

#[derive(Deserialize)]
struct Chunk {
    choices: [Choice; 1],
    #[serde(rename = "error")]
    _error: Option<Unusual>,
    #[serde(rename = "usage")]
    _usage: Option<Unusual>,
    #[serde(rename = "x_groq")]
    _x_groq: Option<Unusual>,
}

#[derive(Deserialize)]
struct Choice {
    #[serde(default)]
    index: u64,
    delta: Delta,
    #[serde(rename = "finish_reason")]
    _finish_reason: Option<Unusual>,
}

#[derive(Deserialize)]
struct Delta {
    content: String,
    #[serde(rename = "reasoning_content")]
    _reasoning_content: Option<Unusual>,
    #[serde(rename = "reasoning")]
    _reasoning: Option<Unusual>,
    #[serde(rename = "reasoning_details")]
    _reasoning_details: Option<Unusual>,
    #[serde(rename = "refusal")]
    _refusal: Option<Unusual>,
    #[serde(rename = "tool_calls")]
    _tool_calls: Option<Unusual>,
}

/// The piece of text, if `data` is such a chunk.
pub(super) fn text_of(data: &str) -> Option<String> {
    let Chunk { choices: [choice], .. } = fast_path::read(data)?;
    (choice.index == 0).then_some(choice.delta.content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chunk_with_text_alone_is_usual() {
        let usual = r#"{"id":"x","choices":[{"index":0,"delta":{"role":"assistant","content":"a\né","refusal":null},"logprobs":null,"finish_reason":null}],"usage":null}"#;
        assert_eq!(text_of(usual).as_deref(), Some("a\né"));
        assert_eq!(text_of(r#"{"choices":[{"delta":{"content":""}}]}"#).as_deref(), Some(""));
    }

    #[test]
    fn whatever_else_counts_makes_it_unusual() {
        let unusual = [
            r#"{"choices":[{"index":1,"delta":{"content":"a"}}]}"#,
            r#"{"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}"#,
            r#"{"choices":[{"index":0,"delta":{"content":"a","reasoning":"b"}}]}"#,
            r#"{"choices":[{"index":0,"delta":{"content":"a","tool_calls":[]}}]}"#,
            r#"{"choices":[{"index":0,"delta":{"content":"a","refusal":""}}]}"#,
            r#"{"choices":[{"index":0,"delta":{"content":["a"]}}]}"#,
            r#"{"choices":[{"index":0,"delta":{"content":"a"}}],"usage":{}}"#,
            r#"{"choices":[{"index":0,"delta":{"content":"a"}}],"error":"x"}"#,
            r#"{"choices":[{"delta":{"content":"a"}},{"delta":{"content":"b"}}]}"#,
            r#"{"choices":[{"delta":{"content":"a"}}]} x"#,
            r#"{"choices":[]}"#,
            "[DONE]",
        ];
        for data in unusual {
            assert_eq!(text_of(data), None, "{data}");
        }
    }
}
