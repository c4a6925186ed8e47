//! Prints blocks and their versions.

use std::io::Write;

use cohab_memory::blocks::{operations, record::Block, store::BlockStore as _};
use cohab_text::sanitize::{escaped_json, one_line, sanitize};
use serde_json::{Value, json};

use super::{
    super::{
        super::{Failure, record},
        Caller,
        list::CHANGED,
        store::{self, scope_json},
    },
    OneBlock, stored,
};

/// Longest row without a terminal, in columns.
const MAX_ROW_COLUMNS: usize = 160;

pub(super) fn list(is_json: bool, caller: &Caller<'_>, output: &mut dyn Write) -> Result<(), Failure> {
    let blocks = operations::visible(stored::here(caller)?, &stored::root(caller));
    if is_json {
        let rows: Vec<Value> = blocks.iter().map(as_json).collect();
        return print(&json!({"blocks": rows}), output);
    }
    let width = blocks.iter().map(|block| block.key.label.as_str().len()).max().unwrap_or(0);
    for block in &blocks {
        let place = store::place(&block.key.scope, caller);
        let (level, about) = match block.value.as_str() {
            "" => ("empty".to_owned(), block.description.as_str()),
            value => (block.fill_level(), value.lines().next().unwrap_or_default()),
        };
        // An empty block of a project says nothing about its folder yet.
        let place = if block.version.is_some() { place } else { String::new() };
        let about = if block.is_sound() { about } else { CHANGED };
        row(&format!("{:width$}  ", block.key.label.as_str()), &[&level, &place, about], caller, output)?;
    }
    if blocks.iter().all(|block| block.value.is_empty()) {
        writeln!(output, "`cohab memory blocks set human I work at night` fills one.")?;
    }
    if cohab_config::load(caller.paths).is_ok_and(|settings| !settings.memory.enabled) {
        writeln!(output, "Memory is off: questions are given no blocks. `cohab memory on` turns it on.")?;
    }
    Ok(())
}

pub(super) fn show(one: &OneBlock, caller: &Caller<'_>, output: &mut dyn Write) -> Result<(), Failure> {
    let block = stored::named(&one.label, caller)?;
    if one.json {
        return print(&json!({"block": as_json(&block)}), output);
    }
    let place = Some(store::place(&block.key.scope, caller)).filter(|place| !place.is_empty());
    let place = place.unwrap_or_else(|| "everywhere".to_owned());
    let changed = block.version.map(|version| {
        format!("changed {}", record::time::ago(version.at, caller.now.timestamp(), caller.now.time_zone()))
    });
    let is_out = (!block.is_sound()).then(|| CHANGED.to_owned());
    let facts = [block.fill_level(), place].into_iter().chain(changed).chain(is_out).collect::<Vec<_>>().join(" · ");
    let mut text = String::new();
    let head = format!("{}  ", block.key.label);
    let indent = " ".repeat(head.len());
    let about = if block.description.is_empty() { &facts } else { &one_line(&block.description, usize::MAX) };
    record::paragraph((&head, &indent), about, caller.columns, &mut text);
    if !block.description.is_empty() {
        record::paragraph((&indent, &indent), &facts, caller.columns, &mut text);
    }
    if !block.value.is_empty() {
        text += &format!("\n{}\n", sanitize(&block.value));
    }
    Ok(output.write_all(text.as_bytes())?)
}

pub(super) fn history(one: &OneBlock, caller: &Caller<'_>, output: &mut dyn Write) -> Result<(), Failure> {
    let block = stored::named(&one.label, caller)?;
    let versions = match store::open(caller.paths)? {
        Some(store) => store.block_versions(&block.key).map_err(store::unusable(caller.paths))?,
        None => Vec::new(),
    };
    if one.json {
        let row = |(steps, block): (usize, &Block)| {
            let mut value = as_json(block);
            value["steps"] = steps.into();
            value
        };
        let rows: Vec<Value> = versions.iter().enumerate().map(row).collect();
        return print(&json!({"versions": rows}), output);
    }
    if versions.is_empty() {
        return Ok(writeln!(output, "{} was never changed.", block.key.label)?);
    }
    for (steps, block) in versions.iter().enumerate() {
        let Some(version) = block.version else { continue };
        let when = record::time::clock(version.at, caller.now.time_zone());
        let chars = if block.value.is_empty() { "empty".to_owned() } else { format!("{} characters", block.chars()) };
        row(&format!("{steps:>2}  {when}  {:8}  ", version.deed.word()), &[&chars, &block.value], caller, output)?;
    }
    if versions.len() > 1 {
        let label = &block.key.label;
        writeln!(output, "`cohab memory blocks rollback {label} --steps N` restores one by its number.")?;
    }
    Ok(())
}

/// One row of the terminal: these parts behind `head`, cut at the end.
fn row(head: &str, parts: &[&str], caller: &Caller<'_>, output: &mut dyn Write) -> Result<(), Failure> {
    let columns = caller.columns.unwrap_or(MAX_ROW_COLUMNS).saturating_sub(head.len());
    let parts: Vec<&str> = parts.iter().copied().filter(|part| !part.is_empty()).collect();
    Ok(writeln!(output, "{head}{}", one_line(&parts.join(" · "), columns))?)
}

fn print(value: &Value, output: &mut dyn Write) -> Result<(), Failure> {
    Ok(writeln!(output, "{}", escaped_json(&value.to_string()))?)
}

/// A block as JSON.
fn as_json(block: &Block) -> Value {
    json!({
        "label": block.key.label.as_str(),
        "scope": scope_json(&block.key.scope),
        "description": block.description,
        "chars": block.chars(),
        "limit": block.max_chars,
        "template": block.template,
        "value": block.value,
        "changed": block.version.map(|version| version.at.to_string()),
        "by": block.version.map(|version| version.deed.word()),
    })
}
