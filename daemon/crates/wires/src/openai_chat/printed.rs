//! Recognizes a tool call that a model wrote into its text, as small models do if their server does not translate calls. Such a call is
//! shown and never run: only calls that the service itself marks as calls run.

use serde_json::Value;

/// Texts that chat templates put before a call, at the start of a line.
const MARKS: &[&str] = &[
    "<tool_call>",
    "<function_call>",
    "<function=",
    "<|tool_call",
    "<|python_tag|>",
    "[TOOL_CALLS]",
    "<\u{ff5c}tool\u{2581}calls\u{2581}begin\u{ff5c}>",
];
/// Longest text that is checked; a longer text is not a call.
const MAX_CALL_BYTES: usize = 64 * 1024;
/// The notice for the user.
pub(super) const NOTICE: &str = "The model wrote a tool call as text, and nothing was run: switch on tool calling in its server \
    (llama.cpp: --jinja, vLLM: --enable-auto-tool-choice) or choose another model.";

/// Whether `text` contains a call of one of `tools`.
pub(super) fn has_call(text: &str, tools: &[String]) -> bool {
    !tools.is_empty() && (has_mark(text) || is_call(text.trim(), tools))
}

fn has_mark(text: &str) -> bool {
    let mut in_fence = false;
    for line in text.lines().map(str::trim_start) {
        if line.starts_with("```") {
            in_fence = !in_fence;
        } else if !in_fence && MARKS.iter().any(|mark| line.starts_with(mark)) {
            return true;
        }
    }
    false
}

/// Whether the text is only a call, with or without a code fence.
fn is_call(text: &str, tools: &[String]) -> bool {
    let fenced = text.strip_prefix("```").and_then(|text| text.strip_suffix("```"));
    let text = fenced.map_or(text, |text| text.trim_start_matches(char::is_alphabetic).trim());
    if text.len() > MAX_CALL_BYTES || !text.starts_with(['{', '[']) {
        return false;
    }
    let Ok(value) = serde_json::from_str::<Value>(text) else { return false };
    let calls = value.as_array().map_or(std::slice::from_ref(&value), Vec::as_slice);
    !calls.is_empty() && calls.iter().all(|call| names_tool(call, tools))
}

fn names_tool(call: &Value, tools: &[String]) -> bool {
    let call = call.get("function").filter(|function| function.is_object()).unwrap_or(call);
    let name = call.get("name").and_then(Value::as_str);
    let has_arguments = ["arguments", "parameters"].iter().any(|key| call.get(key).is_some());
    has_arguments && name.is_some_and(|name| tools.iter().any(|tool| tool == name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_known_by_their_marks_and_by_their_shape() {
        let tools = ["bash".to_owned()];
        for text in [
            "<tool_call>\n{\"name\": \"bash\", \"arguments\": {}}\n</tool_call>",
            "I will look.\n  [TOOL_CALLS] [{\"name\": \"bash\"}]",
            "{\"name\":\"bash\",\"arguments\":{\"command\":\"ls\"}}",
            "```json\n{\"name\":\"bash\",\"parameters\":{}}\n```",
            " [{\"type\":\"function\",\"function\":{\"name\":\"bash\",\"arguments\":\"{}\"}}]",
        ] {
            assert!(has_call(text, &tools), "{text}");
            assert!(!has_call(text, &[]), "{text}");
        }
    }

    #[test]
    fn what_only_speaks_of_calls_is_none() {
        let tools = ["bash".to_owned()];
        for text in [
            "",
            "Models write <tool_call> around a call.",
            "```\n<tool_call>\n```\nis what it looks like",
            "{\"name\":\"cohab\",\"version\":\"1\",\"arguments\":[]}",
            "{\"name\":\"bash\"}",
            "Here: {\"name\":\"bash\",\"arguments\":{}}",
            "[]",
        ] {
            assert!(!has_call(text, &tools), "{text}");
        }
    }
}
