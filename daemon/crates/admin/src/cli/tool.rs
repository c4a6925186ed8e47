//! `cohab tool` calls one of the model's tools from a script: behind the same policy, in a separate shell, on record.

mod own;

use std::{
    env,
    fs::File,
    io::{self, IsTerminal as _, Read as _, Write},
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};

use async_trait::async_trait;
use clap::Args;
use cohab_agent::port::{ApprovalAnswer, ApprovalQuestion, Approver, Lasts};
use cohab_assembly::{
    assembly::{FlowCaller, FlowCalls, tool_places, tool_setting},
    wiring::{self, home},
};
use cohab_context::workspace::root_of;
use cohab_graph::port::{NodeAnswer, ToolRequest};
use cohab_hooks::own_tools::{Guides, PREFIX};
use cohab_model_api::{JsonObject, Secrets, ToolSpec};
use cohab_protocol::{ApprovalMode, Paths};
use cohab_text::sanitize::{escaped_json, one_line};
use cohab_types::environment::Variables;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{CANCELLED, Failure, complain, finish, flow::console::subject, record};

/// Exit status of a call that the policy, a hook or the user refused.
const REFUSED: u8 = 3;
/// Longest arguments, in bytes.
const MAX_ARGUMENTS: u64 = 8 * 1024 * 1024;
/// Longest typed answer, in bytes.
const MAX_TYPED: usize = 1_024;
/// The tools that only read.
const READERS: [&str; 3] = ["glob", "grep", "read"];

/// Use one of the tools of the model in a script
#[derive(Clone, Debug, PartialEq, Eq, Args)]
#[command(
    hide = true,
    disable_help_flag = true,
    after_help = "The policy, your rules and your hooks decide as for the model. Commands run in a separate shell, confined as the \
        settings say. `cohab tool NAME --help` shows what a tool takes. Executables in ~/.config/cohab/tools are tools of your \
        own, for the model, too; those in .cohab/tools of a trusted project once you allow them.\n\n\
        Exit status: 0 done, 1 the tool or its command failed, 2 wrong usage, 3 refused, or it would have to be asked about \
        and no terminal is there."
)]
pub struct ToolArgs {
    /// Tool to call; without it, list them
    pub name: Option<String>,
    /// Read its arguments, a JSON object, from a file, or from standard input with `-`
    #[arg(long, value_name = "FILE")]
    pub json_in: Option<PathBuf>,
    /// Print a JSON object
    #[arg(long, requires = "json_in")]
    pub json_out: bool,
    /// Print what the tool does and takes as JSON, for a model
    #[arg(long, conflicts_with = "json_in")]
    pub agent_guide: bool,
    /// Let the model use a program in .cohab/tools of the project
    #[arg(long, value_name = "FILE", conflicts_with_all = ["name", "unasked", "forget"])]
    pub allow: Option<PathBuf>,
    /// Let a tool of your own run without a question
    #[arg(long, value_name = "FILE", conflicts_with_all = ["name", "forget"])]
    pub unasked: Option<PathBuf>,
    /// Take back what was allowed about a tool of your own
    #[arg(long, value_name = "FILE", conflicts_with = "name")]
    pub forget: Option<PathBuf>,
    /// Do not ask, with --allow and --unasked
    #[arg(long, short)]
    pub yes: bool,
    /// What may run unasked: read-only, ask, auto or all [default: the setting]
    #[arg(long, value_name = "MODE")]
    pub approve: Option<ApprovalMode>,
    /// Print help, of the tool if one is named
    #[arg(long, short)]
    pub help: bool,
}

/// Runs it. Exit status as in the help.
pub fn run(args: &ToolArgs, paths: &Paths, output: &mut dyn Write, errors: &mut dyn Write) -> ExitCode {
    match done(args, paths, output, errors) {
        Ok(status) => status,
        Err(failure) => finish(Err(failure), output, errors),
    }
}

fn done(args: &ToolArgs, paths: &Paths, output: &mut dyn Write, errors: &mut dyn Write) -> Result<ExitCode, Failure> {
    if args.help && args.name.is_none() {
        let command = clap::Command::new("cohab tool").bin_name("cohab tool").disable_help_flag(true);
        write!(output, "{}", ToolArgs::augment_args(command).max_term_width(80).render_help())?;
        return Ok(ExitCode::SUCCESS);
    }
    let input_is_free = args.json_in.as_deref() != Some(Path::new("-"));
    let approver =
        Arc::new(Person { is_there: input_is_free && io::stdin().is_terminal() && io::stderr().is_terminal() });
    let folder = env::current_dir()?.canonicalize()?;
    let home = home();
    let (places, root) = (tool_places(paths, home.clone()), root_of(&folder, &home));
    if let Some((change, file)) = change(args) {
        let caller = own::Caller { places: &places, home: &home, root: &root, folder: &folder, is_yes: args.yes };
        own::change(change, file, &caller, output)?;
        return Ok(ExitCode::SUCCESS);
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let found = places.find(Some(&root))?;
    let waiting = own::waiting(&found, &home);
    let (own, faults) = runtime.block_on(Guides::default().tools(found, &tool_setting(&Variables::default())));
    for fault in faults {
        writeln!(errors, "{fault}")?;
    }
    let run = uuid::Uuid::now_v7().simple().to_string();
    let caller = FlowCaller { kind: "tool", run, folder, mode: args.approve, approver };
    let mut calls = wiring::flow_calls(paths, &Arc::new(Secrets::of_this_process()), caller)?;
    calls.add_tools(own);
    let specs = calls.specs();
    let Some(name) = &args.name else {
        output.write_all(listed(&specs, args.agent_guide, record::terminal_columns()).as_bytes())?;
        output.write_all(if args.agent_guide { "" } else { &waiting }.as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    };
    let is_own = |spec: &&ToolSpec| spec.name.strip_prefix(PREFIX) == Some(name);
    let spec = specs.iter().find(|spec| spec.name == *name).or_else(|| specs.iter().find(is_own)).ok_or_else(|| {
        let names: Vec<&str> = specs.iter().map(|spec| spec.name.as_str()).collect();
        let hint = Some(format!("the tools are: {}", names.join(", ")));
        Failure::Other(format!("there is no tool `{}`", one_line(name, 60)), hint)
    })?;
    if args.agent_guide {
        writeln!(output, "{}", escaped_json(&guide(spec).to_string()))?;
        return Ok(ExitCode::SUCCESS);
    }
    let Some(file) = args.json_in.as_deref().filter(|_| !args.help) else {
        output.write_all(help(spec).as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    };
    let arguments = arguments(file)?;
    let answer = runtime.block_on(called(&calls, name, arguments));
    // A thread may still wait for a line.
    runtime.shutdown_background();
    reported(&answer, calls.take_refusal(), args.json_out, output, errors)
}

fn change(args: &ToolArgs) -> Option<(own::ConsentChange, &Path)> {
    let wanted = [
        (own::ConsentChange::Allow, &args.allow),
        (own::ConsentChange::Unasked, &args.unasked),
        (own::ConsentChange::Forget, &args.forget),
    ];
    wanted.into_iter().find_map(|(change, file)| Some((change, file.as_deref()?)))
}

async fn called(calls: &FlowCalls, name: &str, arguments: JsonObject) -> NodeAnswer {
    let cancel = CancellationToken::new();
    let request = ToolRequest::Tool { name: name.to_owned(), arguments };
    let mut call = std::pin::pin!(calls.call(request, false, &cancel));
    loop {
        tokio::select! {
            biased;
            _ = tokio::signal::ctrl_c(), if !cancel.is_cancelled() => cancel.cancel(),
            answer = &mut call => return answer,
        }
    }
}

fn arguments(file: &Path) -> Result<JsonObject, Failure> {
    let shown = one_line(&file.to_string_lossy(), 200);
    let failed = |reason: String| Failure::Other(format!("{shown}: {reason}"), None);
    let mut bytes = Vec::new();
    let read = match file == Path::new("-") {
        true => io::stdin().lock().take(MAX_ARGUMENTS + 1).read_to_end(&mut bytes),
        false => File::open(file).and_then(|file| file.take(MAX_ARGUMENTS + 1).read_to_end(&mut bytes)),
    };
    read.map_err(|error| failed(error.to_string()))?;
    if bytes.len() as u64 > MAX_ARGUMENTS {
        return Err(failed(format!("is longer than {} MiB", MAX_ARGUMENTS / 1024 / 1024)));
    }
    serde_json::from_slice(&bytes).map_err(|error| failed(format!("is not a JSON object: {error}")))
}

/// Prints what came of a call.
fn reported(
    answer: &NodeAnswer,
    refusal: Option<String>,
    is_json: bool,
    output: &mut dyn Write,
    errors: &mut dyn Write,
) -> Result<ExitCode, Failure> {
    let (object, text, error, status) = match (refusal, answer) {
        (Some(reason), _) => {
            (json!({"ok": false, "refused": true, "error": reason}), None, Some(reason), ExitCode::from(REFUSED))
        }
        (None, NodeAnswer::Text(text)) => (json!({"ok": true, "output": text}), Some(text), None, ExitCode::SUCCESS),
        (None, NodeAnswer::Command { text, status }) => {
            let exit = if *status == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE };
            (json!({"ok": *status == 0, "output": text, "status": status}), Some(text), None, exit)
        }
        (None, NodeAnswer::Failed(reason)) => {
            (json!({"ok": false, "error": reason}), None, Some(reason.clone()), ExitCode::FAILURE)
        }
        (None, NodeAnswer::Later | NodeAnswer::Cancelled) => {
            let reason = "cancelled".to_owned();
            (json!({"ok": false, "error": reason}), None, Some(reason), ExitCode::from(CANCELLED))
        }
    };
    if is_json {
        writeln!(output, "{}", escaped_json(&object.to_string()))?;
        return Ok(status);
    }
    if let Some(text) = text {
        let gap = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        write!(output, "{text}{gap}")?;
    }
    if let Some(error) = error {
        complain(errors, &one_line(&error, usize::MAX), None)?;
    }
    Ok(status)
}

fn guide(spec: &ToolSpec) -> Value {
    json!({
        "name": spec.name,
        "description": spec.description,
        "parameters": spec.parameters,
        "only_reads": READERS.contains(&spec.name.as_str()),
    })
}

fn listed(specs: &[ToolSpec], is_guide: bool, columns: Option<usize>) -> String {
    if is_guide {
        let all: Vec<Value> = specs.iter().map(guide).collect();
        return escaped_json(&Value::from(all).to_string()) + "\n";
    }
    let first = |text: &str| one_line(text.split_once(". ").map_or(text, |(first, _)| first).trim_end_matches('.'), 70);
    let width = specs.iter().map(|spec| spec.name.len()).max().unwrap_or_default();
    let mut text = String::new();
    for ToolSpec { name, description, .. } in specs {
        let (head, indent) = (format!("{name:<width$}  "), " ".repeat(width + 2));
        record::paragraph((&head, &indent), &first(description), columns, &mut text);
    }
    text
}

/// The help of a tool.
fn help(spec: &ToolSpec) -> String {
    let ToolSpec { name, description, parameters } = spec;
    let mut text = format!("{description}\n\nUsage: cohab tool {name} --json-in FILE|- [--json-out]\n\nArguments:\n");
    let required: Vec<&str> =
        parameters["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    for (argument, schema) in parameters["properties"].as_object().into_iter().flatten() {
        let kind = match &schema["type"] {
            Value::String(kind) => kind.clone(),
            Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).filter(|kind| *kind != "null").collect(),
            _ => "value".to_owned(),
        };
        let need = if required.contains(&argument.as_str()) { ", required" } else { "" };
        let meaning = schema["description"].as_str().unwrap_or_default();
        text += &format!("  {argument} ({kind}{need})\n      {}\n", one_line(meaning, usize::MAX));
    }
    text
}

/// The person at the terminal, if one is there.
struct Person {
    is_there: bool,
}

#[async_trait]
impl Approver for Person {
    async fn ask(&self, question: ApprovalQuestion) -> ApprovalAnswer {
        let reasons: Vec<String> = question.reasons.iter().map(|reason| one_line(reason, usize::MAX)).collect();
        let refused = |reason: String| ApprovalAnswer::Refused { reason };
        if !self.is_there {
            let reasons = reasons.join("; ");
            return refused(format!("it would have to be asked about, and no terminal is attached: {reasons}"));
        }
        let (wanted, prompt) = match question.is_dangerous {
            true => ("yes", "Dangerous. Type yes to run it: "),
            false => ("y", "Run it? [y/N] "),
        };
        let reasons: String = reasons.iter().map(|reason| format!("  {reason}\n")).collect();
        let text = format!("The tool is to {}\n{reasons}{prompt}", subject(&question.subject));
        let typed = tokio::task::spawn_blocking(move || typed(&text)).await.ok().flatten();
        match typed.is_some_and(|typed| typed.trim().eq_ignore_ascii_case(wanted)) {
            true => ApprovalAnswer::Approved { approval: None, lasts: Lasts::Once },
            false => refused("the user refused".to_owned()),
        }
    }
}

/// Prints a question and reads a line. What was typed before is no answer to it.
fn typed(question: &str) -> Option<String> {
    use std::io::BufRead as _;

    let _ = rustix::termios::tcflush(rustix::stdio::stdin(), rustix::termios::QueueSelector::IFlush);
    let mut errors = cohab_text::terminal_safe_writer::HarmlessWriter::new(io::stderr().lock());
    errors.write_all(question.as_bytes()).and_then(|()| errors.flush()).ok()?;
    drop(errors);
    let mut line = String::new();
    io::stdin().lock().take(MAX_TYPED as u64).read_line(&mut line).ok()?;
    Some(line)
}

#[cfg(test)]
#[path = "tool_tests.rs"]
mod tests;
