//! Writes facts and blocks as lines of JSON and reads them again. A fact has `text`, `scope` (`everywhere`, or the root of a project) and
//! `stated`; a block has `kind`.

use std::{
    fs::File,
    io::{Read, Write},
    path::{Path, PathBuf},
};

use cohab_memory::{
    blocks::record::Block,
    record::{NewMemory, Origin, Scope, Source},
    store::MemoryStore as _,
};
use cohab_model_api::Secrets;
use cohab_store::memory::SqliteMemory;
use cohab_text::sanitize::{escaped_json, one_line};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::{super::Failure, Caller, blocks::transfer, store};

/// Largest file that is read, in bytes.
const MAX_FILE_BYTES: u64 = 10_000_000;
/// Longest line, in bytes.
const MAX_LINE_BYTES: usize = 64 * 1024;

pub(super) fn export(caller: &Caller<'_>, output: &mut dyn Write) -> Result<(), Failure> {
    let Some(store) = store::open(caller.paths)? else { return Ok(()) };
    // The oldest first, so that an import numbers them alike.
    for memory in store.list(None).map_err(store::unusable(caller.paths))?.iter().rev() {
        let (scope, stated) = (store::scope_json(&memory.scope), memory.stated.to_string());
        let value = json!({"text": memory.text, "scope": scope, "stated": stated});
        writeln!(output, "{}", escaped_json(&value.to_string()))?;
    }
    for value in transfer::exported(&store, caller)? {
        writeln!(output, "{}", escaped_json(&value.to_string()))?;
    }
    Ok(())
}

pub(super) fn import(file: &Path, caller: &Caller<'_>, output: &mut dyn Write) -> Result<(), Failure> {
    let name = one_line(&file.to_string_lossy(), usize::MAX);
    let nothing = |message: String, hint: Option<String>| {
        Failure::Other(format!("{name}: {message}; nothing was imported"), hint)
    };
    let path = caller.folder.join(file);
    let bytes = read(&path).map_err(|message| nothing(message, None))?;
    let path = one_line(&path.to_string_lossy(), usize::MAX);
    let secrets = Secrets::of_this_process();
    let (mut facts, mut blocks) = (Vec::new(), Vec::new());
    for (index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        if !line.trim_ascii().is_empty() {
            let read = line_of(line, &secrets, caller);
            match read.map_err(|(fault, hint)| nothing(format!("line {}: {fault}", index + 1), hint))? {
                ImportedLine::Fact(fact, stated) => {
                    facts.push((NewMemory { sources: vec![Source::File(path.clone())], ..fact }, stated));
                }
                ImportedLine::Block(block) => blocks.push(block),
            }
        }
    }
    if facts.is_empty() && blocks.is_empty() {
        return Ok(writeln!(output, "{name} holds no facts and no blocks.")?);
    }
    let mut store = store::create(caller.paths)?;
    if !facts.is_empty() {
        import_facts(&facts, &mut store, caller, output)?;
    }
    if !blocks.is_empty() {
        import_blocks(&blocks, &mut store, caller, output)?;
    }
    Ok(())
}

fn import_facts(
    facts: &[(NewMemory, Timestamp)],
    store: &mut SqliteMemory,
    caller: &Caller<'_>,
    output: &mut dyn Write,
) -> Result<(), Failure> {
    let new = store.remember_all(facts).map_err(store::unusable(caller.paths))?;
    let known = facts.len() as u64 - new;
    let facts = if new == 1 { "fact" } else { "facts" };
    let were = if known == 1 { "was" } else { "were" };
    Ok(writeln!(output, "Imported {new} new {facts}; {known} {were} known already.")?)
}

fn import_blocks(
    blocks: &[Block],
    store: &mut SqliteMemory,
    caller: &Caller<'_>,
    output: &mut dyn Write,
) -> Result<(), Failure> {
    let mut new = 0_usize;
    for block in blocks {
        let is_new = transfer::import(block, store, caller);
        let done = || format!("{new} of {} blocks were imported", blocks.len());
        new += usize::from(is_new.map_err(|failure| incomplete(failure, &done()))?);
    }
    let known = blocks.len() - new;
    let (noun, were) = (if new == 1 { "block" } else { "blocks" }, if known == 1 { "was" } else { "were" });
    Ok(writeln!(output, "Imported {new} {noun}; {known} {were} known already.")?)
}

/// A failure in the middle of an import.
fn incomplete(failure: Failure, done: &str) -> Failure {
    match failure {
        Failure::Other(message, hint) => Failure::Other(format!("{message}; {done}"), hint),
        other => other,
    }
}

fn read(file: &Path) -> Result<Vec<u8>, String> {
    let opened = File::open(file).map_err(|error| format!("it cannot be opened: {error}"))?;
    let mut bytes = Vec::new();
    let read = opened.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(|error| format!("it cannot be read: {error}"))?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(format!("it is larger than {} MB", MAX_FILE_BYTES / 1_000_000));
    }
    Ok(bytes)
}

/// A fault of a line, and the remedy.
type LineFault = (String, Option<String>);

/// What a line holds.
enum ImportedLine {
    /// A fact, and the time at which it was stated.
    Fact(NewMemory, Timestamp),
    Block(Block),
}

fn line_of(line: &[u8], secrets: &Secrets, caller: &Caller<'_>) -> Result<ImportedLine, LineFault> {
    let fault = |message: &str| (message.to_owned(), None);
    if line.len() > MAX_LINE_BYTES {
        return Err(fault("it is longer than 64 KiB"));
    }
    let value: Value = serde_json::from_slice(line).map_err(|error| (format!("it is not JSON: {error}"), None))?;
    let scope = match &value["scope"] {
        Value::Null => Scope::Everywhere,
        Value::String(word) if word == store::EVERYWHERE => Scope::Everywhere,
        Value::String(root) if root.starts_with('/') => Scope::Project(PathBuf::from(root)),
        _ => return Err(fault("its `scope` is neither \"everywhere\" nor an absolute path")),
    };
    if value["kind"] == transfer::KIND {
        return transfer::read(&value, scope).map(ImportedLine::Block);
    }
    let text = value["text"].as_str().ok_or_else(|| fault("it has no `text`"))?;
    let text = store::storable(text, secrets).map_err(|(fault, hint)| (fault, Some(hint)))?;
    let now = caller.now.timestamp();
    let stated = match &value["stated"] {
        Value::Null => now,
        Value::String(time) => {
            time.parse().map_err(|_| fault("its `stated` is not a time such as 2026-03-01T14:05:00Z"))?
        }
        _ => return Err(fault("its `stated` is not a time such as 2026-03-01T14:05:00Z")),
    };
    let fact = NewMemory::stated(text, scope, Origin::Import, caller.folder.clone());
    // No fact is from the future.
    Ok(ImportedLine::Fact(fact, stated.min(now)))
}
