//! Remembers a fact, and replaces one by a newer version.

use std::io::Write;

use cohab_context::workspace::root_of;
use cohab_memory::{
    record::{Memory, MemoryId, NewMemory, Origin, Scope},
    statement,
    store::{MemoryStore as _, Remembered},
};
use cohab_model_api::Secrets;
use cohab_text::sanitize::escaped_json;
use serde_json::json;

use super::{super::Failure, AddArgs, Caller, list, off_note, store};

pub(super) fn add(args: &AddArgs, caller: &Caller<'_>, output: &mut dyn Write) -> Result<(), Failure> {
    let text = storable(&args.text.join(" "))?;
    let is_of_project = args.project || !args.everywhere && statement::is_about_this_project(&text);
    let scope = if is_of_project { Scope::Project(root_of(&caller.folder, &caller.home)) } else { Scope::Everywhere };
    let origin = if args.at_prompt { Origin::Prompt } else { Origin::CommandLine };
    let new = NewMemory::stated(text, scope, origin, caller.folder.clone());
    let remembered = store::create(caller.paths)?.remember(&new, caller.now.timestamp());
    let (memory, is_new) = match remembered.map_err(store::unusable(caller.paths))? {
        Remembered::New(memory) => (memory, true),
        Remembered::Known(memory) => (memory, false),
    };
    if args.json {
        let value = json!({"fact": list::as_json(&memory), "is_new": is_new});
        return Ok(writeln!(output, "{}", escaped_json(&value.to_string()))?);
    }
    let label = if is_new { "Remembered" } else { "Known already" };
    writeln!(output, "{label} {}", named(&memory, caller))?;
    let forget = if args.at_prompt { "? /forget" } else { "cohab memory forget" };
    writeln!(output, "`{forget} {}` deletes it.", memory.id)?;
    off_note(caller.paths).map_or(Ok(()), |note| Ok(writeln!(output, "{note}")?))
}

pub(super) fn edit(id: MemoryId, text: &str, caller: &Caller<'_>, output: &mut dyn Write) -> Result<(), Failure> {
    let text = storable(text)?;
    let (mut store, old) = store::fact(caller.paths, id)?;
    if let Some(newer) = old.superseded_by {
        let hint = format!("`cohab memory edit {newer} ...` replaces that version");
        return Err(Failure::Other(format!("fact {id} was replaced by {newer}"), Some(hint)));
    }
    if old.text == text {
        return Ok(writeln!(output, "Unchanged {}", named(&old, caller))?);
    }
    let (scope, folder) = (old.scope, caller.folder.clone());
    let new = NewMemory::stated(text, scope, Origin::CommandLine, folder);
    let replaced = store.replace(id, &new, caller.now.timestamp()).map_err(store::unusable(caller.paths))?;
    let Some(memory) = replaced else { return Err(store::unknown(id)) };
    writeln!(output, "Remembered {}", named(&memory, caller))?;
    Ok(writeln!(output, "It replaces {id}. `cohab memory why {}` shows the history.", memory.id)?)
}

/// The text to store, with the secrets of this process known.
fn storable(text: &str) -> Result<String, Failure> {
    store::storable(text, &Secrets::of_this_process())
        .map_err(|(fault, hint)| Failure::Other(format!("not remembered: {fault}"), Some(hint)))
}

/// A fact with its number and the project where it holds.
pub(super) fn named(memory: &Memory, caller: &Caller<'_>) -> String {
    let place = store::place(&memory.scope, caller);
    let separator = if place.is_empty() { "" } else { " · " };
    format!("({}): {}{separator}{place}", memory.id, store::text(memory))
}
