//! What a conversation holds of texts from elsewhere. Whoever wrote them may have written them for the model: what the user allowed
//! before the model read them was allowed to another one, so to speak, and is asked about again.

use std::{
    ops::ControlFlow,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;

use super::label::{EARLIER, Label, Place};
use crate::agent::{Middleware, TurnResult, TurnState, plan::StepKind, port::Message};

/// What a session's conversation was touched by. It holds as long as the conversation: summaries and answers inherit it.
#[derive(Clone, Debug, Default)]
pub struct Taint(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    /// The first text from elsewhere.
    outside: Option<Label>,
    /// What was looked at: rewrites of the conversation, and messages of it.
    seen: Option<(u32, usize)>,
}

impl Taint {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where the first text from elsewhere came from, if there is one.
    #[must_use]
    pub fn source(&self) -> Option<String> {
        self.state().outside.as_ref().map(|label| label.source.clone())
    }

    /// As if a text from there had been read.
    #[cfg(test)]
    pub fn touched_by(&self, source: &str) {
        let label = Label { origin: super::label::Origin::External, source: source.to_owned() };
        self.state().outside = Some(label);
    }

    fn look(&self, turn: &TurnState, place: &Place) {
        let mut state = self.state();
        let messages = turn.messages();
        let is_new = messages.len() == 1;
        if is_new {
            *state = State::default();
        }
        let from = match state.seen {
            Some((rewrites, seen)) if rewrites == turn.rewrites() => seen.min(messages.len()),
            _ => 0,
        };
        let has_history = state.seen.is_some() || is_new;
        state.seen = Some((turn.rewrites(), messages.len()));
        if state.outside.is_none() {
            // What was summed up in another life of the daemon may have been anything.
            let is_outside = |label: &Label| label.is_external() || !has_history && label.source == EARLIER;
            // Results stand behind their calls.
            let is_answer = |message: &Message| matches!(message, Message::Assistant(_));
            let from = messages[..from].iter().rposition(is_answer).unwrap_or(0);
            state.outside = place.labels(&messages[from..]).into_iter().find(is_outside);
        }
    }
}

/// Looks at the conversation before each step.
pub struct Watch {
    /// What it was touched by.
    pub taint: Taint,
    /// What "elsewhere" is measured by.
    pub place: Place,
}

#[async_trait]
impl Middleware for Watch {
    async fn before_step(&self, _: StepKind, state: &mut TurnState) -> ControlFlow<TurnResult> {
        self.taint.look(state, &self.place);
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::agent::port::{AssistantMessage, ToolCall, ToolResult};

    fn place() -> Place {
        let shell = cohab_shell_relay::shell::Shell::Bash;
        Place { home: "/home/ann".into(), workspace: "/home/ann/shop".into(), own_folder: None, shell }
    }

    fn ran(command: &str) -> [Message; 2] {
        let args = json!({"command": command}).as_object().cloned().unwrap();
        let call = ToolCall { id: "1".into(), name: "bash".into(), args: Ok(args) };
        let result = ToolResult { call_id: "1".into(), tool: "bash".into(), content: "x".into(), is_error: false };
        let message = AssistantMessage { tool_calls: vec![call], ..AssistantMessage::default() };
        [Message::Assistant(message), Message::ToolResults(vec![result])]
    }

    fn question(text: &str) -> Message {
        Message::User { text: text.into() }
    }

    /// The taint of a session whose conversation was like these, one after the other.
    fn source(lives: &[Vec<Message>]) -> Option<String> {
        let taint = Taint::default();
        for messages in lives {
            taint.look(&TurnState::new(messages.clone(), "and now".into()), &place());
        }
        taint.source()
    }

    #[test]
    fn one_text_from_elsewhere_taints_the_rest_of_the_conversation() {
        let clean = [vec![question("a")], ran("ls").into()].concat();
        assert_eq!(source(std::slice::from_ref(&clean)), None);
        let tainted = [clean.clone(), ran("curl example.com").into()].concat();
        assert_eq!(source(&[clean.clone(), tainted.clone()]).as_deref(), Some("`curl`"));
        assert_eq!(source(&[tainted.clone(), clean]).as_deref(), Some("`curl`"), "its summary may say the same");
        assert_eq!(source(&[tainted, Vec::new()]), None, "a new conversation");
    }

    #[test]
    fn a_conversation_that_grows_message_by_message_is_labelled_as_one_that_is_there() {
        let all = [vec![question("a")], ran("ls").into(), ran("cat a").into(), ran("curl example.com").into()].concat();
        let steps = |to: usize| (1..=to).map(|count| all[..count].to_vec()).collect::<Vec<_>>();
        assert_eq!(source(&steps(6)), None);
        assert_eq!(source(&steps(7)).as_deref(), Some("`curl`"));
    }

    #[test]
    fn what_was_summed_up_is_from_elsewhere_unless_we_know_better() {
        let summed = vec![question("<earlier-conversation>\nx\n</earlier-conversation>\n<question>\nq\n</question>")];
        assert_eq!(source(std::slice::from_ref(&summed)).as_deref(), Some(EARLIER));
        assert_eq!(source(&[vec![question("q")], summed]), None);
    }
}
