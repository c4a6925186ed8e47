//! Reads the most frequent chunk of a Gemini answer: one piece of text, and the counts so far.

use serde::Deserialize;

use super::counts::Counts;
use crate::fast_path::{self, Unusual};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Chunk {
    candidates: [Candidate; 1],
    usage_metadata: Option<Counts>,
    #[serde(rename = "promptFeedback")]
    _prompt_feedback: Option<Unusual>,
    #[serde(rename = "error")]
    _error: Option<Unusual>,
}

#[derive(Deserialize)]
struct Candidate {
    #[serde(default)]
    index: u64,
    content: Content,
    #[serde(rename = "finishReason")]
    _finish_reason: Option<Unusual>,
}

#[derive(Deserialize)]
struct Content {
    parts: [TextPart; 1],
}

/// A text part without further fields. A thought or a signature would make it another kind of part.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TextPart {
    text: String,
}

/// The piece of text and the counts, if `data` is such a chunk.
pub(super) fn text_of(data: &str) -> Option<(String, Option<Counts>)> {
    let Chunk { candidates: [candidate], usage_metadata, .. } = fast_path::read(data)?;
    let Content { parts: [part] } = candidate.content;
    (candidate.index == 0).then_some((part.text, usage_metadata))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chunk_with_text_and_counts_alone_is_usual() {
        let usual = r#"{"candidates":[{"content":{"parts":[{"text":"a\né"}],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":3,"x":[1]},"modelVersion":"m"}"#;
        let (text, counts) = text_of(usual).expect("usual");
        assert_eq!((text.as_str(), counts.and_then(|counts| counts.prompt)), ("a\né", Some(3)));
        let unusual = [
            r#"{"candidates":[{"content":{"parts":[{"text":"a","thought":true}]}}]}"#,
            r#"{"candidates":[{"content":{"parts":[{"text":"a","thoughtSignature":"x"}]}}]}"#,
            r#"{"candidates":[{"content":{"parts":[{"text":"a"},{"text":"b"}]}}]}"#,
            r#"{"candidates":[{"content":{"parts":[{"functionCall":{}}]}}]}"#,
            r#"{"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}]}"#,
            r#"{"candidates":[{"content":{"parts":[{"text":"a"}]},"index":1}]}"#,
            r#"{"candidates":[{"content":{"parts":[{"text":"a"}]}}],"usageMetadata":{"promptTokenCount":"3"}}"#,
            r#"{"candidates":[{"content":{"parts":[{"text":"a"}]}}],"error":{}}"#,
            r#"{"candidates":[]}"#,
        ];
        for data in unusual {
            assert!(text_of(data).is_none(), "{data}");
        }
    }
}
