//! `cohab watch` makes, lists, pauses and removes watchers. A daemon that runs hears of it by the signal of their store.

use std::{env, fmt::Write as _, io::Write, process::ExitCode};

use clap::{Args, Subcommand};
use cohab_assembly::wiring::home;
use cohab_protocol::Paths;
use cohab_store::watchers::{WatcherRow, WatcherState};
use cohab_text::sanitize::{escaped_json, one_line};
use cohab_types::environment::TERMINAL_VARIABLE;
use cohab_watchers::{
    files::WatcherFiles,
    roster::{MAX_NAME_CHARS, Roster, RosterError, Wish},
    service::shown_time,
};
use jiff::Zoned;
use serde_json::{Value, json};

use super::Failure;

/// Say or ask something when a condition holds
#[derive(Clone, Debug, PartialEq, Eq, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    hide = true,
    after_help = "Conditions:\n  \
        cargo ends                        process 1234 ends\n  \
        file build/app changes            (or appears, disappears)\n  \
        folder src changes                (what is directly in it)\n  \
        port 8080 opens                   port example.org:22 closes\n  \
        log server.log matches /ERROR/    (new lines; /error/i ignores case)\n  \
        at 14:30                          at 2026-12-01 09:00\n  \
        in 10m                            every 15m\n  \
        cron '0 9 * * mon-fri'\n\n\
        Nothing runs while a watcher waits, and no model is asked. A question is asked in this shell as if you typed it, \
        when you leave its prompt alone."
)]
pub struct WatchArgs {
    /// What to do; without it, list or make.
    #[command(subcommand)]
    pub command: Option<WatchCommand>,
    /// What to make.
    #[command(flatten)]
    pub new: NewWatcherArgs,
}

/// A watcher to make.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
pub struct NewWatcherArgs {
    /// What to wait for
    #[arg(long, value_name = "CONDITION")]
    pub when: Option<String>,
    /// What to ask then; without it, a line says what happened
    #[arg(requires = "when")]
    pub question: Option<String>,
    /// Wait for it again each time
    #[arg(long, requires = "when")]
    pub repeat: bool,
    /// What to call it
    #[arg(long, requires = "when", value_name = "NAME")]
    pub name: Option<String>,
}

/// What to do with watchers.
#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub enum WatchCommand {
    /// List the watchers
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Stop waiting until it is resumed
    Pause(OneWatcher),
    /// Wait again
    Resume(OneWatcher),
    /// Remove a watcher
    Rm(OneWatcher),
}

/// One watcher.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct OneWatcher {
    /// Its number or name
    pub id: String,
}

/// Runs it. Exit status: 0 done, 1 it cannot be, 3 the output is closed.
pub fn run(args: &WatchArgs, paths: &Paths, output: &mut dyn Write, errors: &mut dyn Write) -> ExitCode {
    let text = env::current_dir().map_err(Failure::from).and_then(|folder| {
        let files = WatcherFiles { store: paths.watchers_file(), signal: paths.watchers_signal() };
        let terminal = env::var(TERMINAL_VARIABLE).ok().filter(|name| !name.is_empty());
        done(args, &Roster { files, folder, home: home(), terminal, now: Zoned::now() })
    });
    super::finish(text.and_then(|text| Ok(output.write_all(text.as_bytes())?)), output, errors)
}

fn done(args: &WatchArgs, roster: &Roster) -> Result<String, Failure> {
    match &args.command {
        None => match &args.new.when {
            Some(when) => added(&args.new, when, roster),
            None => Ok(listed(&roster.all()?, &roster.now)),
        },
        Some(WatchCommand::List { json: true }) => Ok(as_json(&roster.all()?)),
        Some(WatchCommand::List { json: false }) => Ok(listed(&roster.all()?, &roster.now)),
        Some(WatchCommand::Pause(one)) => Ok(match roster.pause(&one.id)? {
            (row, true) => format!("Paused {}.\n", named(&row)),
            (row, false) => format!("{} is not active.\n", named(&row)),
        }),
        Some(WatchCommand::Resume(one)) => Ok(match roster.resume(&one.id)? {
            (row, true) => format!("Resumed {}.\n", named(&row)),
            (row, false) => format!("{} is active.\n", named(&row)),
        }),
        Some(WatchCommand::Rm(one)) => Ok(format!("Removed {}.\n", named(&roster.remove(&one.id)?))),
    }
}

impl From<RosterError> for Failure {
    fn from(error: RosterError) -> Self {
        Self::Other(one_line(&error.message, usize::MAX), error.hint)
    }
}

fn added(new: &NewWatcherArgs, when: &str, roster: &Roster) -> Result<String, Failure> {
    let (question, name) = (new.question.as_deref(), new.name.as_deref());
    let (id, watcher) = roster.add(Wish { when, question, is_repeat: new.repeat, name })?;
    let due = watcher.due.map(|due| format!(", next {}", shown_time(due, &roster.now))).unwrap_or_default();
    let then = if watcher.question.is_some() { "asks your question" } else { "says so" };
    let often = if watcher.is_repeat { "each time" } else { "once" };
    let condition = one_line(&watcher.condition, usize::MAX);
    Ok(format!(
        "Watcher {id} waits: {condition}{due}.\nIt {then} in this shell, {often}.\n`cohab watch rm {id}` removes it.\n"
    ))
}

fn named(row: &WatcherRow) -> String {
    match &row.watcher.name {
        Some(name) => format!("watcher {} ({})", row.id, one_line(name, MAX_NAME_CHARS)),
        None => format!("watcher {}", row.id),
    }
}

fn listed(rows: &[WatcherRow], now: &Zoned) -> String {
    if rows.is_empty() {
        return "There are no watchers. `cohab watch --help` shows what to wait for.\n".to_owned();
    }
    let mut text = String::new();
    for row in rows {
        let watcher = &row.watcher;
        let name =
            watcher.name.as_ref().map(|name| format!("{} · ", one_line(name, MAX_NAME_CHARS))).unwrap_or_default();
        let condition = one_line(&watcher.condition, usize::MAX);
        // Writing to a text cannot fail.
        let _ = writeln!(text, "{}  {} · {name}{condition}", row.id, row.state.word());
        let question = watcher.question.as_ref().map(|question| format!("asks \"{}\"", one_line(question, usize::MAX)));
        let due = watcher.due.filter(|_| row.state == WatcherState::Active);
        let next = due.map(|due| format!("next {}", shown_time(due, now)));
        let fired = row.fired_at.map(|at| {
            let times = if row.fired == 1 { "once".to_owned() } else { format!("{} times", row.fired) };
            let waits = if row.waits() { ", not shown yet" } else { "" };
            let summary = one_line(&row.summary, usize::MAX);
            format!("fired {times}, last {}: {summary}{waits}", shown_time(at, now))
        });
        let more: Vec<String> = [question, next, fired].into_iter().flatten().collect();
        if !more.is_empty() {
            let _ = writeln!(text, "   {}", more.join(" · "));
        }
    }
    text
}

fn as_json(rows: &[WatcherRow]) -> String {
    let row = |row: &WatcherRow| -> Value {
        let watcher = &row.watcher;
        json!({
            "id": row.id, "name": watcher.name, "state": row.state.word(), "condition": watcher.condition,
            "question": watcher.question, "folder": watcher.folder.to_string_lossy(), "terminal": watcher.terminal,
            "repeats": watcher.is_repeat, "made": watcher.made.to_string(), "due": watcher.due.map(|due| due.to_string()),
            "fired": row.fired, "fired_at": row.fired_at.map(|at| at.to_string()), "summary": row.summary,
            "detail": row.detail, "is_shown": !row.waits(),
        })
    };
    escaped_json(&json!({"watchers": rows.iter().map(row).collect::<Vec<_>>()}).to_string()) + "\n"
}

#[cfg(test)]
#[path = "watch_tests.rs"]
mod tests;
