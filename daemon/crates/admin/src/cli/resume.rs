//! `cohab resume` continues a turn that the end of the daemon interrupted. At the prompt of a shell that cohab opened the client
//! handles the line itself.

use std::{io::Write, process::ExitCode};

use clap::Args;
use cohab_protocol::Paths;
use cohab_store::sessions::{SessionRow, interrupted as interrupted_in, steps::recover::Unfinished};
use cohab_text::sanitize::{escaped_json, one_line};
use jiff::Zoned;
use serde_json::{Value, json};

use super::{
    Failure,
    record::{self, time},
    sessions::resume::resume,
};

/// Resume a turn that was interrupted when the daemon ended
#[derive(Clone, Debug, PartialEq, Eq, Args)]
#[command(after_help = "A turn is interrupted when the background daemon ends suddenly. Steps that were done are not \
        repeated. If it is unknown whether a command ran, cohab says so and does not run it again by itself. `cohab \
        trace` shows the steps.")]
pub struct ResumeArgs {
    /// Start of the session's id [default: the newest interrupted one]
    #[arg(value_name = "ID")]
    pub id: Option<String>,
    /// List interrupted turns without resuming one
    #[arg(long)]
    pub list: bool,
    /// Print the list as JSON
    #[arg(long)]
    pub json: bool,
}

/// Runs it. Exit status: 0 done, 1 nothing to continue or the store cannot be used, 3 the output is closed.
pub fn run(args: &ResumeArgs, paths: &Paths, output: &mut dyn Write, errors: &mut dyn Write) -> ExitCode {
    super::finish(try_run(args, paths, output), output, errors)
}

fn try_run(args: &ResumeArgs, paths: &Paths, output: &mut dyn Write) -> Result<(), Failure> {
    let found = interrupted(args.id.as_deref(), paths)?;
    if args.json {
        let rows: Vec<Value> = found.iter().map(row).collect();
        let text = escaped_json(&json!({"interrupted": rows}).to_string());
        return Ok(writeln!(output, "{text}")?);
    }
    let Some((session, _)) = found.first() else {
        let message = "nothing to resume: no turn was interrupted".to_owned();
        return Err(Failure::Other(message, Some("`cohab sessions` lists all conversations".to_owned())));
    };
    output.write_all(table(&found, &Zoned::now()).as_bytes())?;
    if args.list {
        return Ok(());
    }
    output.flush()?;
    resume(&session.id, paths)
}

/// Interrupted sessions, the newest first.
fn interrupted(id: Option<&str>, paths: &Paths) -> Result<Vec<(SessionRow, Unfinished)>, Failure> {
    let wanted = id.map(|id| record::session(paths, id)).transpose()?.map(|(_, session)| session.key);
    let Some(store) = record::open(paths)? else { return Ok(Vec::new()) };
    interrupted_in(&store, wanted.as_deref()).map_err(record::unreadable(paths))
}

fn row((session, unfinished): &(SessionRow, Unfinished)) -> Value {
    let unknown: Vec<&str> = unfinished.unknown.iter().map(|step| step.metadata.title.as_str()).collect();
    json!({
        "session": record::session_json(session),
        "turn": unfinished.turn,
        "steps_done": unfinished.done,
        "unknown": unknown,
    })
}

fn table(found: &[(SessionRow, Unfinished)], now: &Zoned) -> String {
    let mut text = String::new();
    for (session, Unfinished { turn, done, unknown, .. }) in found {
        let when = time::ago(turn.last_activity, now.timestamp(), now.time_zone());
        let steps = match done {
            0 => "nothing".to_owned(),
            1 => "1 step".to_owned(),
            done => format!("{done} steps"),
        };
        let question = one_line(&turn.question, usize::MAX);
        text.push_str(&format!("{}  {question}\n        {when}, {steps} done\n", record::short(&session.id)));
        for step in unknown {
            let title = one_line(&step.metadata.title, usize::MAX);
            text.push_str(&format!("        unknown whether this ran: {title}\n"));
        }
    }
    text
}

#[cfg(test)]
#[path = "resume_tests.rs"]
mod tests;
