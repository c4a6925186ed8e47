//! `cohab memory past` finds commands that ran, and questions with what came of them. At a terminal the user picks one, which is put on the
//! prompt.

use std::{io::Write, process::ExitCode};

use clap::Args;
use cohab_memory::past::{
    HOW_KEPT, describe, period,
    ranking::Ranked,
    record::{PastItem, PastTurn},
    search::{PastLookup, Recalled, search},
    store::PastStore as _,
};
use cohab_protocol::Paths;
use cohab_store::{StoreError, past::SqlitePast};
use cohab_text::sanitize::{escaped_json, one_line};
use serde_json::{Value, json};

use super::{
    super::{Failure, history::pick::report, record, sessions::resume},
    Caller,
};
use cohab_prompt::{
    self, Row, Stopped,
    picker::{self, Picker},
};

/// Hits with less than this share of the best score are not listed.
const LEAST_SHARE: f64 = 0.3;
/// Most rows of the picker.
const MAX_PICKED: usize = 500;

/// What to find.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
#[command(
    after_help = "WORDS may be a question: `cohab memory past which ffmpeg line did I use last month`. At a terminal you pick \
    one: Enter puts its command on the prompt of a cohab shell, and prints it elsewhere."
)]
pub struct PastArgs {
    /// Words or a question, with a time if you like; without them the newest
    #[arg(value_name = "WORDS")]
    pub words: Vec<String>,
    /// Only since this time: a date, `monday`, `last month`
    #[arg(long, value_name = "WHEN")]
    pub since: Option<String>,
    /// Only in the current folder and below
    #[arg(long)]
    pub here: bool,
    /// Only what failed
    #[arg(long, conflicts_with = "worked")]
    pub failed: bool,
    /// Only what went well
    #[arg(long)]
    pub worked: bool,
    /// Show at most N
    #[arg(short, value_name = "N", default_value = "20")]
    pub number: usize,
    /// Print the list, also at a terminal
    #[arg(long)]
    pub plain: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// The store, if it exists.
pub(super) fn open(paths: &Paths) -> Result<Option<SqlitePast>, Failure> {
    SqlitePast::open_existing(&paths.past_file(), &paths.memory_key_dir()).map_err(unusable(paths))
}

/// The reason why the store cannot be used, for people.
pub(super) fn unusable(paths: &Paths) -> impl Fn(StoreError) -> Failure {
    let path = paths.past_file();
    move |error| {
        Failure::Other(format!("{} cannot be used: {error}", path.display()), error.remedy().map(str::to_owned))
    }
}

/// Runs it. `None`: printed.
pub(super) fn past(args: &PastArgs, caller: &Caller<'_>, output: &mut dyn Write) -> Result<Option<ExitCode>, Failure> {
    let is_picked = !args.plain && !args.json && !cohab_prompt::is_unpaged() && caller.is_terminal;
    let number = if is_picked { args.number.max(MAX_PICKED) } else { args.number };
    let Some(store) = open(caller.paths)? else {
        let nothing =
            if args.json { json!({"found": []}).to_string() } else { format!("Nothing is kept yet. {HOW_KEPT}") };
        writeln!(output, "{nothing}")?;
        return Ok(None);
    };
    let wanted = wanted(args, number, caller)?;
    let recalled = search(&store, &wanted, &caller.now).map_err(unusable(caller.paths))?;
    if is_picked
        && !recalled.ranked.is_empty()
        && let Some(status) = pick(&recalled, caller, output)?
    {
        return Ok(Some(status));
    }
    let text = if args.json {
        let found: Vec<Value> = recalled.ranked.iter().map(as_json).collect();
        format!("{}\n", escaped_json(&json!({"found": found}).to_string()))
    } else {
        list(&recalled, args, caller)
    };
    output.write_all(text.as_bytes())?;
    Ok(None)
}

fn wanted(args: &PastArgs, limit: usize, caller: &Caller<'_>) -> Result<PastLookup, Failure> {
    let period = args.since.as_deref().map(|since| since_period(since, caller)).transpose()?;
    Ok(PastLookup {
        question: args.words.join(" "),
        period,
        folder: args.here.then(|| caller.folder.clone()),
        has_succeeded: if args.failed { Some(false) } else { args.worked.then_some(true) },
        limit,
        least_share: LEAST_SHARE,
    })
}

/// The period since a time that a user names.
fn since_period(since: &str, caller: &Caller<'_>) -> Result<period::Period, Failure> {
    let found = period::find(&format!("since {since}"), &caller.now);
    found.map(|(period, _)| period).ok_or_else(|| unknown_time(since))
}

/// The first moment since a time that a user names.
pub(super) fn since(since: &str, caller: &Caller<'_>) -> Result<jiff::Timestamp, Failure> {
    since_period(since, caller)?.from.ok_or_else(|| unknown_time(since))
}

/// The failure for a time that cannot be read.
pub(super) fn unknown_time(text: &str) -> Failure {
    let hint = "use a date such as 2026-03-14, or words such as monday, last month, 3 days ago";
    Failure::Other(format!("\"{}\" is not a time that I know", record::visible(text)), Some(hint.to_owned()))
}

fn list(recalled: &Recalled, args: &PastArgs, caller: &Caller<'_>) -> String {
    if recalled.ranked.is_empty() {
        let what = if args.words.is_empty() { "Nothing" } else { "Nothing like that" };
        let hint = if recalled.lacks_commands { format!(" {HOW_KEPT}") } else { String::new() };
        return format!("{what} was found.{hint}\n");
    }
    let mut text = String::new();
    if recalled.is_of_another_time {
        text.push_str("Nothing was found in that time. At other times:\n");
    }
    let width = recalled.ranked.iter().map(|ranked| ranked.item.id().to_string().len()).max().unwrap_or(0);
    for Ranked { item, .. } in &recalled.ranked {
        let head = format!("{:>width$}  ", item.id().to_string());
        let indent = " ".repeat(head.len());
        let mut add = |head: &str, mark: &str, words: &str| {
            let first = format!("{head}{mark}");
            record::paragraph(
                (&first, &" ".repeat(first.len())),
                &one_line(words, usize::MAX),
                caller.columns,
                &mut text,
            );
        };
        match item {
            PastItem::Line(line) => add(&head, "$ ", &line.last.line),
            PastItem::Turn(PastTurn { turn, .. }) => {
                add(&head, "? ", &turn.question);
                turn.commands.iter().for_each(|command| add(&indent, "$ ", &command.line));
            }
        }
        add(&indent, "", &describe::circumstances(item, &caller.now, &caller.home));
    }
    text
}

/// Lets the user pick one. `None` if there is no terminal to show the list on.
fn pick(recalled: &Recalled, caller: &Caller<'_>, output: &mut dyn Write) -> Result<Option<ExitCode>, Failure> {
    let Some(terminal) = picker::terminal()? else { return Ok(None) };
    let items: Vec<&PastItem> = recalled.ranked.iter().map(|ranked| &ranked.item).collect();
    let rows: Vec<Row> = items.iter().map(|item| row(item, caller)).collect();
    let title = if recalled.is_of_another_time { "Found at other times" } else { "What was done" };
    let picked = picker::pick(
        &terminal,
        &Picker {
            title,
            rows: &rows,
            preselected: 0,
            enter: if resume::is_inside() { "puts it on the prompt" } else { "prints it" },
            preview: Some(&|row| preview(items[row])),
            remove: None,
        },
    );
    match picked {
        Ok(row) => {
            output.write_all(report(command(items[row]), resume::is_inside()).as_bytes())?;
            Ok(Some(ExitCode::SUCCESS))
        }
        Err(Stopped::Cancelled) => Ok(Some(ExitCode::SUCCESS)),
        Err(Stopped::Gone(error)) => Err(error.into()),
    }
}

fn row(item: &PastItem, caller: &Caller<'_>) -> Row {
    let remark = describe::circumstances(item, &caller.now, &caller.home).replace(", ", " · ");
    match item {
        PastItem::Line(line) => Row::new(&line.last.line, remark),
        PastItem::Turn(turn) => Row::new(command(item), remark).found_by(&turn.turn.question),
    }
}

/// The command to run again: that of a line, the last one of a turn, or the question itself.
fn command(item: &PastItem) -> &str {
    match item {
        PastItem::Line(line) => &line.last.line,
        PastItem::Turn(turn) => {
            turn.turn.commands.last().map_or(turn.turn.question.as_str(), |command| command.line.as_str())
        }
    }
}

fn preview(item: &PastItem) -> Vec<String> {
    let text = match item {
        PastItem::Line(line) => format!("$ {}\n{}", line.last.line, line.last.output_tail),
        PastItem::Turn(turn) => {
            let commands: Vec<String> =
                turn.turn.commands.iter().map(|command| format!("$ {}", command.line)).collect();
            format!("? {}\n{}\n{}", turn.turn.question, commands.join("\n"), turn.turn.answer)
        }
    };
    text.lines().map(|line| one_line(line, usize::MAX)).collect()
}

fn as_json(ranked: &Ranked) -> Value {
    let Ranked { item, score } = ranked;
    let (id, time) = (item.id().to_string(), item.at().map(|at| at.to_string()));
    match item {
        PastItem::Line(line) => json!({
            "id": id,
            "kind": "command",
            "line": line.last.line,
            "time": time,
            "folder": line.last.folder.as_ref().map(|folder| folder.to_string_lossy()),
            "exit_code": line.last.exit_code,
            "duration_ms": line.last.duration.map(|duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)),
            "runs": line.runs,
            "source": line.last.source.word(),
            "score": score,
        }),
        PastItem::Turn(PastTurn { turn, .. }) => {
            let commands: Vec<Value> = turn
                .commands
                .iter()
                .map(|command| json!({"line": command.line, "exit_code": command.exit_code}))
                .collect();
            json!({
                "id": id,
                "kind": "turn",
                "question": turn.question,
                "answer": turn.answer,
                "commands": commands,
                "time": time,
                "folder": turn.folder.to_string_lossy(),
                "trust": turn.trust,
                "score": score,
            })
        }
    }
}

/// How much is kept, as a sentence; `None` if nothing is.
pub(super) fn kept(caller: &Caller<'_>) -> Result<Option<String>, Failure> {
    let Some(store) = open(caller.paths)? else { return Ok(None) };
    let counts = store.counts().map_err(unusable(caller.paths))?;
    let runs: u64 = counts.runs.iter().map(|(_, runs)| runs).sum();
    let noun = |count: u64, one: &str, many: &str| format!("{count} {}", if count == 1 { one } else { many });
    let kept = [noun(runs, "command", "commands"), noun(counts.turns, "question", "questions")].join(" and ");
    Ok((runs + counts.turns > 0).then(|| format!("{kept} are kept: `cohab memory past` finds them.")))
}
