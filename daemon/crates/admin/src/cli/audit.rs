//! `cohab audit` shows the actions of the assistant and the consents to them, and verifies the log.

use std::{
    collections::BTreeMap,
    io::{self, ErrorKind, Write},
    path::Path,
    process::ExitCode,
};

use clap::{Args, Subcommand};
use cohab_protocol::Paths;
use cohab_session::PRIVATE_QUESTION;
use cohab_store::audit::{
    Places,
    follow::Follower,
    record::{Answer, Consent, Deed, Event, Record},
    verify::{self, MAX_FAULTS, Verdict},
};
use cohab_text::sanitize::{escaped_json, one_line, visible_controls};
use cohab_types::refusal::UserRefusal;
use jiff::Zoned;
use serde_json::{Value, json};

use super::{
    Failure,
    audit_follow::{self, RecordFormat},
    progress::Progress,
    record::{self, paragraph, time},
};

/// Most records that are searched for those of the last turn.
const MAX_TURN_RECORDS: usize = 10_000;

/// Show what was done and who agreed to it; verify the records
#[derive(Clone, Debug, PartialEq, Eq, Args)]
#[command(hide = true)]
pub struct AuditArgs {
    #[command(subcommand)]
    command: AuditCommand,
}

/// What of it.
#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub enum AuditCommand {
    /// Check whether a record was changed, removed, repeated or cut
    #[command(after_help = "Exit status: 0 the log is intact, 1 a record was changed or is missing.\n\
        A user who can read the key next to your settings can forge records; every\n\
        other change leaves a trace.")]
    Verify {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show the records of the last turn, or one by its number
    Show {
        /// Number of a record
        number: Option<u64>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show the last records
    Tail {
        /// Show at most N records
        #[arg(short, value_name = "N", default_value = "20")]
        number: usize,
        /// Print new records as they are written, until Ctrl-C
        #[arg(short, long)]
        follow: bool,
        /// Print JSON; with --follow, one record per line
        #[arg(long)]
        json: bool,
    },
}

/// Runs it. Exit status: 0 done, 1 the records are damaged or cannot be read, 3 the output is closed.
pub fn run(args: &AuditArgs, paths: &Paths, output: &mut dyn Write, errors: &mut dyn Write) -> ExitCode {
    let places = Places::of(paths);
    if let AuditCommand::Tail { number, follow: true, json } = args.command {
        return super::finish(tail(&places, number, json, output, &mut audit_follow::pause), output, errors);
    }
    let result = told(&args.command, &places).and_then(|(text, is_sound)| {
        output.write_all(text.as_bytes())?;
        if is_sound { Ok(()) } else { Err(not_whole(&places)) }
    });
    super::finish(result, output, errors)
}

/// Prints the last records, and then new ones.
fn tail(
    places: &Places,
    number: usize,
    is_json: bool,
    output: &mut dyn Write,
    goes_on: &mut dyn FnMut() -> bool,
) -> Result<(), Failure> {
    // Created before the last ones are read: records written in between are printed once.
    let follower = Follower::at_the_end(places.clone()).map_err(|error| unreadable(&error))?;
    let records = verify::last(places, number).map_err(|error| unreadable(&error))?;
    let after = records.last().map_or(0, |record| record.n);
    let render = |records: &[Record]| -> String {
        match is_json {
            true => records.iter().map(|record| record_json(record) + "\n").collect(),
            false => table(records, &Zoned::now(), &record::home(), record::terminal_columns()),
        }
    };
    output.write_all(render(&records).as_bytes())?;
    output.flush()?;
    audit_follow::follow(follower, after, &RecordFormat { is_json, render: &render }, output, goes_on).map_err(
        |error| match error.kind() {
            ErrorKind::BrokenPipe => Failure::from(error),
            _ => unreadable(&error),
        },
    )
}

fn unreadable(error: &io::Error) -> Failure {
    Failure::Other(format!("the audit log cannot be read: {error}"), None)
}

/// One record in a line.
pub(super) fn record_json(record: &Record) -> String {
    escaped_json(&serde_json::to_value(record).unwrap_or_default().to_string())
}

fn not_whole(places: &Places) -> Failure {
    let message = "the audit log was changed after it was written".to_owned();
    let (folder, apart) = (places.folder.display(), places.apart.display());
    let hint = format!("copy {folder} and {apart} for the investigation, then delete them to start a new log");
    Failure::Other(message, Some(hint))
}

/// The output, and whether all records are sound.
fn told(command: &AuditCommand, places: &Places) -> Result<(String, bool), Failure> {
    let (records, is_json) = match *command {
        AuditCommand::Verify { json } => {
            let mut progress = Progress::new("checking the audit log");
            let verdict = verify::verify_with(places, &mut |done, total| progress.bytes(done, total));
            drop(progress);
            let verdict = verdict.map_err(|error| unreadable(&error))?;
            let text = if json { verdict_json(&verdict) } else { verdict_text(&verdict, &record::home()) };
            return Ok((text, verdict.faults.is_empty()));
        }
        AuditCommand::Tail { number, json, .. } => {
            (verify::last(places, number).map_err(|error| unreadable(&error))?, json)
        }
        AuditCommand::Show { number, json } => {
            let all = verify::last(places, number.map_or(MAX_TURN_RECORDS, |_| usize::MAX))
                .map_err(|error| unreadable(&error))?;
            (chosen(all, number)?, json)
        }
    };
    let text = if is_json {
        let rows: Vec<Value> = records.iter().map(|record| serde_json::to_value(record).unwrap_or_default()).collect();
        escaped_json(&json!({"records": rows}).to_string()) + "\n"
    } else {
        table(&records, &Zoned::now(), &record::home(), record::terminal_columns())
    };
    Ok((text, true))
}

/// The records of the last turn, or the one with this number.
fn chosen(mut records: Vec<Record>, number: Option<u64>) -> Result<Vec<Record>, Failure> {
    match number {
        Some(number) => {
            records.retain(|record| record.n == number);
            let hint = || Some("`cohab audit tail` shows the last records".to_owned());
            if records.is_empty() {
                return Err(Failure::Other(format!("record {number} is missing or damaged"), hint()));
            }
        }
        None => {
            let turn = records.iter().rev().map(|record| record.turn.clone()).find(|turn| !turn.is_empty());
            records.retain(|record| Some(&record.turn) == turn.as_ref());
        }
    }
    Ok(records)
}

fn verdict_json(verdict: &Verdict) -> String {
    let faults: Vec<Value> = verdict
        .faults
        .iter()
        .map(|found| json!({"file": found.file.to_string_lossy(), "line": found.line, "fault": found.fault}))
        .collect();
    let is_sound = faults.is_empty();
    let whole = json!({"ok": is_sound, "records": verdict.records, "files": verdict.files, "faults": faults});
    escaped_json(&whole.to_string()) + "\n"
}

fn verdict_text(verdict: &Verdict, home: &Path) -> String {
    let count = |number: u64, one: &str| match number {
        1 => format!("1 {one}"),
        _ => format!("{number} {one}s"),
    };
    if verdict.faults.is_empty() {
        return match verdict.records {
            0 => "Nothing is recorded yet.\n".to_owned(),
            records => {
                let files = count(u64::try_from(verdict.files).unwrap_or(u64::MAX), "file");
                format!("The audit log is intact: {} in {files}.\n", count(records, "record"))
            }
        };
    }
    let mut text = String::new();
    for found in &verdict.faults {
        let line = found.line.map(|line| format!(":{line}")).unwrap_or_default();
        let file = record::folder(&found.file.to_string_lossy(), home);
        text.push_str(&format!("{file}{line}: {}\n", one_line(&found.fault, usize::MAX)));
    }
    if verdict.faults.len() == MAX_FAULTS {
        text.push_str("There may be more damage.\n");
    }
    text
}

/// A paragraph for the event, a second for its time, reasons and outcome. The result of an action is part of its paragraph.
pub(super) fn table(records: &[Record], now: &Zoned, home: &Path, columns: Option<usize>) -> String {
    if records.is_empty() {
        return "Nothing is recorded yet.\n".to_owned();
    }
    let is_action = |record: &&Record| matches!(record.event, Event::Action { .. });
    let mut results: BTreeMap<(&str, &str), ActionResult<'_>> = BTreeMap::new();
    for record in records {
        match &record.event {
            Event::Done { call, outcome } => results.entry((&record.turn, call)).or_default().end = Some(outcome),
            Event::RanWithoutLock { call, first_run } => {
                results.entry((&record.turn, call)).or_default().first_run = Some(first_run);
            }
            _ => {}
        }
    }
    let begun: Vec<(&str, &str)> = records
        .iter()
        .filter(is_action)
        .filter_map(|record| match &record.event {
            Event::Action { call, .. } => Some((record.turn.as_str(), call.as_str())),
            _ => None,
        })
        .collect();
    let digits = records.iter().map(|record| record.n.to_string().len()).max().unwrap_or(0);
    let mut text = String::new();
    for record in records {
        let result = match &record.event {
            Event::Done { call, .. } | Event::RanWithoutLock { call, .. }
                if begun.contains(&(record.turn.as_str(), call)) =>
            {
                continue;
            }
            Event::Action { call, .. } => results.get(&(record.turn.as_str(), call.as_str())).copied(),
            _ => None,
        };
        let (what, facts) = said(&record.event, result.unwrap_or_default(), home);
        let indent = " ".repeat(digits + 2);
        paragraph((&format!("{:>digits$}  ", record.n), &indent), &what, columns, &mut text);
        let when = time::clock(record.at, now.time_zone());
        let facts = std::iter::once(when).chain(facts.into_iter().map(|fact| one_line(&fact, usize::MAX)));
        let facts: Vec<String> = facts.filter(|fact| !fact.is_empty()).collect();
        paragraph((&indent, &indent), &facts.join(", "), columns, &mut text);
    }
    text
}

/// What later records say about an action.
#[derive(Clone, Copy, Default)]
struct ActionResult<'a> {
    end: Option<&'a str>,
    /// How a first run with the lock failed.
    first_run: Option<&'a str>,
}

/// The event, and its facts.
fn said(event: &Event, result: ActionResult<'_>, home: &Path) -> (String, Vec<String>) {
    let above_home = format!("{}/", home.display());
    let shown = |text: &str| one_line(&visible_controls(text).replace(&above_home, "~/"), usize::MAX);
    let because = |level: &str, reasons: &[String]| because(level, reasons).into_iter().map(|fact| shown(&fact));
    let place = |path: &str| record::folder(path, home);
    match event {
        Event::TurnBegan { mode, rules, cwd, is_private } => {
            let rules = if *rules == 1 { "1 rule".to_owned() } else { format!("{rules} rules") };
            let mut facts = vec![format!("mode {}", shown(mode)), rules, format!("in {}", place(cwd))];
            if *is_private {
                facts.insert(0, PRIVATE_QUESTION.to_owned());
            }
            ("turn begins".to_owned(), facts)
        }
        Event::Asked { subject, is_dangerous, reasons, answer, note } => {
            let level = if *is_dangerous { "danger" } else { "asked" };
            let says_no_more = note.is_empty() || UserRefusal::is_bare(note);
            let note = if says_no_more { String::new() } else { format!(": {}", shown(note)) };
            let mut facts: Vec<String> = because(level, reasons).collect();
            facts.push(format!("{}{note}", answered(*answer)));
            (format!("? {}", shown(subject)), facts)
        }
        Event::Action { does, text, typed, cwd, verdict, reasons, consent, rule, .. } => {
            let what = match does {
                Deed::Run => format!("$ {}", shown(text)),
                Deed::Write => format!("write {}", place(text)),
                Deed::Read => format!("read {}", place(text)),
                Deed::Foreign => shown(text),
            };
            let mut facts = vec![result.end.unwrap_or("end unknown").to_owned(), format!("in {}", place(cwd))];
            // The question is printed before it, with its reasons.
            if *consent != Consent::Asked {
                facts.extend(because(verdict, reasons));
            }
            facts.push(match consent {
                Consent::Policy => String::new(),
                Consent::Asked => "you agreed".to_owned(),
                Consent::Session => "you agreed to it earlier".to_owned(),
                Consent::Rule => format!("by your rule {}", shown(rule)),
                Consent::Mode => "by the approval mode".to_owned(),
            });
            facts.push(if typed.is_empty() { String::new() } else { "typed to stay read-only".to_owned() });
            facts.extend(result.first_run.map(|why| format!("{}; you let it run again without the lock", shown(why))));
            (what, facts)
        }
        Event::Refused { tool, text, reason, .. } => {
            (format!("not done: {} {}", shown(tool), shown(text)), vec![shown(reason)])
        }
        Event::HookObjected { on, tool, hook, reason } => {
            let facts = vec![shown(on), shown(tool), shown(reason)];
            (format!("hook objected: {}", shown(hook)), facts)
        }
        Event::RanWithoutLock { call, first_run } => {
            (format!("ran again without the lock: call {}", shown(call)), vec![shown(first_run)])
        }
        Event::Done { call, outcome } => (format!("{}: call {}", shown(outcome), shown(call)), Vec::new()),
        Event::ModeChanged { from, to } => (format!("mode {}", shown(to)), vec![format!("before {}", shown(from))]),
        Event::RuleStored { rule } => (format!("rule stored: {}", shown(rule)), Vec::new()),
        Event::RuleRemoved { rule } => (format!("rule removed: {}", shown(rule)), Vec::new()),
        Event::Undone { paths } => {
            let paths: Vec<String> = paths.iter().map(|path| place(path)).collect();
            (format!("files restored: {}", paths.join(", ")), Vec::new())
        }
        Event::TurnEnded { reason } => ("turn ends".to_owned(), vec![reason.replace('_', " ")]),
        Event::Broken { reason } => ("the log was changed since the last record".to_owned(), vec![shown(reason)]),
    }
}

fn because(level: &str, reasons: &[String]) -> Vec<String> {
    match (level, reasons.is_empty()) {
        ("allow", true) => Vec::new(),
        (_, true) => vec![level.to_owned()],
        (_, false) => vec![format!("{level}: {}", reasons.join("; "))],
    }
}

fn answered(answer: Answer) -> &'static str {
    match answer {
        Answer::Once => "you agreed",
        Answer::Session => "you agreed for the session",
        Answer::Always => "you agreed for good",
        Answer::Edited => "you edited it",
        Answer::No => "you refused",
    }
}

#[cfg(test)]
#[path = "audit_tests.rs"]
mod tests;
