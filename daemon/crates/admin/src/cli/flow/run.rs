//! Runs flows and continues their runs, at a terminal or without one.

use std::{
    env,
    io::Write,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
    time::Instant,
};

use async_trait::async_trait;
use clap::Args;
use cohab_agent::port::{Approver, NoSink};
use cohab_assembly::{
    assembly::{FlowCaller, FlowCalls, FlowModels},
    wiring,
};
use cohab_context::trust::TrustedFolders;
use cohab_graph::{
    definition,
    flow::Flow,
    log::{LogEntry, RunStatus, Visited},
    plan::Progress,
    port::{NewRun, NodeAnswer, NodeCall, NodeWork, RunLog, RunStore as _, StoredRun},
    run::{self, Answers, OpenQuestion, RunStop, open_questions},
};
use cohab_model_api::Secrets;
use cohab_protocol::{ApprovalMode, Paths};
use cohab_text::sanitize::one_line;
use cohab_work::flows::FlowRuns;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{
    super::{CANCELLED, Failure, complain, finish, record, record::time},
    console::Console,
    list::unusable,
    source::{Loaded, load},
    tell_faults,
};

/// Exit status of a run that waits for an answer.
const WAITS: u8 = 5;
/// Lines that wait to be printed.
const MAX_LINES: usize = 64;
/// Longest line about a node, in columns.
const LINE_COLUMNS: usize = 400;

/// A flow that is to run.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct RunArgs {
    /// The flow's file, in a trusted folder
    pub file: PathBuf,
    /// Set a key of the state, as KEY=VALUE
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub values: Vec<String>,
    /// How it runs.
    #[command(flatten)]
    pub approve: ApproveArgs,
}

/// A run that is to continue.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct ResumeArgs {
    /// Start of the run's id
    pub run: String,
    /// Answer the question that the run waits for
    #[arg(long, value_name = "TEXT")]
    pub answer: Option<String>,
    /// The node that asks, if several do
    #[arg(long, value_name = "NODE", requires = "answer")]
    pub node: Option<String>,
    /// How it runs.
    #[command(flatten)]
    pub approve: ApproveArgs,
}

/// What may run unasked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
pub struct ApproveArgs {
    /// What may run unasked: read-only, ask, auto or all [default: the setting]
    #[arg(long, value_name = "MODE")]
    pub approve: Option<ApprovalMode>,
}

/// A run that is about to go on.
struct Prepared {
    id: String,
    flow: Flow,
    folder: PathBuf,
    past: Vec<LogEntry>,
    log: Box<dyn RunLog>,
    answers: Answers,
}

/// Starts a run. Exit status: 0 done, 1 failed, stopped at its limit or not begun, 3 the output is closed, 5 it waits, 130 cancelled.
pub(super) fn start(args: &RunArgs, paths: &Paths, output: &mut dyn Write, errors: &mut dyn Write) -> ExitCode {
    let prepared = begin(args, paths, errors);
    go_on(prepared, &args.approve, paths, &Console::of_this_process, (output, errors))
}

/// Continues a run. Exit status as of [`start`].
pub(super) fn resume(args: &ResumeArgs, paths: &Paths, output: &mut dyn Write, errors: &mut dyn Write) -> ExitCode {
    let prepared = reopen(args, paths);
    go_on(prepared, &args.approve, paths, &Console::of_this_process, (output, errors))
}

fn begin(args: &RunArgs, paths: &Paths, errors: &mut dyn Write) -> Result<Prepared, Failure> {
    let Loaded { flow, file, text, parts, folders } = load(&args.file)?;
    let flow = flow.map_err(|problems| tell_faults(&problems, errors))?;
    check_trust(&folders, paths)?;
    let values = args.values.iter().map(|value| set(value)).collect::<Result<Vec<_>, _>>()?;
    Progress::of_log(&flow, &values).map_err(|(_, fault)| other(&format!("--set: {fault}"), None))?;
    let folder = env::current_dir()?.canonicalize()?;
    let words = |path: &Path| path.to_string_lossy().into_owned();
    let new = NewRun { flow: flow.name.clone(), file: words(&file), text, parts, folder: words(&folder) };
    let (id, mut log) = super::list::store(paths).create(&new).map_err(|error| unusable(&error))?;
    let past =
        values.iter().map(|value| log.append(value)).collect::<Result<_, _>>().map_err(|error| unusable(&error))?;
    Ok(Prepared { id, flow, folder, past, log, answers: Answers::new() })
}

fn reopen(args: &ResumeArgs, paths: &Paths) -> Result<Prepared, Failure> {
    let runs: FlowRuns = super::list::store(paths);
    let (StoredRun { id, begin, status, log: past, .. }, log) =
        runs.open(&args.run).map_err(|error| unusable(&error))?;
    if status.is_over() {
        let hint = "`cohab flow run` runs the flow again";
        return Err(other(&format!("the run {} is over: {}", record::short(&id), status.word()), Some(hint)));
    }
    let part = |name: &str| begin.parts.get(name).cloned().ok_or_else(|| format!("the run has no file `{name}`"));
    let flow = definition::read(&begin.file, &begin.text, &part).map_err(|problems| {
        let first = problems.first().map(ToString::to_string).unwrap_or_default();
        other(&format!("this release cannot read the flow of the run: {first}"), Some("start the flow again"))
    })?;
    let folder = Path::new(&begin.file).parent().unwrap_or(Path::new("/")).to_owned();
    let parts = begin.parts.keys().map(|name| folder.join(name));
    let parts = parts.filter_map(|part| part.parent()?.canonicalize().ok());
    check_trust(&std::iter::once(folder.clone()).chain(parts).collect::<Vec<_>>(), paths)?;
    let answers = answers(args, &flow, &past)?;
    Ok(Prepared { id, flow, folder: begin.folder.into(), past, log, answers })
}

/// The answer from the command line, for the node that asks.
fn answers(args: &ResumeArgs, flow: &Flow, past: &[LogEntry]) -> Result<Answers, Failure> {
    let Some(answer) = &args.answer else { return Ok(Answers::new()) };
    let open = open_questions(flow, past).map_err(|error| other(&error.to_string(), None))?;
    let is_meant = |question: &&OpenQuestion| args.node.as_ref().is_none_or(|node| *node == question.visited.node);
    let asking: Vec<&str> = open.iter().filter(is_meant).map(|question| question.visited.node.as_str()).collect();
    match asking.as_slice() {
        [] => Err(other("the run does not wait for this answer", Some("resume it without `--answer`"))),
        [node] => Ok([((*node).to_owned(), answer.clone())].into()),
        several => {
            let message = format!("several nodes ask: {}", several.join(", "));
            Err(other(&message, Some("name one of them with `--node`")))
        }
    }
}

/// A flow of a folder that the user does not trust does not run, wherever its parts come from.
fn check_trust(folders: &[PathBuf], paths: &Paths) -> Result<(), Failure> {
    let trusted = TrustedFolders::new(paths.trusted_folders_file(), record::home());
    let Some(folder) = folders.iter().find(|folder| !trusted.covers(folder)) else { return Ok(()) };
    let shown = one_line(&folder.to_string_lossy(), usize::MAX);
    let message = format!("the flow does not run: its folder {shown} is not trusted");
    Err(Failure::Other(message, Some(format!("read the flow; `cohab trust {shown}` trusts the folder"))))
}

fn set(value: &str) -> Result<LogEntry, Failure> {
    let (key, text) = value.split_once('=').ok_or_else(|| {
        other(&format!("`--set {}` has no `=`", one_line(value, LINE_COLUMNS)), Some("write `--set KEY=VALUE`"))
    })?;
    Ok(LogEntry::Set { key: key.to_owned(), text: text.to_owned() })
}

fn other(message: &str, hint: Option<&str>) -> Failure {
    Failure::Other(one_line(message, usize::MAX), hint.map(str::to_owned))
}

/// Runs what is prepared and says how it stopped.
fn go_on(
    prepared: Result<Prepared, Failure>,
    approve: &ApproveArgs,
    paths: &Paths,
    console: &dyn Fn(mpsc::Sender<String>) -> Console,
    (output, errors): (&mut dyn Write, &mut dyn Write),
) -> ExitCode {
    let stopped = prepared.and_then(|mut prepared| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let stopped = runtime.block_on(drive(&mut prepared, approve, paths, console, output));
        // A thread may still wait for a line.
        runtime.shutdown_background();
        Ok((prepared.id, stopped?))
    });
    match stopped {
        Ok((id, stop)) => match tell(&id, &stop, output, errors) {
            Ok(status) => status,
            Err(error) => finish(Err(error.into()), output, errors),
        },
        Err(failure) => finish(Err(failure), output, errors),
    }
}

async fn drive(
    prepared: &mut Prepared,
    approve: &ApproveArgs,
    paths: &Paths,
    console: &dyn Fn(mpsc::Sender<String>) -> Console,
    output: &mut dyn Write,
) -> Result<RunStop, Failure> {
    let Prepared { id, flow, folder, past, log, answers } = prepared;
    let (sender, mut lines) = mpsc::channel(MAX_LINES);
    let console = Arc::new(console(sender));
    let secrets = Arc::new(Secrets::of_this_process());
    let approver: Arc<dyn Approver> = Arc::clone(&console) as _;
    let caller = FlowCaller { kind: "flow", run: id.clone(), folder: folder.clone(), mode: approve.approve, approver };
    let calls = wiring::flow_calls(paths, &secrets, caller)?;
    let models = wiring::flow_models(paths, &secrets, (id.clone(), folder.clone()), calls.approver(), Arc::new(NoSink));
    let work = TerminalWork { calls, models, console };
    let cancel = CancellationToken::new();
    let driving = run::run(flow, past, std::mem::take(answers), &work, log.as_mut(), &cancel);
    tokio::pin!(driving);
    let stop = loop {
        tokio::select! {
            biased;
            Some(line) = lines.recv() => print(&line, output)?,
            _ = tokio::signal::ctrl_c() => cancel.cancel(),
            stop = &mut driving => break stop,
        }
    };
    while let Ok(line) = lines.try_recv() {
        print(&line, output)?;
    }
    stop.map_err(|error| other(&error.to_string(), None))
}

fn print(line: &str, output: &mut dyn Write) -> Result<(), Failure> {
    output.write_all(line.as_bytes())?;
    Ok(output.flush()?)
}

/// Says how a run stopped, and returns the exit status.
fn tell(id: &str, stop: &RunStop, output: &mut dyn Write, errors: &mut dyn Write) -> std::io::Result<ExitCode> {
    let id = record::short(id);
    match stop {
        RunStop::Over(ending) => {
            let text = one_line(&ending.text, usize::MAX);
            if ending.status == RunStatus::Done {
                // The result may be many lines, and is what a script wants.
                let result = cohab_text::sanitize::sanitize(&ending.text);
                let gap = if result.is_empty() || result.ends_with('\n') { "" } else { "\n" };
                write!(output, "{result}{gap}")?;
                output.flush()?;
                return Ok(ExitCode::SUCCESS);
            }
            let text = if text.is_empty() { "the flow ended as failed".to_owned() } else { text };
            complain(errors, &text, None)?;
            Ok(ExitCode::FAILURE)
        }
        RunStop::Waiting(questions) => {
            for OpenQuestion { visited, question } in questions {
                let choices = if question.choices.is_empty() {
                    String::new()
                } else {
                    format!(" ({})", question.choices.join("/"))
                };
                let line = format!("{}: {}{choices}", visited.node, question.text);
                writeln!(output, "{}", one_line(&line, usize::MAX))?;
            }
            let node = if questions.len() > 1 { " --node NODE" } else { "" };
            writeln!(output, "The run waits. Answer with `cohab flow resume {id} --answer TEXT{node}`.")?;
            output.flush()?;
            Ok(ExitCode::from(WAITS))
        }
        RunStop::Cancelled => {
            writeln!(errors, "Cancelled. `cohab flow resume {id}` continues the run.")?;
            Ok(ExitCode::from(CANCELLED))
        }
    }
}

/// Works for nodes at a terminal.
struct TerminalWork {
    calls: FlowCalls,
    models: FlowModels,
    console: Arc<Console>,
}

impl TerminalWork {
    /// Says what came of a node.
    async fn say(&self, visited: &Visited, answer: &NodeAnswer, began: Instant) {
        let took = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let line = format!("{}: {}, {}", visited.node, outcome(answer), time::took(took));
        self.console.say(one_line(&line, LINE_COLUMNS) + "\n").await;
    }
}

#[async_trait]
impl NodeWork for TerminalWork {
    async fn call(&self, visited: &Visited, call: NodeCall, cancel: &CancellationToken) -> NodeAnswer {
        let began = Instant::now();
        match call {
            NodeCall::Human(question) => tokio::select! {
                biased;
                () = cancel.cancelled() => NodeAnswer::Cancelled,
                answer = self.console.answer(&visited.node, &question) => answer.map_or(NodeAnswer::Later, NodeAnswer::Text),
            },
            NodeCall::Tool { request, holds_values } => {
                let answer = self.calls.call(request, holds_values, cancel).await;
                self.say(visited, &answer, began).await;
                answer
            }
            NodeCall::Model { prompt, role } => {
                let answer = self.models.answer(prompt, role.as_deref(), cancel).await;
                self.say(visited, &answer, began).await;
                answer
            }
            NodeCall::Debate { question } => {
                let answer = self.models.debate(question, cancel).await;
                self.say(visited, &answer, began).await;
                answer
            }
        }
    }
}

/// What came of a node, in a few words.
fn outcome(answer: &NodeAnswer) -> String {
    match answer {
        NodeAnswer::Command { status, .. } => format!("exit {status}"),
        NodeAnswer::Text(_) => "done".to_owned(),
        NodeAnswer::Failed(reason) => format!("failed: {reason}"),
        NodeAnswer::Later => "waits".to_owned(),
        NodeAnswer::Cancelled => "cancelled".to_owned(),
    }
}

#[cfg(test)]
#[path = "run_tests.rs"]
mod tests;
