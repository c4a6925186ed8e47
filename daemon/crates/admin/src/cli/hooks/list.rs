//! Lists files of hooks with what they run and whether it does.

use std::io::Write;

use cohab_hooks::{
    event::HookEvent,
    file::{Hook, HookFile},
    places::{Consent, FoundFile, OWN_FILE, Scope},
};
use cohab_text::sanitize::{escaped_json, one_line};
use serde_json::{Value, json};

use super::{Caller, Failure};

/// Columns of the names of events.
const EVENT_COLUMNS: usize = 18;
/// Columns of matchers.
const MATCHER_COLUMNS: usize = 12;

/// Whether the hooks of a file run.
fn state(file: &FoundFile) -> (&'static str, String) {
    match (file.consent, &file.content) {
        (_, Err(fault)) => ("broken", format!("broken: {}", one_line(fault, usize::MAX))),
        (Consent::Given, Ok(_)) => ("active", "active".to_owned()),
        (Consent::NoTrust, Ok(_)) => ("untrusted", "does not run: `cohab trust` trusts the project".to_owned()),
        (Consent::Missing, Ok(_)) => ("waits", "does not run until you allow it: `cohab hooks allow`".to_owned()),
        (Consent::Changed, Ok(_)) => {
            ("changed", "does not run: it changed since you allowed it, `cohab hooks allow`".to_owned())
        }
    }
}

/// Prints all files.
pub(super) fn list(caller: &Caller<'_>, is_json: bool, output: &mut dyn Write) -> Result<(), Failure> {
    let found = caller.places.find(Some(&caller.root))?;
    if is_json {
        let files: Vec<Value> = found.iter().map(as_json).collect();
        writeln!(output, "{}", escaped_json(&json!({"files": files}).to_string()))?;
        return Ok(());
    }
    if found.is_empty() {
        let own = caller.shown(&caller.places.settings.join(OWN_FILE));
        writeln!(output, "There are no hooks here. Write yours to {own}, or copy some: `cohab hooks import FILE`.")?;
    }
    for (number, file) in found.iter().enumerate() {
        if number > 0 {
            writeln!(output)?;
        }
        writeln!(output, "{}\n  {}", caller.shown(&file.path), state(file).1)?;
        if let Ok(content) = &file.content {
            rows(content, output)?;
        }
        for script in &file.scripts {
            writeln!(output, "  its script {}", caller.shown(script))?;
        }
    }
    Ok(())
}

/// Prints the hooks of a file, a line each, and what of the file is not used.
pub(super) fn rows(content: &HookFile, output: &mut dyn Write) -> Result<(), Failure> {
    for Hook { event, matcher, command, limit, .. } in &content.hooks {
        let matcher = one_line(&matcher.shown(), usize::MAX);
        let (event, command) = (event.name(), one_line(command, usize::MAX));
        let limit = limit.as_secs_f64();
        writeln!(output, "  {event:<EVENT_COLUMNS$}  {matcher:<MATCHER_COLUMNS$}  {command}  ({limit} s)")?;
    }
    for remark in &content.remarks {
        writeln!(output, "  not used: {remark}")?;
    }
    Ok(())
}

fn as_json(file: &FoundFile) -> Value {
    let hooks = file.content.as_ref().map_or_else(|_| Vec::new(), |content| content.hooks.iter().map(hook).collect());
    json!({
        "path": file.path.to_string_lossy(),
        "scope": match file.scope { Scope::User => "user", Scope::Project => "project" },
        "state": state(file).0,
        "fault": file.content.as_ref().err(),
        "hooks": hooks,
        "not_used": file.content.as_ref().map_or_else(|_| Vec::new(), |content| content.remarks.clone()),
        "scripts": file.scripts.iter().map(|script| script.to_string_lossy()).collect::<Vec<_>>(),
    })
}

fn hook(hook: &Hook) -> Value {
    json!({
        "event": hook.event.name(),
        "matcher": hook.matcher.shown(),
        "command": hook.command,
        "timeout": hook.limit.as_secs_f64(),
        "guards": HookEvent::is_guard(hook.event),
    })
}
