//! `memory_search` finds what was done before, commands that ran and questions with their answers, and passages in the user's documents.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use async_trait::async_trait;
use cohab_agent::port::{Effect, Intent, Tool, ToolContext, ToolOutput};
use cohab_memory::{
    knowledge::{
        quote,
        search::{KnowledgeLookup, RankedPassage},
    },
    past::{
        HOW_KEPT, describe,
        ranking::Ranked,
        record::{PastId, PastItem, PastTurn},
        search::{PastLookup, Recalled},
    },
    record::LEAST_TRUST,
};
use cohab_model_api::{JsonObject, ToolSpec};
use jiff::Zoned;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{arguments, blocking, render};

const DESCRIPTION: &str = "Finds what the user or you did before in this user's terminals: commands with time, folder and outcome, and \
    earlier questions with their answers. Use it when the user asks about the past, such as \"which command did I use\". Also finds \
    passages in documents that the user gave cohab to learn.";
/// Most questions of one call.
const MAX_QUESTIONS: usize = 4;
/// Most hits of one question.
const MAX_HITS: usize = 8;
/// Most passages of one question.
const MAX_PASSAGES: usize = 4;
/// Hits with less than this share of the best score are left out.
const LEAST_SHARE: f64 = 0.4;
/// Longest answer of an earlier turn, in characters.
const ANSWER_CHARS: usize = 300;

/// Searches what was done. Blocks. `Ok(None)` if nothing is kept yet.
pub type SearchPast = Arc<dyn Fn(&PastLookup, &Zoned) -> Result<Option<Recalled>, String> + Send + Sync>;

/// Searches the user's documents. Blocks. Nothing is found if nothing was learned.
pub type SearchDocuments = Arc<dyn Fn(&KnowledgeLookup) -> Result<Vec<RankedPassage>, String> + Send + Sync>;

pub(super) struct MemorySearch {
    search: SearchPast,
    documents: SearchDocuments,
    home: PathBuf,
}

/// What is searched.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum SearchedKind {
    /// Commands that ran, and earlier questions.
    Done,
    /// Documents that the user gave cohab to learn.
    Knowledge,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct MemorySearchArguments {
    /// Questions or words; several for different wordings. A time in one counts: "nginx last week".
    queries: Vec<String>,
    /// Only in the current folder and below.
    #[serde(default)]
    here: bool,
    /// What to search; without it, everything.
    #[serde(default)]
    kinds: Vec<SearchedKind>,
}

impl MemorySearch {
    /// Folders below `home` are shown with `~`.
    pub(super) fn new(search: SearchPast, documents: SearchDocuments, home: PathBuf) -> Self {
        Self { search, documents, home }
    }

    fn parse(args: &JsonObject) -> Result<MemorySearchArguments, String> {
        let parsed: MemorySearchArguments = arguments::parse(args)?;
        match parsed.queries.len() {
            1..=MAX_QUESTIONS => Ok(parsed),
            _ => Err(format!("`queries` must have 1 to {MAX_QUESTIONS} texts")),
        }
    }
}

#[async_trait]
impl Tool for MemorySearch {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: cohab_memory::past::SEARCH_TOOL.into(),
            description: DESCRIPTION.into(),
            parameters: arguments::schema::<MemorySearchArguments>(),
        }
    }

    fn intent(&self, args: &JsonObject, _: &Path) -> Result<Intent, String> {
        let queries = Self::parse(args)?.queries;
        Ok(Intent { title: render::one_line(&queries.join("; "), render::TITLE_MAX_CHARS), effect: Effect::Internal })
    }

    async fn call(&self, args: &JsonObject, context: &ToolContext<'_>) -> Result<ToolOutput, String> {
        let MemorySearchArguments { queries, here, kinds } = Self::parse(args)?;
        let wants = move |kind| kinds.is_empty() || kinds.contains(&kind);
        let cwd = context.runner.cwd();
        let folder = here.then(|| cwd.clone());
        let (search, documents) = (Arc::clone(&self.search), Arc::clone(&self.documents));
        let (home, now) = (self.home.clone(), Zoned::now());
        blocking::reading(context.cancel, move |_| {
            let (text, items, passages) = (String::new(), Vec::new(), Vec::new());
            let mut told = FoundText { home: &home, now: &now, text, items, passages, lacks_commands: false };
            if wants(SearchedKind::Knowledge) {
                for question in &queries {
                    let (question, folder) = (question.clone(), Some(cwd.clone()));
                    let wanted = KnowledgeLookup { question, folder, limit: MAX_PASSAGES, least_share: LEAST_SHARE };
                    told.passages.extend(documents(&wanted)?);
                }
            }
            for question in queries.into_iter().filter(|_| wants(SearchedKind::Done)) {
                let wanted = PastLookup {
                    question,
                    folder: folder.clone(),
                    limit: MAX_HITS,
                    least_share: LEAST_SHARE,
                    ..PastLookup::default()
                };
                match search(&wanted, &now)? {
                    Some(recalled) => told.add(&recalled),
                    None => told.lacks_commands = true,
                }
            }
            Ok(told.output())
        })
        .await
    }
}

/// The text of what was found.
struct FoundText<'a> {
    home: &'a Path,
    now: &'a Zoned,
    text: String,
    /// What it names already.
    items: Vec<PastId>,
    /// Passages that were found; one may be there several times.
    passages: Vec<RankedPassage>,
    /// Nothing is kept of the user's own commands.
    lacks_commands: bool,
}

impl FoundText<'_> {
    fn output(mut self) -> ToolOutput {
        let found = self.items.len() + self.add_passages();
        let summary = format!("{found} found");
        let content = match (found == 0, self.lacks_commands) {
            (false, _) => self.text,
            (true, false) => "Nothing was found.".to_owned(),
            (true, true) => format!("Nothing was found. {HOW_KEPT}"),
        };
        ToolOutput::text(content, summary)
    }

    /// Adds the passages, each once; returns how many there are.
    fn add_passages(&mut self) -> usize {
        let mut sources: Vec<String> = Vec::new();
        for RankedPassage { file, passage, .. } in std::mem::take(&mut self.passages) {
            let source = quote::source(&file.to_string_lossy(), passage.line, &passage.headings);
            if !sources.contains(&source) {
                self.text.push_str(&format!("{source}\n\n{}", block("", &passage.text)));
                sources.push(source);
            }
        }
        sources.len()
    }

    fn add(&mut self, recalled: &Recalled) {
        self.lacks_commands |= recalled.lacks_commands;
        if recalled.is_of_another_time && self.items.is_empty() {
            self.text.push_str("Nothing was found in that time. At other times:\n\n");
        }
        for Ranked { item, .. } in &recalled.ranked {
            if self.items.contains(&item.id()) {
                continue;
            }
            self.items.push(item.id());
            let when = describe::circumstances(item, self.now, self.home);
            match item {
                PastItem::Line(line) => {
                    self.text.push_str(&format!("{when}:\n\n{}", block("sh", &line.last.line)));
                    if !line.last.output_tail.is_empty() {
                        let output = render::one_line(line.last.output_tail.trim(), ANSWER_CHARS);
                        self.text.push_str(&format!("It printed: {output}\n\n"));
                    }
                }
                PastItem::Turn(turn) => self.add_turn(turn, &when),
            }
        }
    }

    fn add_turn(&mut self, turn: &PastTurn, when: &str) {
        let turn = &turn.turn;
        let question = render::one_line(&turn.question, render::TITLE_MAX_CHARS);
        self.text.push_str(&format!("{when}, asked: {question}\n\n"));
        if turn.trust < LEAST_TRUST {
            let left_out = "What came of it is left out: it had read text from outside. `cohab sessions` has it.\n\n";
            self.text.push_str(left_out);
            return;
        }
        for command in &turn.commands {
            self.text.push_str(&block("sh", &command.line));
            match command.exit_code {
                Some(0) => {}
                Some(code) => self.text.push_str(&format!("It ended with exit {code}.\n\n")),
                None => self.text.push_str("It did not end.\n\n"),
            }
        }
        let answer = render::one_line(&turn.answer, ANSWER_CHARS);
        if !answer.is_empty() {
            self.text.push_str(&format!("Answer: {answer}\n\n"));
        }
    }
}

/// A text as a block of code in this language, with a fence that is longer than any in it.
fn block(language: &str, text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{text}\n{fence}\n\n")
}

#[cfg(test)]
#[path = "memory_search_tests.rs"]
mod tests;
