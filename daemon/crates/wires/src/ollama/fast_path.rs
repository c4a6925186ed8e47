//! Reads the most frequent line of an Ollama answer: a piece of the content.

use serde::Deserialize;

use crate::fast_path::{self, Unusual};

#[derive(Deserialize)]
struct AnswerLine {
    message: Message,
    #[serde(default)]
    done: bool,
    #[serde(rename = "error")]
    _error: Option<Unusual>,
}

#[derive(Deserialize)]
struct Message {
    content: String,
    #[serde(rename = "thinking")]
    _thinking: Option<Unusual>,
    #[serde(rename = "tool_calls")]
    _tool_calls: Option<Unusual>,
}

/// The piece of text, if `data` is such a line.
pub(super) fn text_of(data: &str) -> Option<String> {
    let line: AnswerLine = fast_path::read(data)?;
    (!line.done && !line.message.content.is_empty()).then_some(line.message.content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_with_content_alone_is_usual() {
        let usual = r#"{"model":"m","message":{"role":"assistant","content":"a\né"},"done":false}"#;
        assert_eq!(text_of(usual).as_deref(), Some("a\né"));
        let unusual = [
            r#"{"message":{"content":"a"},"done":true}"#,
            r#"{"message":{"content":""},"done":false}"#,
            r#"{"message":{"content":"a","thinking":"b"},"done":false}"#,
            r#"{"message":{"content":"a","tool_calls":[]},"done":false}"#,
            r#"{"message":{"content":"a"},"error":"b"}"#,
            r#"{"message":{"content":"a"}}{"message":{"content":"b"}}"#,
        ];
        for data in unusual {
            assert_eq!(text_of(data), None, "{data}");
        }
    }
}
