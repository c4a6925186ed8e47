//! Reports the next request by section, in estimated tokens. Pure.

use cohab_model_api::Message;

use super::{
    analysis::{Analysis, Capacity, analyse},
    outline::Outline,
    sections::tags,
};

/// The parts of every request that do not depend on the question.
#[derive(Clone, Debug, PartialEq)]
pub struct Fixed {
    /// Sections of the system prompt by name.
    pub system: Vec<(&'static str, u64)>,
    /// Tokens of all tool descriptions.
    pub tools_tokens: u64,
    /// The model's capacity; `None` without a model.
    pub capacity: Option<Capacity>,
}

/// The part of a request that holds a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestPart {
    /// In the system prompt.
    System,
    /// In the descriptions of tools.
    Tools,
    /// In messages: the conversation, and the next question.
    Messages,
}

/// A section with its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SectionRow {
    /// Its part of the request.
    pub part: RequestPart,
    /// Its name, for people.
    pub name: &'static str,
    /// Its tokens, by the estimate.
    pub tokens: u64,
}

/// The non-empty sections, in the order of the request; those of messages by kind. `messages` ends with the next question.
#[must_use]
pub fn rows(fixed: &Fixed, messages: &[Message]) -> Vec<SectionRow> {
    let outline = Outline::of(messages);
    let system =
        fixed.system.iter().map(|(name, tokens)| SectionRow { part: RequestPart::System, name, tokens: *tokens });
    let tools = SectionRow { part: RequestPart::Tools, name: "tool descriptions", tokens: fixed.tools_tokens };
    let asked = tags().map(|(tag, name)| (name, outline.section(tag)));
    let said = [
        ("questions", outline.questions),
        ("answers", outline.answers),
        ("tool calls", outline.tool_calls),
        ("tool output", outline.tool_output),
    ];
    let messages = asked.chain(said).map(|(name, tokens)| SectionRow { part: RequestPart::Messages, name, tokens });
    system.chain([tools]).chain(messages).filter(|row| row.tokens > 0).collect()
}

/// The fill level that these rows give; `None` without a model.
#[must_use]
pub fn analysis(fixed: &Fixed, rows: &[SectionRow]) -> Option<Analysis> {
    let sum = |is_message: bool| {
        rows.iter().filter(|row| (row.part == RequestPart::Messages) == is_message).map(|row| row.tokens).sum()
    };
    fixed.capacity.as_ref().map(|capacity| analyse(capacity, sum(false), sum(true)))
}
