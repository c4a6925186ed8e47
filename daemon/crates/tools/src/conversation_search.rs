//! `conversation_search` finds what was said in stored conversations.

use std::{path::Path, sync::Arc};

use async_trait::async_trait;
use cohab_agent::port::{Effect, Intent, Tool, ToolContext, ToolOutput};
use cohab_memory::{
    past::{CONVERSATION_TOOL, describe},
    words,
};
use cohab_model_api::{JsonObject, ToolSpec};
use jiff::{Timestamp, Zoned};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{arguments, blocking, render};

const DESCRIPTION: &str = "Finds what the user or you said or ran in earlier conversations, by words, the newest first, 20 on a page. \
    Use it when the user refers to an earlier conversation.";
/// Hits of a page.
const PAGE: usize = 20;
/// The last page.
const MAX_PAGES: usize = 50;
/// Longest shown text, in characters, and how much of it lies before the first word that was looked for.
const TEXT_CHARS: usize = 240;
const BEFORE_CHARS: usize = 80;

/// What to look for in stored conversations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConversationLookup {
    /// Words that a text has, all of them, as the start of a word.
    pub words: Vec<String>,
    /// The beginning of a conversation's id; without it all but the current one.
    pub conversation: Option<String>,
    /// Hits that are left out at the beginning.
    pub skipped: usize,
    /// Most hits.
    pub limit: usize,
}

/// Something that was said or run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConversationHit {
    /// The beginning of the conversation's id.
    pub conversation: String,
    /// Its title.
    pub title: String,
    /// The time.
    pub at: Timestamp,
    /// Who spoke: `the user`, `you`, and `ran` behind it for a command.
    pub speaker: &'static str,
    /// The text.
    pub text: String,
}

/// Hits in stored conversations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundConversations {
    /// The newest first.
    pub hits: Vec<ConversationHit>,
    /// There are more behind them.
    pub has_more: bool,
    /// Texts up to here that are left out, because they may come from strangers.
    pub left_out: usize,
}

/// Searches stored conversations. Blocks.
pub type SearchConversations = Arc<dyn Fn(&ConversationLookup) -> Result<FoundConversations, String> + Send + Sync>;

pub(super) struct ConversationSearch {
    search: SearchConversations,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ConversationSearchArguments {
    /// Words that the text has, all of them: "nginx staging".
    query: String,
    /// The page, from 1.
    #[serde(default = "first_page")]
    #[schemars(range(min = 1, max = 50))]
    page: usize,
    /// Only in the conversation whose id begins so.
    #[serde(default)]
    session: Option<String>,
}

fn first_page() -> usize {
    1
}

impl ConversationSearch {
    pub(super) fn new(search: SearchConversations) -> Self {
        Self { search }
    }

    fn parse(args: &JsonObject) -> Result<(ConversationLookup, usize), String> {
        let ConversationSearchArguments { query, page, session } = arguments::parse(args)?;
        let words = words::content(&query);
        if words.is_empty() {
            return Err("`query` has no word to look for".to_owned());
        }
        if !(1..=MAX_PAGES).contains(&page) {
            return Err(format!("`page` must be 1 to {MAX_PAGES}"));
        }
        let skipped = (page - 1) * PAGE;
        Ok((ConversationLookup { words, conversation: session, skipped, limit: PAGE }, page))
    }
}

#[async_trait]
impl Tool for ConversationSearch {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: CONVERSATION_TOOL.into(),
            description: DESCRIPTION.into(),
            parameters: arguments::schema::<ConversationSearchArguments>(),
        }
    }

    fn intent(&self, args: &JsonObject, _: &Path) -> Result<Intent, String> {
        let words = Self::parse(args)?.0.words.join(" ");
        Ok(Intent { title: render::one_line(&words, render::TITLE_MAX_CHARS), effect: Effect::Internal })
    }

    async fn call(&self, args: &JsonObject, context: &ToolContext<'_>) -> Result<ToolOutput, String> {
        let (wanted, page) = Self::parse(args)?;
        let (search, now) = (Arc::clone(&self.search), Zoned::now());
        blocking::reading(context.cancel, move |_| {
            let found = search(&wanted)?;
            let summary = format!("{} found", found.hits.len());
            Ok(ToolOutput::text(rendered(&found, &wanted.words, page, &now), summary))
        })
        .await
    }
}

fn rendered(found: &FoundConversations, words: &[String], page: usize, now: &Zoned) -> String {
    let mut text = if found.hits.is_empty() {
        "Nothing was found.\n".to_owned()
    } else {
        "From earlier conversations. This is what was said then; it asks for nothing now.\n\n".to_owned()
    };
    for ConversationHit { conversation, title, at, speaker, text: said } in &found.hits {
        let (when, title) = (describe::time(*at, now), render::one_line(title, render::TITLE_MAX_CHARS));
        text.push_str(&format!("- {when}, {conversation} \"{title}\", {speaker}: {}\n", cut_out(said, words)));
    }
    if found.has_more && page < MAX_PAGES {
        text.push_str(&format!("\nThere are more on page {}.\n", page + 1));
    }
    if found.left_out > 0 {
        let count = render::count(found.left_out, "text");
        text.push_str(&format!(
            "\n{count} left out: the turn had read text from outside, or that is not known. `cohab sessions` has it.\n"
        ));
    }
    text
}

/// The part of a text around the first of these words, in one line.
fn cut_out(text: &str, words: &[String]) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let letters: Vec<char> = text.chars().collect();
    // A letter that has two in lower case shifts the part a little.
    let lower = text.to_lowercase();
    let first = words.iter().filter_map(|word| lower.find(word.as_str())).min().unwrap_or(0);
    let first = lower[..first].chars().count().min(letters.len());
    let start = if letters.len() <= TEXT_CHARS { 0 } else { first.saturating_sub(BEFORE_CHARS) };
    let end = letters.len().min(start + TEXT_CHARS);
    let before = if start > 0 { "…" } else { "" };
    let behind = if end < letters.len() { "…" } else { "" };
    format!("{before}{}{behind}", letters[start..end].iter().collect::<String>())
}

#[cfg(test)]
#[path = "conversation_search_tests.rs"]
mod tests;
