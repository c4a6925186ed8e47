//! Builds the text of a question with the user's recent commands and environment. The offline provider parses this form, so it is
//! fixed:
//!
//! ```text
//! <earlier-conversation>
//! the state of messages that were left out, if any were
//! </earlier-conversation>
//! <environment>
//! cwd: /home/ann/project
//! shell: bash
//! os: linux x86_64
//! date: 2026-11-20
//! columns: 120
//! git: branch `main` at 0123456789, root /home/ann/project
//! project: Rust (Cargo.toml)
//! </environment>
//! <runtime>
//! time, platform, release, session and channels, a line each
//! </runtime>
//! <shell-history>
//! $ cargo test
//! exit 101 in /home/ann/project after 3.2s
//!     the end of its output, indented
//! </shell-history>
//! <project-notes>
//! the repository's notes for assistants; absent if the conversation holds them already
//! </project-notes>
//! <project-identity>, <project-skills>, <memory-blocks>, <memory>, <tasks>, <tone>: as their files in `sections/` say
//! <piped-input>
//! ...
//! </piped-input>
//! <instructions> or <project-instructions>: the skill or command that the question calls
//! <question>
//! why?
//! </question>
//! ```
//! Blocks without content are left out. Look-alikes of the tags inside a block are escaped (`<\/question>`), so the last block is
//! always the question.

use std::{fmt::Write as _, sync::LazyLock};

use cohab_model_api::Message;
use cohab_text::sanitize::{hidden_chars, note_of_hidden, sanitize};
use regex::Regex;

use super::{
    query::{MEMORY_BLOCKS, Query},
    sections,
};

/// Tag of the user's words.
/// The tag of the question itself.
pub const QUESTION: &str = "question";

/// Tags of lasting texts, which are the project's and the memory blocks: each holds until a later one replaces it.
pub const LASTING_TAGS: [&str; 4] = ["project-notes", "project-identity", "project-skills", MEMORY_BLOCKS];

static TAGS: LazyLock<Regex> = LazyLock::new(|| tags_pattern(""));
static ESCAPED_TAGS: LazyLock<Regex> = LazyLock::new(|| tags_pattern(r"\\"));

#[expect(clippy::expect_used, reason = "constant patterns")]
fn tags_pattern(escape: &str) -> Regex {
    let tags: Vec<&str> = sections::tags().map(|(tag, _)| tag).collect();
    Regex::new(&format!(r"(?i)<{escape}(\s*/?\s*(?:{}|{QUESTION})\b)", tags.join("|"))).expect("the pattern is valid")
}

impl Query<'_> {
    /// The text for the model.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for (tag, content) in sections::asked_sections(self) {
            block(&mut text, tag, &content);
        }
        let question = escape_tags(&sanitize(self.question));
        let _ = write!(text, "<{QUESTION}>\n{}\n</{QUESTION}>", question.trim());
        text
    }

    /// Leaves out the lasting texts that the conversation already holds as the last ones of their kind. So providers' caches hold.
    pub fn forget_told(&mut self, conversation: &[Message]) {
        let words =
            [&mut self.project_notes, &mut self.project_identity, &mut self.project_skills, &mut self.memory_blocks];
        for (tag, text) in LASTING_TAGS.into_iter().zip(words) {
            let Some(content) = *text else { continue };
            let (mut block_text, open) = (String::new(), format!("<{tag}>\n"));
            block(&mut block_text, tag, content);
            let mut told = told(conversation);
            if told.find(|told| told.contains(&open)).is_some_and(|told| told.contains(&block_text)) {
                *text = None;
            }
        }
    }
}

/// The user's messages, newest first.
fn told(messages: &[Message]) -> impl Iterator<Item = &str> {
    messages.iter().rev().filter_map(|message| match message {
        Message::User { text, .. } => Some(text.as_str()),
        _ => None,
    })
}

/// The parts of a user message: tag and text, tags included, in their order. Text outside of all blocks counts as `question`.
#[must_use]
pub fn parts(text: &str) -> Vec<(&'static str, &str)> {
    let mut parts = Vec::new();
    let mut rest = text;
    for (tag, _) in sections::tags() {
        let close = format!("\n</{tag}>\n");
        if rest.starts_with(&format!("<{tag}>\n"))
            && let Some(end) = rest.find(&close)
        {
            let (part, after) = rest.split_at(end + close.len());
            parts.push((tag, part));
            rest = after;
        }
    }
    parts.push((QUESTION, rest));
    parts
}

/// The raw content of the block `tag` of a user message.
#[must_use]
pub fn inside<'a>(text: &'a str, tag: &str) -> Option<&'a str> {
    let (_, part) = parts(text).into_iter().find(|(other, _)| *other == tag)?;
    part.strip_prefix(&format!("<{tag}>\n"))?.strip_suffix(&format!("\n</{tag}>\n"))
}

/// A user message with `content`, cleaned, as its block `tag`, replacing an earlier one; without that block if `content` is empty.
#[must_use]
pub fn with_block(text: &str, tag: &'static str, content: &str) -> String {
    let known = parts(text);
    let known = |wanted: &str| known.iter().find(|(tag, _)| *tag == wanted).map_or("", |(_, part)| part);
    let mut changed = String::new();
    for (one, _) in sections::tags() {
        if one == tag {
            block(&mut changed, tag, content);
        } else {
            changed.push_str(known(one));
        }
    }
    changed + known(QUESTION)
}

/// The user's own words in a user message.
#[must_use]
pub fn words(text: &str) -> String {
    let question = parts(text).pop().map_or("", |(_, rest)| rest);
    let inner = question.strip_prefix("<question>\n").and_then(|rest| rest.strip_suffix("\n</question>"));
    ESCAPED_TAGS.replace_all(inner.unwrap_or(question), "<$1").into_owned()
}

fn block(text: &mut String, tag: &str, content: &str) {
    let note = note_of_hidden(hidden_chars(content)).map(|note| note + "\n").unwrap_or_default();
    let content = escape_tags(&sanitize(content));
    if !content.trim().is_empty() {
        let _ = writeln!(text, "<{tag}>\n{}\n{note}</{tag}>", content.trim_end());
    }
}

pub(super) fn escape_tags(text: &str) -> String {
    TAGS.replace_all(text, r"<\$1").into_owned()
}

pub(super) fn text_of(message: &Message) -> Option<&str> {
    match message {
        Message::User { text, .. } => Some(text),
        _ => None,
    }
}

/// The last question: a user message with one, or the last of any kind. A complaint about a call is no question.
pub(super) fn running_question(messages: &[Message]) -> Option<usize> {
    let asks = |message: &Message| text_of(message).is_some_and(|text| text.contains("<question>\n"));
    let is_user = |message: &Message| text_of(message).is_some();
    messages.iter().rposition(asks).or_else(|| messages.iter().rposition(is_user))
}

#[cfg(test)]
mod tests;
