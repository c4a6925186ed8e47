//! `cohab memory stats` counts what is remembered, kept and learned.

use std::io::Write;

use clap::Args;
use cohab_memory::{
    blocks::store::BlockStore as _, knowledge::store::KnowledgeStore as _, past::store::PastStore as _,
    store::MemoryStore as _,
};
use serde_json::{Map, Value, json};

use super::{super::Failure, Caller, documents, past, store};

/// How it is printed.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct StatsArgs {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

pub(super) fn stats(args: &StatsArgs, caller: &Caller<'_>, output: &mut dyn Write) -> Result<(), Failure> {
    let unusable = store::unusable(caller.paths);
    let (facts, blocks) = match store::open(caller.paths)? {
        Some(store) => (store.list(None).map_err(&unusable)?.len(), store.blocks(None).map_err(&unusable)?),
        None => (0, Vec::new()),
    };
    let blocks = blocks.iter().filter(|block| !block.value.is_empty()).count();
    let counts = match past::open(caller.paths)? {
        Some(store) => store.counts().map_err(past::unusable(caller.paths))?,
        None => Default::default(),
    };
    let size = |path: std::path::PathBuf| path.metadata().map_or(0, |file| file.len());
    let files = [caller.paths.memory_file(), caller.paths.past_file(), caller.paths.knowledge_file()];
    let bytes: u64 = files.into_iter().map(size).sum();
    let places = match documents::open(caller.paths)? {
        Some(store) => store.places().map_err(documents::unusable(caller.paths))?,
        None => Vec::new(),
    };
    let learned: u64 = places.iter().map(|summary| summary.files).sum();
    let passages: u64 = places.iter().map(|summary| summary.passages).sum();
    if args.json {
        let runs: Map<String, Value> =
            counts.runs.iter().map(|(source, runs)| (source.word().to_owned(), json!(runs))).collect();
        let value = json!({
            "facts": facts,
            "blocks": blocks,
            "commands": runs,
            "lines": counts.lines,
            "questions": counts.turns,
            "places": places.len(),
            "documents": learned,
            "passages": passages,
            "since": counts.since.map(|since| since.to_string()),
            "bytes": bytes,
        });
        return Ok(writeln!(output, "{value}")?);
    }
    writeln!(output, "facts      {facts}")?;
    writeln!(output, "blocks     {blocks}")?;
    writeln!(output, "questions  {}", counts.turns)?;
    let runs: u64 = counts.runs.iter().map(|(_, runs)| runs).sum();
    let sources: Vec<String> = counts.runs.iter().map(|(source, runs)| format!("{} {runs}", source.word())).collect();
    let sources = if sources.is_empty() {
        String::new()
    } else {
        format!(", {} different ({})", counts.lines, sources.join(", "))
    };
    writeln!(output, "commands   {runs}{sources}")?;
    writeln!(output, "documents  {learned} (passages {passages})")?;
    if let Some(since) = counts.since {
        writeln!(output, "since      {}", since.to_zoned(caller.now.time_zone().clone()).date())?;
    }
    Ok(writeln!(output, "on disk    {} kB", bytes.div_ceil(1_000))?)
}
