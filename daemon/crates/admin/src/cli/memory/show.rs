//! Shows one fact: where it holds, where it came from, and its versions.

use std::io::Write;

use cohab_memory::{
    record::{Memory, Origin, Scope},
    store::MemoryStore as _,
};
use cohab_text::sanitize::{escaped_json, one_line};
use serde_json::{Value, json};

use super::{
    super::{Failure, record},
    Caller, OneFact, list, store,
};

pub(super) fn show(one: &OneFact, caller: &Caller<'_>, output: &mut dyn Write) -> Result<(), Failure> {
    let (_, memory) = store::fact(caller.paths, one.id)?;
    let text = if one.json { line(&json!({"fact": list::as_json(&memory)})) } else { described(&memory, caller) };
    Ok(output.write_all(text.as_bytes())?)
}

pub(super) fn why(one: &OneFact, caller: &Caller<'_>, output: &mut dyn Write) -> Result<(), Failure> {
    let (store, memory) = store::fact(caller.paths, one.id)?;
    let versions = store.versions(memory.id).map_err(store::unusable(caller.paths))?;
    let text = if one.json {
        let versions: Vec<Value> = versions.iter().map(list::as_json).collect();
        line(&json!({"fact": list::as_json(&memory), "versions": versions}))
    } else {
        described(&memory, caller) + &history(&versions, caller)
    };
    Ok(output.write_all(text.as_bytes())?)
}

fn line(value: &Value) -> String {
    escaped_json(&value.to_string()) + "\n"
}

fn clock(time: jiff::Timestamp, caller: &Caller<'_>) -> String {
    record::time::clock(time, caller.now.time_zone())
}

fn described(memory: &Memory, caller: &Caller<'_>) -> String {
    let head = format!("{}  ", memory.id);
    let indent = " ".repeat(head.len());
    let mut text = String::new();
    record::paragraph((&head, &indent), &store::text(memory), caller.columns, &mut text);
    let holds = match &memory.scope {
        Scope::Everywhere => "holds everywhere".to_owned(),
        Scope::Project(_) => format!("holds {} and below", store::place(&memory.scope, caller)),
    };
    let from = match memory.origin {
        Origin::Prompt => "from you, at the prompt",
        Origin::CommandLine => "from you, with `cohab memory`",
        Origin::Import => "from a file that you imported",
        Origin::Accepted => "proposed, and accepted by you",
    };
    let folder = record::folder(&memory.folder.to_string_lossy(), &caller.home);
    let from = format!("{from} in {folder}, {}", clock(memory.stated, caller));
    let trust = format!("trust {:.1} of 1", memory.trust);
    let changed = (!memory.is_sound).then(|| list::CHANGED.to_owned());
    for row in
        [Some(holds), Some(from), derived(memory), Some(trust), replaced(memory, caller), changed].into_iter().flatten()
    {
        record::paragraph((&indent, &indent), &row, caller.columns, &mut text);
    }
    text
}

/// What it was derived from.
fn derived(memory: &Memory) -> Option<String> {
    let sources: Vec<String> = memory.sources.iter().map(|source| one_line(&source.to_string(), usize::MAX)).collect();
    (!sources.is_empty()).then(|| format!("derived from {}", sources.join(", ")))
}

/// When a newer version took its place.
fn replaced(memory: &Memory, caller: &Caller<'_>) -> Option<String> {
    let by = memory.superseded_by.map(|id| format!(" by {id}")).unwrap_or_default();
    memory.valid_to.map(|time| format!("replaced {}{by}", clock(time, caller)))
}

/// All versions, oldest first.
fn history(versions: &[Memory], caller: &Caller<'_>) -> String {
    let mut text = "\nHistory\n".to_owned();
    for version in versions {
        let head = format!("  {}  ", clock(version.stated, caller));
        let fact = format!("{} ({})", store::text(version), version.id);
        let indent = " ".repeat(head.len());
        record::paragraph((&head, &indent), &fact, caller.columns, &mut text);
        if let Some(replaced) = replaced(version, caller) {
            record::paragraph((&indent, &indent), &replaced, caller.columns, &mut text);
        }
    }
    text
}
