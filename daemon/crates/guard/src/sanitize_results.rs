//! Sanitizes results of tools: harmless text of bounded size, with a note where words may have been hidden.

use async_trait::async_trait;
use cohab_agent::{Middleware, state::NOTE_MARK};
use cohab_model_api::ToolResult;
use cohab_text::{
    cut::cut_middle,
    sanitize::{hidden_chars, note_of_hidden, sanitize},
};

/// Largest result of one tool call that is looked at; a longer one keeps its head and its tail. What the model gets is less.
const MAX_RESULT_BYTES: usize = 4 * 1024 * 1024;

/// Sanitises and bounds results.
pub struct Inbound;

/// A result as the model may have it.
#[must_use]
pub fn harmless(content: &str) -> String {
    cut_middle(&sanitize(content), MAX_RESULT_BYTES)
}

#[async_trait]
impl Middleware for Inbound {
    async fn after_tool(&self, result: &mut ToolResult) {
        let note = note_of_hidden(hidden_chars(&result.content));
        result.content = harmless(&result.content);
        if let Some(note) = note {
            result.content += &format!("{NOTE_MARK}{note}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_nobody_sees_is_taken_out_and_noted() {
        for (content, told) in [
            ("ls\u{e0072}\u{e006d}", "ls\n\n\u{1e}[2 characters that nobody can see were taken out of this text]"),
            ("a\u{202e}b", "ab\n\n\u{1e}[1 character that nobody can see was taken out of this text]"),
            ("\u{feff}a \u{26a0}\u{fe0f} b\u{1b}[31mc", "a \u{26a0} bc"),
        ] {
            let (call_id, tool) = ("c".into(), "bash".into());
            let mut result = ToolResult { call_id, tool, content: content.into(), is_error: false };
            Inbound.after_tool(&mut result).await;
            assert_eq!(result.content, told);
        }
    }
}
