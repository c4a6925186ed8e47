//! What the model is sent, by kind, in estimated tokens. Pure.

use super::{fit::message_tokens, query, tokens::estimate_tokens};
use crate::agent::port::Message;

/// The parts of a conversation, in estimated tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    /// What the projects' repositories say to assistants.
    pub project_notes: u64,
    /// What the user ran in the shell.
    pub shell_history: u64,
    /// Questions, with where they were asked and what was piped in.
    pub questions: u64,
    /// The model's words, and what it keeps of its thoughts.
    pub answers: u64,
    /// Calls of tools.
    pub tool_calls: u64,
    /// What tools gave back.
    pub tool_output: u64,
}

impl Outline {
    /// Of these messages.
    #[must_use]
    pub fn of<'a>(messages: impl IntoIterator<Item = &'a Message>) -> Self {
        let mut outline = Self::default();
        messages.into_iter().for_each(|message| outline.add(message));
        outline
    }

    /// All of it.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.project_notes + self.shell_history + self.questions + self.answers + self.tool_calls + self.tool_output
    }

    fn add(&mut self, message: &Message) {
        let total = message_tokens(message);
        match message {
            Message::User { text } => {
                let mut rest = total;
                for (tag, part) in query::parts(text) {
                    let place = match tag {
                        "shell-history" => &mut self.shell_history,
                        "project-notes" => &mut self.project_notes,
                        _ => continue,
                    };
                    let tokens = estimate_tokens(part).min(rest);
                    *place += tokens;
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
    use super::*;
    use crate::{
        agent::port::{AssistantMessage, ToolCall, ToolResult},
        context::query::{Environment, Query},
    };

    #[test]
    fn each_part_is_counted_once_and_as_what_it_is() {
        let environment =
            Environment { cwd: "/".into(), shell: None, os: "linux".into(), date: String::new(), columns: 80 };
        let notes = Some("use tabs, never spaces, in every file of this project");
        let text =
            Query { environment, history: &[], project_notes: notes, piped_input: None, question: "why" }.to_text();
        let args = serde_json::json!({"command": "ls -l"}).as_object().cloned().unwrap();
        let call = ToolCall { id: "1".into(), name: "bash".into(), args: Ok(args) };
        let result = ToolResult { call_id: "1".into(), tool: "bash".into(), content: "a b c".into(), is_error: false };
        let answer = |text: &str, tool_calls| {
            Message::Assistant(AssistantMessage { text: text.into(), tool_calls, provider_data: None })
        };
        let messages = [
            Message::User { text },
            answer("I look.", vec![call]),
            Message::ToolResults(vec![result]),
            answer("Three letters.", Vec::new()),
        ];
        let outline = Outline::of(&messages);
        assert_eq!(outline.total(), messages.iter().map(message_tokens).sum::<u64>());
        assert!(outline.project_notes > 10 && outline.questions > 5, "{outline:?}");
        assert!(outline.answers > 0 && outline.tool_calls > 0 && outline.tool_output > 0, "{outline:?}");
        assert_eq!(outline.shell_history, 0);
    }
}
