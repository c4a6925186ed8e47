//! `cohab flow` checks, draws and runs flows and lists their runs.

pub(super) mod console;
mod list;
mod run;
mod source;

use std::{
    io::Write,
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::{Args, Subcommand};
use cohab_graph::{
    definition::Problem,
    draw::drawing,
    flow::{Flow, NodeKind},
};
use cohab_protocol::Paths;
use cohab_text::sanitize::{escaped_json, one_line};
use serde_json::json;

use self::source::{Loaded, load};
use super::{Failure, record};

/// Columns of a drawing that goes to no terminal.
const DEFAULT_COLUMNS: usize = 80;

/// What to do with flows.
#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub enum FlowCommand {
    /// Check a flow's file
    Check {
        /// The file
        file: PathBuf,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Draw a flow as text
    Graph {
        /// The file
        file: PathBuf,
    },
    /// Run a flow
    Run(run::RunArgs),
    /// Continue a run that waits, was cancelled or was interrupted
    Resume(run::ResumeArgs),
    /// List runs of flows, the newest first
    List(ListArgs),
}

/// How runs are listed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
pub struct ListArgs {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Runs it. Exit status: 0 done, 1 the flow has faults or cannot be read, 3 the output is closed; of a run as `run::start` says.
pub fn run(command: &FlowCommand, paths: &Paths, output: &mut dyn Write, errors: &mut dyn Write) -> ExitCode {
    let result = match command {
        FlowCommand::Check { file, json: false } => flow(file, errors).and_then(|flow| {
            let name = one_line(&file.to_string_lossy(), usize::MAX);
            Ok(writeln!(output, "{name} is sound: {}.", contents(&flow))?)
        }),
        FlowCommand::Check { file, json: true } => check_json(file, output),
        FlowCommand::Graph { file } => flow(file, errors).and_then(|flow| {
            let columns = record::terminal_columns().unwrap_or(DEFAULT_COLUMNS);
            Ok(output.write_all(drawing(&flow, columns).as_bytes())?)
        }),
        FlowCommand::Run(args) => return run::start(args, paths, output, errors),
        FlowCommand::Resume(args) => return run::resume(args, paths, output, errors),
        FlowCommand::List(args) => list::list(args, paths, output),
    };
    super::finish(result, output, errors)
}

/// The flow in this file; its faults go to `errors`.
fn flow(file: &Path, errors: &mut dyn Write) -> Result<Flow, Failure> {
    let Loaded { flow, .. } = load(file)?;
    flow.map_err(|problems| tell_faults(&problems, errors))
}

fn tell_faults(problems: &[Problem], errors: &mut dyn Write) -> Failure {
    for problem in problems {
        // Nothing more can be done if even the errors cannot be written.
        let (fault, hint) = (one_line(&problem.to_string(), usize::MAX), one_line(&problem.hint, usize::MAX));
        drop(writeln!(errors, "{fault}\n  {hint}"));
    }
    Failure::Told
}

fn check_json(file: &Path, output: &mut dyn Write) -> Result<(), Failure> {
    let Loaded { flow, .. } = load(file)?;
    let problem = |Problem { file, line, column, message, hint }: &Problem| json!({"file": file, "line": line, "column": column, "message": message, "hint": hint});
    let (facts, result) = match &flow {
        Ok(flow) => (
            json!({"ok": true, "name": flow.name, "nodes": flow.nodes.len(), "steps": flow.max_steps, "problems": []}),
            Ok(()),
        ),
        Err(problems) => {
            let problems: Vec<_> = problems.iter().map(problem).collect();
            (json!({"ok": false, "problems": problems}), Err(Failure::Told))
        }
    };
    writeln!(output, "{}", escaped_json(&facts.to_string()))?;
    result
}

/// What is in a flow, for people.
fn contents(flow: &Flow) -> String {
    let count = |is_meant: &dyn Fn(&NodeKind) -> bool| flow.nodes.iter().filter(|node| is_meant(&node.kind)).count();
    let parts = [
        (count(&|_| true), "node", "nodes"),
        (count(&|kind| matches!(kind, NodeKind::Llm { .. } | NodeKind::Debate { .. })), "asks a model", "ask a model"),
        (count(&|kind| matches!(kind, NodeKind::Tool { .. })), "runs something", "run something"),
        (count(&|kind| matches!(kind, NodeKind::Human { .. })), "asks you", "ask you"),
    ];
    let parts = parts.iter().filter(|(count, ..)| *count > 0);
    let words: Vec<String> =
        parts.map(|(count, one, many)| format!("{count} {}", if *count == 1 { one } else { many })).collect();
    format!("{}, at most {} steps", words.join(", "), flow.max_steps)
}

#[cfg(test)]
#[path = "flow_tests.rs"]
mod tests;
