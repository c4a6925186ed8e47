//! Lists what would be sent with the next question, by section, in estimated tokens. Pure.

use cohab_model_api::Message;

use super::{
    analysis::{Analysis, Capacity, analyse},
    outline::Outline,
    sections::tags,
};

/// What is sent whatever is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Fixed {
    /// Sections of the system prompt by name.
    pub system: Vec<(&'static str, u64)>,
    /// Of the descriptions of all tools.
    pub tools_tokens: u64,
    /// What the model takes; `None` where there is none.
    pub capacity: Option<Capacity>,
}

/// Where a section stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// In the system prompt.
    System,
    /// In the descriptions of tools.
    Tools,
    /// In messages: the conversation, and the next question.
    Messages,
}

/// A section with what it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Where it stands.
    pub part: Part,
    /// Its name, for people.
    pub name: &'static str,
    /// By the estimate.
    pub tokens: u64,
}

/// The sections that take anything, in the order in which they are sent; those of messages by kind. `messages` ends with what would
/// be asked next.
#[must_use]
pub fn rows(fixed: &Fixed, messages: &[Message]) -> Vec<Row> {
    let outline = Outline::of(messages);
    let system = fixed.system.iter().map(|(name, tokens)| Row { part: Part::System, name, tokens: *tokens });
    let tools = Row { part: Part::Tools, name: "tool descriptions", tokens: fixed.tools_tokens };
    let asked = tags().map(|(tag, name)| (name, outline.section(tag)));
    let said = [
        ("questions", outline.questions),
        ("answers", outline.answers),
        ("tool calls", outline.tool_calls),
        ("tool output", outline.tool_output),
    ];
    let messages = asked.chain(said).map(|(name, tokens)| Row { part: Part::Messages, name, tokens });
    system.chain([tools]).chain(messages).filter(|row| row.tokens > 0).collect()
}

/// How these rows fill the model's context; `None` where there is no model.
#[must_use]
pub fn analysis(fixed: &Fixed, rows: &[Row]) -> Option<Analysis> {
    let sum = |is_message: bool| {
        rows.iter().filter(|row| (row.part == Part::Messages) == is_message).map(|row| row.tokens).sum()
    };
    fixed.capacity.as_ref().map(|capacity| analyse(capacity, sum(false), sum(true)))
}
