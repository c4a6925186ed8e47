//! The outline counts the estimated tokens of a request by kind. Pure.

use std::collections::BTreeMap;

use cohab_model_api::Message;
use cohab_text::tokens::estimate_tokens;

use super::{fit::message_tokens, query_text};

/// The parts of a conversation, in estimated tokens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    /// The accompanying blocks of questions, by the tag of their section.
    sections: BTreeMap<&'static str, u64>,
    /// The user's own words.
    pub questions: u64,
    /// The model's text and kept reasoning.
    pub answers: u64,
    /// Calls of tools.
    pub tool_calls: u64,
    /// Results of tools.
    pub tool_output: u64,
}

impl Outline {
    /// The outline of these messages.
    #[must_use]
    pub fn of<'a>(messages: impl IntoIterator<Item = &'a Message>) -> Self {
        let mut outline = Self::default();
        messages.into_iter().for_each(|message| outline.add(message));
        outline
    }

    /// The sum of all parts.
    #[must_use]
    pub fn total(&self) -> u64 {
        let sections: u64 = self.sections.values().sum();
        sections + self.questions + self.answers + self.tool_calls + self.tool_output
    }

    /// The tokens of the section with this tag.
    #[must_use]
    pub fn section(&self, tag: &str) -> u64 {
        self.sections.get(tag).copied().unwrap_or(0)
    }

    fn add(&mut self, message: &Message) {
        let total = message_tokens(message);
        match message {
            Message::User { text, .. } => {
                let mut rest = total;
                let mut parts = query_text::parts(text);
                // The last one is the question.
                parts.pop();
                for (tag, part) in parts {
                    let tokens = estimate_tokens(part).min(rest);
                    *self.sections.entry(tag).or_default() += tokens;
                    rest -= tokens;
                }
                self.questions += rest;
            }
            Message::Assistant(message) if message.tool_calls.is_empty() => self.answers += total,
            Message::Assistant(message) => {
                let words = estimate_tokens(&message.text).min(total);
                self.answers += words;
                self.tool_calls += total - words;
            }
            Message::ToolResults(_) => self.tool_output += total,
        }
    }
}

#[cfg(test)]
mod tests {
    use cohab_model_api::{AssistantMessage, ToolCall, ToolResult};

    use super::*;
    use crate::query::{Environment, Query};

    #[test]
    fn each_part_is_counted_once_and_as_what_it_is() {
        let environment = Environment { cwd: "/".into(), os: "linux".into(), columns: 80, ..Environment::default() };
        let notes = Some("use tabs, never spaces, in every file of this project");
        let text = Query { environment, project_notes: notes, question: "why", ..Query::default() }.to_text();
        let args = serde_json::json!({"command": "ls -l"}).as_object().cloned().unwrap();
        let call = ToolCall { id: "1".into(), name: "bash".into(), args: Ok(args.into()) };
        let result = ToolResult { call_id: "1".into(), tool: "bash".into(), content: "a b c".into(), is_error: false };
        let answer = |text: &str, tool_calls| {
            Message::Assistant(AssistantMessage { text: text.into(), tool_calls, provider_data: None })
        };
        let messages = [
            Message::user(text),
            answer("I look.", vec![call]),
            Message::ToolResults(vec![result]),
            answer("Three letters.", Vec::new()),
        ];
        let outline = Outline::of(&messages);
        assert_eq!(outline.total(), messages.iter().map(message_tokens).sum::<u64>());
        assert!(outline.section("project-notes") > 10 && outline.questions > 2, "{outline:?}");
        assert!(outline.answers > 0 && outline.tool_calls > 0 && outline.tool_output > 0, "{outline:?}");
        assert!(outline.section("environment") > 5 && outline.section("shell-history") == 0);
    }
}
