//! `cohab trace` prints a turn step by step, at a terminal along an axis of time.

mod output;
mod times;

use std::{io::Write, process::ExitCode};

use clap::Args;
use cohab_agent::port::StepResult;
use cohab_protocol::{Paths, amount};
use cohab_store::sessions::{
    SessionRow, id,
    steps::{AgentStatus, CheckpointStore, ExecutionResult, Step, StepStatus, StepType, Turn},
};
use cohab_teams::report_steps;
use cohab_text::sanitize::{escaped_json, one_line};
use jiff::Zoned;
use serde_json::json;

use self::times::{Gutter, Times};
use super::{
    Failure,
    drawing::{self, PictureArgs},
    record::{self, paragraph, time},
};
use cohab_picture::{Chart, svg};

/// Longest command or path in a line, in characters.
const TITLE_MAX_CHARS: usize = 60;

/// Show what a turn did, step by step
#[derive(Clone, Debug, PartialEq, Eq, Args)]
#[command(after_help = "`cohab sessions` lists the sessions with their ids.")]
pub struct TraceArgs {
    /// Start of the session's id, or `last`
    #[arg(default_value = id::LAST)]
    pub id: String,
    /// Show the last N turns
    #[arg(short, value_name = "N", default_value = "1")]
    pub number: usize,
    /// Print JSON, with the input and the result of each step
    #[arg(long)]
    pub json: bool,
    /// Print the whole output of the N-th last step instead
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), conflicts_with = "json")]
    pub output: Option<u32>,
    /// Name of the session, in place of its id
    #[arg(long, value_name = "NAME", hide = true, requires = "output")]
    pub session: Option<String>,
    /// Where to draw it.
    #[command(flatten)]
    pub picture: PictureArgs,
}

/// Turns of a session with their steps, the oldest first.
struct ShownTurns {
    session: SessionRow,
    turns: Vec<(Turn, ExecutionResult)>,
}

/// Runs it. Exit status: 0 done, 1 no such session or the store cannot be used, 3 the output is closed.
pub fn run(args: &TraceArgs, paths: &Paths, output: &mut dyn Write, errors: &mut dyn Write) -> ExitCode {
    if let Some(number) = args.output {
        let text = output::read(number, args, paths);
        return super::finish(text.and_then(|text| Ok(output.write_all(text.as_bytes())?)), output, errors);
    }
    let result = read(args, paths).and_then(|shown| {
        let text = match (&args.picture.svg, args.json) {
            (Some(file), _) => drawing::write(file, &svg(&shown))?,
            (None, true) => json(&shown),
            (None, false) => text(&shown, &Zoned::now(), record::terminal_columns(), drawing::columns()),
        };
        Ok(output.write_all(text.as_bytes())?)
    });
    super::finish(result, output, errors)
}

fn read(args: &TraceArgs, paths: &Paths) -> Result<ShownTurns, Failure> {
    let (store, session) = record::session(paths, &args.id)?;
    let unreadable = record::unreadable(paths);
    let mut turns = store.turns(&session.key, args.number).map_err(&unreadable)?;
    turns.reverse();
    let with_steps = |turn: Turn| {
        let steps = store.steps(&session.key, &turn.turn).map_err(&unreadable)?;
        let result = ExecutionResult::of(&turn, steps);
        Ok((turn, result))
    };
    let turns = turns.into_iter().map(with_steps).collect::<Result<_, Failure>>()?;
    Ok(ShownTurns { session, turns })
}

/// A chart for each turn.
fn svg(shown: &ShownTurns) -> String {
    let label = |step: &Step| format!("{}{}", if step.metadata.parent.is_some() { "  " } else { "" }, subject(step));
    let chart = |(turn, result): &(Turn, ExecutionResult)| {
        let steps = result.steps.iter().filter(|step| step.kind != StepType::UserMessage);
        Times::of(turn, result).chart(&turn.question, steps.map(|step| (label(step), step)))
    };
    let charts: Vec<Chart> = shown.turns.iter().map(chart).collect();
    svg::document(&format!("Session {}: {}", record::short(&shown.session.id), shown.session.title), &charts)
}

fn json(shown: &ShownTurns) -> String {
    let turns = shown.turns.iter().map(|(turn, result)| json!({"turn": turn, "result": result}));
    let whole = json!({"session": record::session_json(&shown.session), "turns": turns.collect::<Vec<_>>()});
    escaped_json(&whole.to_string()) + "\n"
}

/// At a terminal with `columns` lines are broken between words; elsewhere they are not. With `drawn` columns a bar stands before each
/// step.
fn text(shown: &ShownTurns, now: &Zoned, columns: Option<usize>, drawn: Option<usize>) -> String {
    let (session, mut text) = (&shown.session, String::new());
    let title = one_line(&session.title, usize::MAX);
    paragraph(("", "  "), &format!("Session {}, \"{title}\"", record::short(&session.id)), columns, &mut text);
    if shown.turns.is_empty() {
        paragraph(("", ""), "No steps recorded: this turn predates step recording.", columns, &mut text);
    }
    for (turn, result) in &shown.turns {
        head(turn, result, now, columns, &mut text);
        let times = Times::of(turn, result);
        let gutter = drawn.filter(|_| times.total_ms > 0).map(|columns| Gutter::new(&times, columns));
        if let Some(gutter) = &gutter {
            paragraph(("  ", "  "), &times.legend_words(), columns, &mut text);
            text += gutter.axis().trim_end();
            text.push('\n');
        }
        tree(&result.steps, turn.is_alive(), columns, gutter.as_ref(), &mut text);
    }
    text
}

fn head(turn: &Turn, result: &ExecutionResult, now: &Zoned, columns: Option<usize>, out: &mut String) {
    let when = time::ago(turn.started, now.timestamp(), now.time_zone());
    let is_on = turn.state.status == AgentStatus::Running && turn.is_alive();
    let how = match (turn.state.status, turn.ended.as_deref()) {
        (AgentStatus::Running, _) if is_on => "still running".to_owned(),
        (AgentStatus::Running, _) => "interrupted when the daemon ended; `cohab resume` continues it".to_owned(),
        (_, Some("resumed")) => "interrupted when the daemon ended, continued as the next turn".to_owned(),
        (_, Some(ended)) => one_line(&ended.replace('_', " "), usize::MAX),
        (_, None) => "not finished".to_owned(),
    };
    let mut facts = vec![when, how];
    // In a running turn only finished steps would count.
    facts.extend((!is_on).then(|| time::took(result.duration_ms)));
    facts.push(match turn.state.steps {
        1 => "1 step".to_owned(),
        steps => format!("{steps} steps"),
    });
    facts.extend(tokens(Some(turn.state.sent_tokens), Some(turn.state.received_tokens)));
    out.push('\n');
    paragraph(("? ", "  "), &one_line(&turn.question, usize::MAX), columns, out);
    paragraph(("  ", "  "), &facts.join(", "), columns, out);
    if let Some(error) = &turn.error {
        paragraph(("  ", "  "), &one_line(error, usize::MAX), columns, out);
    }
}

fn tokens(sent: Option<u64>, received: Option<u64>) -> Option<String> {
    let count = |tokens: Option<u64>| tokens.map_or_else(|| "?".to_owned(), amount::count);
    let is_known = sent.is_some_and(|tokens| tokens > 0) || received.is_some_and(|tokens| tokens > 0);
    is_known.then(|| format!("{} in, {} out", count(sent), count(received)))
}

/// Calls are listed below the model's step that made them, the steps of a subagent below the call that sent it.
fn tree(steps: &[Step], is_alive: bool, columns: Option<usize>, gutter: Option<&Gutter<'_>>, out: &mut String) {
    let show = |step: &Step, first: &str, next: &str, out: &mut String| {
        let (bar, blank) = gutter.map(|gutter| (gutter.bar(step), gutter.blank())).unwrap_or_default();
        paragraph((&format!("{bar}{first}"), &format!("{blank}{next}")), &line(step, is_alive), columns, out);
    };
    let is_shown = |step: &&Step| step.kind != StepType::UserMessage;
    let roots: Vec<&Step> = steps.iter().filter(is_shown).filter(|step| step.metadata.parent.is_none()).collect();
    for (index, root) in roots.iter().enumerate() {
        let (branch, trunk) = branches(index + 1 == roots.len());
        let children: Vec<&Step> = steps.iter().filter(|step| step.metadata.parent == Some(root.number)).collect();
        let (_, below) = branches(children.is_empty());
        show(root, branch, &format!("{trunk}{below}"), out);
        for (index, child) in children.iter().enumerate() {
            let (branch, below) = branches(index + 1 == children.len());
            show(child, &format!("{trunk}{branch}"), &format!("{trunk}{below}  "), out);
            let steps: Vec<&str> = report_steps(child.output.as_deref().unwrap_or_default()).collect();
            for (index, step) in steps.iter().enumerate() {
                let (branch, beneath) = branches(index + 1 == steps.len());
                let blank = gutter.map(Gutter::blank).unwrap_or_default();
                let start = format!("{blank}{trunk}{below}");
                paragraph((&format!("{start}{branch}"), &format!("{start}{beneath}")), step, columns, out);
            }
        }
    }
}

/// The prefix of a step, and of the lines below it.
fn branches(is_last: bool) -> (&'static str, &'static str) {
    if is_last { ("└─ ", "   ") } else { ("├─ ", "│  ") }
}

/// What a step was.
fn subject(step: &Step) -> String {
    let metadata = &step.metadata;
    match step.kind {
        StepType::ModelInference => format!("model {}", metadata.model.as_deref().unwrap_or_default()),
        StepType::ToolCall | StepType::MemoryUpdate => {
            let title = one_line(&metadata.title, TITLE_MAX_CHARS);
            format!("{} {title}", metadata.tool.as_deref().unwrap_or_default())
        }
        StepType::UserMessage => "question".to_owned(),
        StepType::Compaction => "conversation shortened".to_owned(),
        StepType::System => format!("cohab: {}", said(step)),
    }
}

fn line(step: &Step, is_alive: bool) -> String {
    let (metadata, subject) = (&step.metadata, subject(step));
    let mut facts: Vec<String> = Vec::new();
    facts.extend(match (step.status, is_alive) {
        (StepStatus::Completed, _) => None,
        (StepStatus::Failed, _) => {
            let word = if metadata.outcome == Some(StepResult::Refused) { "refused" } else { "failed" };
            Some(format!("{word}: {}", one_line(step.error.as_deref().unwrap_or_default(), TITLE_MAX_CHARS)))
        }
        (StepStatus::Pending, true) => Some("waits".to_owned()),
        (StepStatus::Running, true) => Some("runs".to_owned()),
        (StepStatus::Pending, false) => Some("not run".to_owned()),
        (StepStatus::Running, false) if metadata.has_effects => Some("unknown: it may or may not have run".to_owned()),
        (StepStatus::Running, false) => Some("not finished".to_owned()),
    });
    facts.extend(
        (!metadata.summary.is_empty() && step.status == StepStatus::Completed).then(|| metadata.summary.clone()),
    );
    facts.extend(metadata.is_claimed.then(|| "ran while no daemon was running".to_owned()));
    facts.extend(step.duration_ms.map(time::took));
    facts.extend(metadata.first_token_ms.map(|took| format!("first token after {}", time::took(took))));
    facts.extend(tokens(metadata.sent_tokens, metadata.received_tokens));
    let facts = if facts.is_empty() { String::new() } else { format!("  ({})", facts.join(", ")) };
    one_line(&format!("{subject}{facts}"), usize::MAX)
}

fn said(step: &Step) -> &str {
    let output = step.output.as_deref().filter(|output| !output.is_empty());
    output.or_else(|| step.input.text()).unwrap_or_default()
}

#[cfg(test)]
#[path = "trace_tests.rs"]
pub(super) mod tests;
