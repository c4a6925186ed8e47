//! Lists the remembered facts that are relevant to the question, each with the day on which the user stated it.

use cohab_memory::record::Memory;
use cohab_model_api::Message;
use jiff::tz::TimeZone;

use crate::{
    query::{MEMORY, Query},
    query_text::inside,
};

pub(super) fn text(query: &Query<'_>) -> String {
    if query.memories.is_empty() {
        return String::new();
    }
    let lines: Vec<String> = query.memories.iter().map(line).collect();
    format!("The user asked you to remember:\n{}", lines.join("\n"))
}

/// The facts that no question of this conversation has listed yet.
#[must_use]
pub fn not_listed(memories: Vec<Memory>, conversation: &[Message]) -> Vec<Memory> {
    let listed = conversation.iter().filter_map(|message| match message {
        Message::User { text } => inside(text, MEMORY),
        _ => None,
    });
    let listed: Vec<&str> = listed.flat_map(str::lines).collect();
    memories.into_iter().filter(|memory| !listed.contains(&line(memory).as_str())).collect()
}

fn line(memory: &Memory) -> String {
    let date = memory.stated.to_zoned(TimeZone::UTC).date();
    format!("- {} (stated {date})", memory.text)
}

#[cfg(test)]
mod tests {
    use cohab_memory::conformance::memory;

    use super::*;

    fn asked(memories: &[Memory], question: &str) -> Message {
        Message::User { text: Query { memories, question, ..Query::default() }.to_text() }
    }

    #[test]
    fn facts_are_listed_with_their_day() {
        let Message::User { text } = asked(&[memory(1, "staging is on host blue")], "deploy") else { panic!() };
        let block =
            "<memory>\nThe user asked you to remember:\n- staging is on host blue (stated 2026-11-03)\n</memory>\n";
        assert!(text.contains(block), "{text}");
    }

    #[test]
    fn a_fact_is_listed_once_in_a_conversation() {
        let (one, other) = (memory(1, "staging is on host blue"), memory(2, "tags <memory> stay text"));
        let conversation = [asked(std::slice::from_ref(&one), "deploy"), asked(&[], "and now?")];
        let left = not_listed(vec![one, other.clone()], &conversation);
        assert_eq!(left, [other]);
    }
}
