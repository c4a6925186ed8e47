//! Tier rules estimate the difficulty of a question: a table of rules, and the first match decides. Pure; no model is asked.
//!
//! | rule | tier |
//! |---|---|
//! | the user says so | that one |
//! | a pattern of hard work, on word boundaries | high |
//! | a pattern of simple questions, within 100 characters | low |
//! | more than 10 tool calls or 30 messages in the conversation | high |
//! | more than 2,000 characters | high |
//! | less than 100 characters | low |
//! | anything else | medium |

use std::sync::LazyLock;

use cohab_config::model_roles::{Tier, TierWish};
use regex::Regex;

/// Tool calls of a conversation, beyond which it is deep.
pub const DEEP_TOOL_CALLS: usize = 10;
/// Messages of a conversation, beyond which it is deep.
pub const DEEP_MESSAGES: usize = 30;
/// Characters of a question, beyond which it is long.
pub const LONG_CHARS: usize = 2_000;
/// Characters of a question, below which it is short.
pub const SHORT_CHARS: usize = 100;

/// Signs of hard work in a question: a part of a pattern stands between word boundaries.
const HARD: [&str; 12] = [
    r"refactor(?:s|ed|ing)?",
    r"re-?architect(?:s|ed|ing)?|architecture",
    r"redesign(?:s|ed|ing)?|design (?:a|an|the|doc|document)",
    r"migrat(?:e|es|ed|ing|ion)",
    r"root[- ]cause|post-?mortem",
    r"debug(?:s|ged|ging)?",
    r"race conditions?|dead-?locks?|memory leaks?|segfaults?|core dumps?",
    r"(?:security|code) (?:review|audit)|threat model|vulnerabilit(?:y|ies)",
    r"optimi[sz](?:e|es|ed|ing|ation)",
    r"implement(?:s|ed|ing|ation)?",
    r"step[- ]by[- ]step|in depth|thorough(?:ly)?|trade-?offs?",
    r"(?:across|over|through) (?:all|the whole|the entire) \w+",
];

/// Beginnings of simple questions, and whole ones.
const SIMPLE: [&str; 7] = [
    r"hi|hello|hey|thanks|thank you|ok|okay|yes|no",
    r"what(?:'s| is| are| does)",
    r"who(?:'s| is| am)|where(?:'s| is| are| am)|when(?:'s| is| was)",
    r"which|how (?:many|much|old|big|large|long)",
    r"list|show|print|count|find|open|tell me",
    r"explain|define|translate|spell",
    r"is|are|does|do|can|has|have",
];

static HARD_PATTERN: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(&format!(r"(?i)\b(?:{})\b", HARD.join("|"))).ok());
static SIMPLE_PATTERN: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(&format!(r"(?i)^\W*(?:{})\b", SIMPLE.join("|"))).ok());

/// The facts about a question for the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked<'a> {
    /// The user's own words.
    pub text: &'a str,
    /// Calls of tools so far in the conversation.
    pub tool_calls: usize,
    /// Messages so far in the conversation.
    pub messages: usize,
    /// The tier that the user wants.
    pub wish: TierWish,
}

/// The tier of a question, and the rule that decides.
#[must_use]
pub fn judge(asked: &Asked<'_>) -> (Tier, &'static str) {
    let chars = asked.text.chars().take(LONG_CHARS + 1).count();
    match asked.wish {
        TierWish::Fixed(tier) => (tier, "you chose it"),
        TierWish::Auto if matches(&HARD_PATTERN, asked.text) => (Tier::High, "it asks for hard work"),
        TierWish::Auto if chars < SHORT_CHARS && matches(&SIMPLE_PATTERN, asked.text) => {
            (Tier::Low, "it is short and simple")
        }
        TierWish::Auto if asked.tool_calls > DEEP_TOOL_CALLS || asked.messages > DEEP_MESSAGES => {
            (Tier::High, "the conversation is long")
        }
        TierWish::Auto if chars > LONG_CHARS => (Tier::High, "the question is long"),
        TierWish::Auto if chars < SHORT_CHARS => (Tier::Low, "it is short"),
        TierWish::Auto => (Tier::Medium, "it is neither simple nor hard"),
    }
}

fn matches(pattern: &LazyLock<Option<Regex>>, text: &str) -> bool {
    pattern.as_ref().is_some_and(|pattern| pattern.is_match(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn auto(text: &str, tool_calls: usize, messages: usize) -> (Tier, &'static str) {
        judge(&Asked { text, tool_calls, messages, wish: TierWish::Auto })
    }

    #[test]
    fn the_patterns_are_patterns() {
        assert!(HARD_PATTERN.is_some() && SIMPLE_PATTERN.is_some());
    }

    #[test]
    fn the_first_rule_that_fits_decides() {
        let plain = "the build of the service fails on the second machine with a message about a missing header, and I \
                     have changed nothing since it last worked there";
        assert!((SHORT_CHARS..=LONG_CHARS).contains(&plain.len()));
        let long = "x ".repeat(LONG_CHARS);
        for (text, tool_calls, messages, expected, reason) in [
            ("refactor the parser", 0, 0, Tier::High, "it asks for hard work"),
            ("what is a race condition", 0, 0, Tier::High, "it asks for hard work"),
            ("What is my address?", 50, 99, Tier::Low, "it is short and simple"),
            ("go on", 0, 0, Tier::Low, "it is short"),
            ("go on", 10, 30, Tier::Low, "it is short"),
            ("go on", 11, 0, Tier::High, "the conversation is long"),
            ("go on", 0, 31, Tier::High, "the conversation is long"),
            (plain, 0, 0, Tier::Medium, "it is neither simple nor hard"),
            (plain, 11, 0, Tier::High, "the conversation is long"),
            (long.as_str(), 0, 0, Tier::High, "the question is long"),
            ("", 0, 0, Tier::Low, "it is short"),
        ] {
            assert_eq!(auto(text, tool_calls, messages), (expected, reason), "{text:.40} {tool_calls} {messages}");
        }
    }

    #[test]
    fn the_edges_of_length_are_where_they_are_said_to_be() {
        for (chars, tier) in [
            (SHORT_CHARS - 1, Tier::Low),
            (SHORT_CHARS, Tier::Medium),
            (LONG_CHARS, Tier::Medium),
            (LONG_CHARS + 1, Tier::High),
        ] {
            assert_eq!(auto(&"ä".repeat(chars), 0, 0).0, tier, "{chars}");
        }
    }

    #[test]
    fn patterns_are_words_and_no_parts_of_words() {
        for text in ["go on with undebugged", "go immigration office", "go on with preoptimized", "go reimplements"] {
            assert_eq!(auto(text, 0, 0), (Tier::Low, "it is short"), "{text}");
        }
        assert_eq!(auto("island weather today", 0, 0).1, "it is short", "`is` is no word there");
    }

    #[test]
    fn what_the_user_wants_wins() {
        let asked = Asked { text: "refactor all", tool_calls: 99, messages: 99, wish: TierWish::Fixed(Tier::Low) };
        assert_eq!(judge(&asked), (Tier::Low, "you chose it"));
    }
}
