//! `cohab memory learned` finds passages in the user's documents, and lists what was learned.

use std::{io::Write, path::Path};

use clap::Args;
use cohab_memory::{
    knowledge::{
        record::{LeftOut, PlaceSummary},
        search::{KnowledgeLookup, RankedPassage, search},
        store::KnowledgeStore as _,
    },
    record::Scope,
};
use cohab_text::sanitize::{escaped_json, one_line};
use cohab_tools::refresh_before_search;
use serde_json::{Map, Value, json};

use super::{
    super::{Failure, record},
    Caller,
    documents::{count, open, reading, shown, unusable},
};

/// Printed where no place is learned.
const NOTHING: &str = "Nothing was learned yet. `cohab memory learn PATH` reads a folder or file.";
/// Hits with less than this share of the best score are not listed.
const LEAST_SHARE: f64 = 0.3;
/// Lines that are printed of a passage.
const SHOWN_LINES: usize = 3;
/// Stands before them.
const INDENT: &str = "    ";

/// What to find.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct LearnedArgs {
    /// Words or a question; without them, list what was learned
    #[arg(value_name = "WORDS")]
    pub words: Vec<String>,
    /// Search what was learned in all projects, not only what is found from here
    #[arg(long, requires = "words")]
    pub all: bool,
    /// Show at most N
    #[arg(short, value_name = "N", default_value = "10")]
    pub number: usize,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

pub(super) fn learned(args: &LearnedArgs, caller: &Caller<'_>, output: &mut dyn Write) -> Result<(), Failure> {
    if args.words.is_empty() {
        return list(args.json, caller, output);
    }
    let unusable = unusable(caller.paths);
    let folder = (!args.all).then(|| caller.folder.clone());
    let Some(mut store) = open(caller.paths)? else {
        let nothing = if args.json { json!({"found": []}).to_string() } else { NOTHING.to_owned() };
        return Ok(writeln!(output, "{nothing}")?);
    };
    let now = caller.now.timestamp();
    reading(caller, |learner| {
        for root in refresh_before_search(learner, &mut store, folder.as_deref(), now)? {
            // What cannot be read stays as it is; `learn` says why.
            let _ = learner.refresh(&mut store, &root, now, u64::MAX);
        }
        Ok(())
    })
    .map_err(&unusable)?;
    let question = args.words.join(" ");
    let lookup = KnowledgeLookup { question, folder, limit: args.number, least_share: LEAST_SHARE };
    let found = search(&store, &lookup).map_err(&unusable)?;
    if args.json {
        let found: Vec<Value> = found.iter().map(as_json).collect();
        return Ok(writeln!(output, "{}", escaped_json(&json!({"found": found}).to_string()))?);
    }
    let mut text = String::new();
    found.iter().for_each(|found| add(found, caller, &mut text));
    if found.is_empty() {
        let others = if args.all { "" } else { " --all searches what was learned in other projects, too." };
        let told = format!("No passage has a word of \"{}\".{others}", record::visible(&lookup.question));
        record::paragraph(("", ""), &told, caller.columns, &mut text);
    }
    Ok(output.write_all(text.as_bytes())?)
}

/// A passage for people: its source, its headings, and some of its lines.
fn add(found: &RankedPassage, caller: &Caller<'_>, text: &mut String) {
    let RankedPassage { file, passage, line, .. } = found;
    let below = file.strip_prefix(&caller.folder).ok().filter(|below| !below.as_os_str().is_empty());
    let source = format!("{}:{line}", shown(below.unwrap_or(file), caller));
    let parts = [source.as_str(), passage.headings.as_str()];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    record::paragraph(("", INDENT), &one_line(&parts.join(" · "), usize::MAX), caller.columns, text);
    let before = usize::try_from(line - passage.line).unwrap_or(0);
    let lines = passage.text.lines().skip(before).filter(|line| !line.trim().is_empty());
    for line in lines.take(SHOWN_LINES) {
        record::paragraph((INDENT, INDENT), one_line(line, usize::MAX).trim_end(), caller.columns, text);
    }
}

fn as_json(found: &RankedPassage) -> Value {
    let RankedPassage { file, passage, line, score } = found;
    json!({
        "file": file.to_string_lossy(),
        "line": line,
        "passage_line": passage.line,
        "headings": passage.headings,
        "text": passage.text,
        "score": score,
    })
}

/// Lists all places.
pub(super) fn list(is_json: bool, caller: &Caller<'_>, output: &mut dyn Write) -> Result<(), Failure> {
    let places = match open(caller.paths)? {
        Some(store) => store.places().map_err(unusable(caller.paths))?,
        None => Vec::new(),
    };
    if is_json {
        return print_json(&places, output);
    }
    if places.is_empty() {
        return Ok(writeln!(output, "{NOTHING}")?);
    }
    let mut text = String::new();
    for summary in &places {
        let PlaceSummary { place, files, passages, bytes, .. } = summary;
        let ago = |time| record::time::ago(time, caller.now.timestamp(), caller.now.time_zone());
        let looked =
            place.looked.map_or("not read to the end".to_owned(), |looked| format!("looked at {}", ago(looked)));
        let scope = match &place.scope {
            Scope::Everywhere => String::new(),
            Scope::Project(project) => format!("found in {}", shown(project, caller)),
        };
        let size = format!("{}, {}, {} kB", count(*files, "file"), count(*passages, "passage"), bytes.div_ceil(1_000));
        let parts = [shown(&place.root, caller), size, scope, looked];
        let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        record::paragraph(("", INDENT), &parts.join(" · "), caller.columns, &mut text);
    }
    Ok(output.write_all(text.as_bytes())?)
}

/// Prints places as JSON.
pub(super) fn print_json(places: &[PlaceSummary], output: &mut dyn Write) -> Result<(), Failure> {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let word = |reason: LeftOut| match reason {
        LeftOut::Large => "large",
        LeftOut::Binary => "binary",
        LeftOut::Secret => "secret",
    };
    let places: Vec<Value> = places
        .iter()
        .map(|PlaceSummary { place, files, left_out, passages, bytes }| {
            let left_out: Map<String, Value> =
                left_out.iter().map(|(reason, count)| (word(*reason).to_owned(), json!(count))).collect();
            let project = match &place.scope {
                Scope::Everywhere => None,
                Scope::Project(project) => Some(text(project)),
            };
            json!({
                "path": text(&place.root),
                "project": project,
                "files": files,
                "left_out": left_out,
                "passages": passages,
                "bytes": bytes,
                "learned": place.learned.to_string(),
                "looked": place.looked.map(|looked| looked.to_string()),
            })
        })
        .collect();
    Ok(writeln!(output, "{}", escaped_json(&json!({"places": places}).to_string()))?)
}
