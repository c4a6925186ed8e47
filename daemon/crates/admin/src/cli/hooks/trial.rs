//! Runs the hooks of an event for an example, and shows what they say.

use std::io::Write;

use clap::Args;
use cohab_hooks::{
    event::HookEvent,
    hook_set::{HookOutcome, HookSet, Moment, SetError, Spoken},
    input::{Occasion, ToolUse},
    output::Objection,
    tool_names::own_name,
};
use cohab_text::sanitize::{escaped_json, one_line};
use cohab_types::{approval_mode::ApprovalMode, environment::Variables};
use serde_json::{Map, Value, json};

use super::{Caller, Failure};

/// What to try.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct TestArgs {
    /// The event, such as PreToolUse
    pub event: String,
    /// The tool
    #[arg(long, value_name = "NAME", default_value = "Bash")]
    pub tool: String,
    /// Its input as JSON, such as '{"command": "ls"}'
    #[arg(long, value_name = "JSON", default_value = "{}")]
    pub input: String,
    /// The words of the user
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub prompt: String,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Runs the hooks in force here. A hook that objects is a failure.
pub(super) fn test(args: &TestArgs, caller: &Caller<'_>, output: &mut dyn Write) -> Result<(), Failure> {
    let occasion = occasion(args)?;
    let set = HookSet::load(&caller.places, Some(&caller.root)).map_err(|error| broken(&error))?;
    let moment = Moment {
        session: "test".to_owned(),
        cwd: caller.folder.clone(),
        environment: Variables::default(),
        mode: ApprovalMode::Ask,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let outcome = runtime.block_on(set.run(&occasion, &moment));
    if args.json {
        writeln!(output, "{}", escaped_json(&as_json(&outcome).to_string()))?;
    } else {
        output.write_all(shown(&outcome).as_bytes())?;
        for notice in set.notices() {
            writeln!(output, "{notice}")?;
        }
    }
    match outcome.blocked() {
        Some(_) => Err(Failure::Told),
        None => Ok(()),
    }
}

fn broken(error: &SetError) -> Failure {
    Failure::Other(one_line(&error.to_string(), usize::MAX), Some("`cohab hooks` shows all files".to_owned()))
}

fn occasion(args: &TestArgs) -> Result<Occasion, Failure> {
    let Some(event) = HookEvent::of(&args.event) else {
        let names: Vec<&str> = HookEvent::ALL.iter().map(|event| event.name()).collect();
        let message = format!("there is no event `{}`", one_line(&args.event, 60));
        return Err(Failure::Other(message, Some(format!("the events are: {}", names.join(", ")))));
    };
    let input: Map<String, Value> = serde_json::from_str(&args.input).map_err(|error| {
        let hint = Some("for example: --input '{\"command\": \"ls\"}'".to_owned());
        Failure::Other(format!("the input is not a JSON object: {error}"), hint)
    })?;
    let call = ToolUse { id: "test".to_owned(), tool: own_name(&args.tool).to_owned(), input };
    let result = String::new();
    Ok(match event {
        HookEvent::SessionStart => Occasion::SessionStart { source: "startup" },
        HookEvent::SessionEnd => Occasion::SessionEnd { reason: "other" },
        HookEvent::UserPromptSubmit => Occasion::UserPromptSubmit { prompt: args.prompt.clone() },
        HookEvent::PreToolUse => Occasion::PreToolUse(call),
        HookEvent::PostToolUse => Occasion::PostToolUse { call, result, has_failed: false },
        HookEvent::PostToolUseFailure => Occasion::PostToolUse { call, result, has_failed: true },
        HookEvent::PermissionRequest => Occasion::PermissionRequest(call),
        HookEvent::PreCompact => Occasion::PreCompact { trigger: "manual" },
        HookEvent::Stop => Occasion::Stop { is_again: false, last: result },
        HookEvent::SubagentStop => Occasion::SubagentStop { is_again: false, last: result, kind: "explore".to_owned() },
        HookEvent::Notification => {
            Occasion::Notification { message: "cohab needs your permission to use Bash".to_owned() }
        }
    })
}

fn decision(outcome: &HookOutcome) -> (&'static str, &str) {
    match &outcome.objection {
        Objection::None => ("none", ""),
        Objection::Ask(reason) => ("ask", reason),
        Objection::Block(reason) => ("block", reason),
    }
}

fn shown(outcome: &HookOutcome) -> String {
    let mut lines = vec![match outcome.ran {
        0 => "No hook runs for this.".to_owned(),
        1 => "1 hook ran.".to_owned(),
        many => format!("{many} hooks ran."),
    }];
    let by = &outcome.by;
    match decision(outcome) {
        ("none", _) if outcome.ran > 0 => lines.push("None objects; the policy decides as always.".to_owned()),
        ("ask", reason) => lines.push(format!("`{by}` wants you to be asked: {reason}")),
        ("block", reason) => lines.push(format!("`{by}` objects: {reason}")),
        _ => {}
    }
    if let Some((hook, input)) = &outcome.updated_input {
        let input = Value::Object(input.clone()).to_string();
        lines.push(format!("`{hook}` changes the call to {}", one_line(&input, usize::MAX)));
    }
    let texts =
        [("says to the model", &outcome.contexts), ("says to you", &outcome.messages), ("failed", &outcome.faults)];
    for (what, spoken) in texts {
        lines.extend(spoken.iter().map(|Spoken { hook, text }| format!("`{hook}` {what}: {text}")));
    }
    lines.extend(outcome.stop.iter().map(|Spoken { hook, text }| format!("`{hook}` ends the turn: {text}")));
    lines.join("\n") + "\n"
}

fn as_json(outcome: &HookOutcome) -> Value {
    let spoken = |all: &[Spoken]| {
        all.iter().map(|Spoken { hook, text }| json!({"hook": hook, "text": text})).collect::<Vec<_>>()
    };
    let (decision, reason) = decision(outcome);
    json!({
        "ran": outcome.ran,
        "decision": decision,
        "hook": outcome.by,
        "reason": reason,
        "updated_input": outcome.updated_input.as_ref().map(|(_, input)| input),
        "for_model": spoken(&outcome.contexts),
        "for_user": spoken(&outcome.messages),
        "faults": spoken(&outcome.faults),
        "stop": outcome.stop.as_ref().map(|stop| &stop.text),
    })
}
