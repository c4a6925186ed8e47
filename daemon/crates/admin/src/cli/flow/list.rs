//! Lists runs of flows.

use std::{io::Write, sync::Arc};

use cohab_graph::{
    log::RunStatus,
    port::{RunFacts, RunStore as _, RunStoreError, RunSummary},
};
use cohab_model_api::Secrets;
use cohab_protocol::Paths;
use cohab_store::sessions::id::shown_digits;
use cohab_text::sanitize::{escaped_json, one_line};
use cohab_work::flows::FlowRuns;
use jiff::{Timestamp, Zoned};
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr as _;

use super::{
    super::{
        Failure,
        record::{self, time},
    },
    ListArgs,
};

/// Widest name of a flow.
const NAME_COLUMNS: usize = 32;

/// The runs of this user.
pub(super) fn store(paths: &Paths) -> FlowRuns {
    FlowRuns::at(&paths.state_dir, Arc::new(Secrets::of_this_process()))
}

/// The failure of a store, for people.
pub(super) fn unusable(error: &RunStoreError) -> Failure {
    Failure::Other(one_line(&error.to_string(), usize::MAX), error.remedy().map(str::to_owned))
}

pub(super) fn list(args: &ListArgs, paths: &Paths, output: &mut dyn Write) -> Result<(), Failure> {
    let runs = store(paths).list().map_err(|error| unusable(&error))?;
    let text = if args.json { json_of(&runs) } else { table(&runs, &Zoned::now(), record::terminal_columns()) };
    Ok(output.write_all(text.as_bytes())?)
}

fn json_of(runs: &[RunSummary]) -> String {
    let at = |ms| Timestamp::from_millisecond(ms).unwrap_or(Timestamp::UNIX_EPOCH).to_string();
    let run = |RunSummary { id, run }: &RunSummary| match run {
        Ok(RunFacts { flow, file, started_ms, changed_ms, status, steps }) => json!({
            "id": id, "flow": flow, "file": file, "status": status.word(), "steps": steps,
            "started_at": at(*started_ms), "changed_at": at(*changed_ms),
        }),
        Err(error) => json!({"id": id, "error": error.to_string()}),
    };
    let runs: Vec<Value> = runs.iter().map(run).collect();
    escaped_json(&json!({"runs": runs}).to_string()) + "\n"
}

fn table(runs: &[RunSummary], now: &Zoned, columns: Option<usize>) -> String {
    if runs.is_empty() {
        return "No flow has run yet.\n".to_owned();
    }
    let ids: Vec<&str> = runs.iter().map(|run| run.id.as_str()).collect();
    let digits = shown_digits(&ids);
    let cells: Vec<[String; 5]> = runs.iter().map(|run| cells(run, digits, now)).collect();
    let widths: Vec<usize> =
        (0..4).map(|column| cells.iter().map(|row| row[column].width()).max().unwrap_or_default()).collect();
    let row = |row: &[String; 5]| {
        let padded =
            row.iter().zip(&widths).map(|(cell, width)| format!("{cell}{}  ", " ".repeat(width - cell.width())));
        let line = padded.collect::<String>() + &row[4];
        one_line(line.trim_end(), columns.unwrap_or(usize::MAX)) + "\n"
    };
    cells.iter().map(row).collect()
}

/// Id, flow, status, steps and time of a run.
fn cells(RunSummary { id, run }: &RunSummary, digits: usize, now: &Zoned) -> [String; 5] {
    let id = id.get(..digits).unwrap_or(id).to_owned();
    match run {
        Ok(RunFacts { flow, changed_ms, status, steps, .. }) => {
            let at = Timestamp::from_millisecond(*changed_ms).unwrap_or(Timestamp::UNIX_EPOCH);
            let steps = if *steps == 1 { "1 step".to_owned() } else { format!("{steps} steps") };
            let when = time::ago(at, now.timestamp(), now.time_zone());
            [id, one_line(flow, NAME_COLUMNS), status_words(*status).to_owned(), steps, when]
        }
        Err(error) => {
            [id, "?".to_owned(), "broken".to_owned(), String::new(), one_line(&error.to_string(), usize::MAX)]
        }
    }
}

fn status_words(status: RunStatus) -> &'static str {
    match status {
        RunStatus::Waiting => "waits for you",
        RunStatus::Limit => "stopped at its limit",
        other => other.word(),
    }
}
