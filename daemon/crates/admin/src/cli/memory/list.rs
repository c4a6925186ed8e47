//! Prints lists of facts.

use std::io::Write;

use cohab_memory::{record::Memory, store::MemoryStore as _};
use cohab_text::sanitize::escaped_json;
use serde_json::{Value, json};

use super::{
    super::{Failure, record},
    Caller, FactFilter, NOTHING, inbox, off_note, past, store,
};

/// Stands behind a fact in quarantine.
pub(super) const CHANGED: &str = "not used: another program changed it";

pub(super) fn list(filter: &FactFilter, caller: &Caller<'_>, output: &mut dyn Write) -> Result<(), Failure> {
    let unusable = store::unusable(caller.paths);
    let all = store::open(caller.paths)?.map_or(Ok(Vec::new()), |store| store.list(None)).map_err(&unusable)?;
    let count = all.len();
    let is_shown = |memory: &Memory| filter.all || memory.scope.holds_in(&caller.folder);
    let shown: Vec<Memory> = all.into_iter().filter(is_shown).collect();
    if filter.json {
        return print_json(&shown, output);
    }
    let mut text = if count == 0 { format!("{NOTHING}\n") } else { table(&shown, caller) };
    let (mut notes, elsewhere) = (Vec::new(), count - shown.len());
    if elsewhere > 0 {
        let (facts, hold) = if elsewhere == 1 { ("fact", "holds") } else { ("facts", "hold") };
        notes.push(format!("{elsewhere} {facts} {hold} in other projects: `cohab memory list --all` lists all."));
    }
    notes.extend(of_past(caller));
    notes.extend(off_note(caller.paths).map(str::to_owned));
    notes.iter().for_each(|note| record::paragraph(("", ""), note, caller.columns, &mut text));
    Ok(output.write_all(text.as_bytes())?)
}

/// How much is kept of what was done, and what it proposes. Facts are listed whatever became of that file.
fn of_past(caller: &Caller<'_>) -> Vec<String> {
    let notes = past::kept(caller).and_then(|kept| Ok([kept, inbox::note(caller)?]));
    match notes {
        Ok(notes) => notes.into_iter().flatten().collect(),
        Err(Failure::Other(message, _)) => vec![format!("What was done cannot be listed: {message}.")],
        Err(_) => Vec::new(),
    }
}

pub(super) fn search(
    query: &str,
    filter: &FactFilter,
    caller: &Caller<'_>,
    output: &mut dyn Write,
) -> Result<(), Failure> {
    let hits = match store::open(caller.paths)? {
        Some(store) => store::found(&store, query, filter.all, caller)?.0,
        None if filter.json => Vec::new(),
        None => return Ok(writeln!(output, "{NOTHING}")?),
    };
    let found: Vec<Memory> = hits.into_iter().map(|hit| hit.memory).collect();
    if filter.json {
        return print_json(&found, output);
    }
    if found.is_empty() {
        return Ok(writeln!(output, "{}", none_has(query, "a word of", filter.all))?);
    }
    Ok(output.write_all(table(&found, caller).as_bytes())?)
}

/// The sentence for a search without a hit.
pub(super) fn none_has(query: &str, which: &str, is_anywhere: bool) -> String {
    let others = if is_anywhere { "" } else { " With --all, facts of other projects are searched, too." };
    format!("No fact has {which} \"{}\".{others}", record::visible(query))
}

/// A paragraph for each fact: its number, the fact, the project where it holds, and when it was stated.
pub(super) fn table(memories: &[Memory], caller: &Caller<'_>) -> String {
    let digits = memories.iter().map(|memory| memory.id.to_string().len()).max().unwrap_or(0);
    let mut text = String::new();
    for memory in memories {
        let when = record::time::ago(memory.stated, caller.now.timestamp(), caller.now.time_zone());
        let is_out = if memory.is_sound { "" } else { CHANGED };
        let parts = [store::text(memory), store::place(&memory.scope, caller), when, is_out.to_owned()];
        let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        let head = format!("{:>digits$}  ", memory.id.0);
        let indent = " ".repeat(head.len());
        record::paragraph((&head, &indent), &parts.join(" · "), caller.columns, &mut text);
    }
    text
}

fn print_json(memories: &[Memory], output: &mut dyn Write) -> Result<(), Failure> {
    let facts: Vec<Value> = memories.iter().map(as_json).collect();
    Ok(writeln!(output, "{}", escaped_json(&json!({"facts": facts}).to_string()))?)
}

/// A fact as JSON.
pub(super) fn as_json(memory: &Memory) -> Value {
    json!({
        "id": memory.id.0,
        "text": memory.text,
        "scope": store::scope_json(&memory.scope),
        "origin": memory.origin.word(),
        "folder": memory.folder.to_string_lossy(),
        "trust": memory.trust,
        "sources": memory.sources.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "is_sound": memory.is_sound,
        "stated": memory.stated.to_string(),
        "valid_to": memory.valid_to.map(|time| time.to_string()),
        "superseded_by": memory.superseded_by.map(|id| id.0),
    })
}
