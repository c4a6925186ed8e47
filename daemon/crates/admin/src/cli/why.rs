//! `cohab why` shows the conversation behind a command of the assistant.

use std::{io::Write, path::Path, process::ExitCode};

use clap::Args;
use cohab_protocol::Paths;
use cohab_store::sessions::{
    EventRow, SessionRow, StateStore,
    event::{Approval, Event},
};
use cohab_text::sanitize::{escaped_json, one_line};
use jiff::Zoned;
use serde_json::json;

use super::{
    Failure,
    record::{self, command::Command, transcript},
};

/// Show the conversation that a command came from
#[derive(Clone, Debug, PartialEq, Eq, Args)]
#[command(after_help = "`cohab history` lists the commands with their ids.")]
pub struct WhyArgs {
    /// Id of the command
    #[arg(value_name = "ID")]
    pub number: u64,
    /// Print JSON, with every event of the turn
    #[arg(long)]
    pub json: bool,
}

/// A command with its turn.
struct ShownCommand {
    command: Command,
    session: Option<SessionRow>,
    events: Vec<EventRow>,
}

/// Runs it. Exit status: 0 done, 1 no such command or the store cannot be used, 3 the output is closed.
pub fn run(args: &WhyArgs, paths: &Paths, output: &mut dyn Write, errors: &mut dyn Write) -> ExitCode {
    let result = read(args, paths).and_then(|shown| {
        let text = if args.json { json(&shown) } else { text(&shown, &Zoned::now(), &record::home()) };
        Ok(output.write_all(text.as_bytes())?)
    });
    super::finish(result, output, errors)
}

fn read(args: &WhyArgs, paths: &Paths) -> Result<ShownCommand, Failure> {
    let unreadable = record::unreadable(paths);
    let missing = || {
        let hint = "`cohab history` lists the commands with their ids".to_owned();
        Failure::Other(format!("there is no command with the id {}", args.number), Some(hint))
    };
    let store = record::open(paths)?.ok_or_else(missing)?;
    let row = store.event(args.number).map_err(&unreadable)?.ok_or_else(missing)?;
    let events = store.events(&row.session, Some(&row.turn)).map_err(&unreadable)?;
    let session = store.session(&row.session).map_err(&unreadable)?;
    let command = Command::among(&events, args.number).ok_or_else(missing)?;
    Ok(ShownCommand { command, session, events })
}

fn json(shown: &ShownCommand) -> String {
    let events: Vec<_> = shown.events.iter().map(record::event_json).collect();
    let session = shown.session.as_ref().map(record::session_json);
    let whole = json!({"command": shown.command.json(), "session": session, "events": events});
    escaped_json(&whole.to_string()) + "\n"
}

fn text(shown: &ShownCommand, now: &Zoned, home: &Path) -> String {
    let ShownCommand { command, events, .. } = shown;
    let mut text = heading(shown, now);
    let (before, after) = events.split_at(command.place);
    let mut block = |title: &str, body: String| {
        if !body.is_empty() {
            text.push_str(&format!("\n{title}\n{body}"));
        }
    };
    block(
        &format!("You asked, in {}:", record::folder(&command.call.cwd, home)),
        transcript::prose_lines("  ? ", command.question.as_deref().unwrap_or("(unknown)")),
    );
    block("The assistant thought:", said(before, |event| matches!(event, Event::Reasoning { .. })));
    block("It said:", said(before, |event| matches!(event, Event::Answer { .. })));
    if let Some(proposed) = &command.call.proposed {
        block("It wanted to run:", transcript::lines("  $ ", proposed));
    }
    let outcome = command.result.as_ref().map(|result| transcript::outcome(result, None)).unwrap_or_default();
    block(&consent(command), transcript::lines("  $ ", command.text()) + &outcome);
    let rest = after.iter().skip_while(|row| !matches!(row.event, Event::Result(_))).skip(1).cloned();
    block("Then:", indented(&transcript::plain(&rest.collect::<Vec<_>>())));
    text
}

fn heading(shown: &ShownCommand, now: &Zoned) -> String {
    let (row, zone) = (&shown.command.row, now.time_zone());
    let (clock, ago) = (record::time::clock(row.at, zone), record::time::ago(row.at, now.timestamp(), zone));
    let session = shown.session.as_ref().map(|session| {
        format!(", session {} \"{}\"", record::short(&session.id), one_line(&session.title, usize::MAX))
    });
    format!("Command {}, {clock} ({ago}){}\n", row.number, session.unwrap_or_default())
}

fn consent(command: &Command) -> String {
    let why = if command.reasons.is_empty() { String::new() } else { format!("; {}", command.reasons.join("; ")) };
    let how = match command.call.approval {
        Approval::NotNeeded => "It ran without a question, because it is plainly read-only".to_owned(),
        Approval::Once => "You agreed to it once".to_owned(),
        Approval::Session => "You agreed to it for the session".to_owned(),
        Approval::Rule => "A rule of yours allows it".to_owned(),
        Approval::Edited => "You changed it to this and agreed".to_owned(),
        Approval::Mode => "It ran without a question, because the approval mode is `all`".to_owned(),
        Approval::Refused => "It was refused and not run".to_owned(),
    };
    one_line(&format!("{how}{why}:"), usize::MAX)
}

fn said(events: &[EventRow], is_wanted: impl Fn(&Event) -> bool) -> String {
    let texts = events.iter().filter(|row| is_wanted(&row.event)).map(|row| match &row.event {
        Event::Answer { text } | Event::Reasoning { text } => transcript::prose_lines("  ", text),
        _ => String::new(),
    });
    texts.collect()
}

fn indented(text: &str) -> String {
    text.lines().map(|line| if line.is_empty() { "\n".to_owned() } else { format!("  {line}\n") }).collect()
}

#[cfg(test)]
#[path = "why_tests.rs"]
mod tests;
