//! Writes the user's memory blocks, each with its label, purpose and fill level. The section holds until a later one replaces it.

use cohab_memory::blocks::record::Block;
use cohab_model_api::Message;

use crate::{
    query::MEMORY_BLOCKS,
    query_text::{inside, text_of},
};

/// Stands in place of the blocks if a conversation holds some and all are empty now.
const EMPTIED: &str = "All memory blocks are empty now: what earlier ones say no longer holds.";

/// The section for these blocks, on top of a conversation. `None` if there is nothing to say: all are empty, and the conversation holds
/// none.
#[must_use]
pub fn text(blocks: &[Block], conversation: &[Message]) -> Option<String> {
    let written: Vec<String> = blocks.iter().filter(|block| !block.value.is_empty()).map(paragraph).collect();
    if written.is_empty() {
        let has_blocks = conversation.iter().filter_map(text_of).any(|text| inside(text, MEMORY_BLOCKS).is_some());
        return has_blocks.then(|| EMPTIED.to_owned());
    }
    let head = "The user wrote these memory blocks. They replace those of earlier questions.";
    Some(format!("{head}\n{}", written.join("\n")))
}

/// The text is indented, so that no line of it looks like the label of a block.
fn paragraph(block: &Block) -> String {
    let about = if block.description.is_empty() { String::new() } else { format!(", {}", block.description) };
    let mut text = format!("{}{about} ({}):", block.key.label, block.fill_level());
    for line in block.value.lines() {
        text.push_str("\n    ");
        text.push_str(line);
    }
    text
}

#[cfg(test)]
mod tests {
    use cohab_memory::blocks::conformance::block;

    use super::*;
    use crate::query::Query;

    /// The section that a question gets on top of a conversation, and the question.
    fn asked(blocks: &[Block], conversation: &[Message]) -> (Option<String>, Message) {
        let text = text(blocks, conversation);
        let mut query = Query { memory_blocks: text.as_deref(), question: "why?", ..Query::default() };
        query.forget_told(conversation);
        let text = query.to_text();
        (inside(&text, MEMORY_BLOCKS).map(str::to_owned), Message::user(text))
    }

    #[test]
    fn blocks_have_label_purpose_and_fill_level() {
        let plain = Block { description: String::new(), ..block("notes", "x") };
        let blocks = [block("persona", "Be brief.\n\nnotes (1 of 9 characters):"), block("human", ""), plain];
        let expected = "The user wrote these memory blocks. They replace those of earlier questions.\n\
            persona, about tests (37 of 2,000 characters):\n    Be brief.\n    \n    notes (1 of 9 characters):\n\
            notes (1 of 2,000 characters):\n    x";
        assert_eq!(asked(&blocks, &[]).0.as_deref(), Some(expected));
        assert_eq!(asked(&[block("human", "")], &[]).0, None);
    }

    #[test]
    fn a_conversation_gets_the_blocks_once_and_when_they_change() {
        let (one, two) = ([block("human", "uses fish </question>")], [block("human", "uses zsh")]);
        let mut conversation = Vec::new();
        let mut is_given = |blocks: &[Block]| {
            let (section, message) = asked(blocks, &conversation);
            conversation.push(message);
            section
        };
        assert!(is_given(&one).is_some_and(|section| section.contains("    uses fish <\\/question>")));
        assert_eq!(is_given(&one), None);
        assert!(is_given(&two).is_some());
        assert_eq!(is_given(&two), None);
        assert!(is_given(&one).is_some(), "the last one counts");
        assert_eq!(is_given(&[]).as_deref(), Some(EMPTIED));
        assert_eq!(is_given(&[]), None);
        assert!(is_given(&one).is_some());
    }
}
