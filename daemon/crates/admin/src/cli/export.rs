//! `cohab export` prints a conversation as a script, a transcript or a recording.

mod cast;
mod markdown;
mod script;

use std::{fs::OpenOptions, io::Write, os::unix::fs::OpenOptionsExt, path::PathBuf, process::ExitCode};

use clap::Args;
use cohab_model_api::{Scrubbed, Secrets};
use cohab_protocol::Paths;
use cohab_store::sessions::{EventRow, SessionRow, StateStore, event::Event};
use jiff::{Timestamp, tz::TimeZone};

use super::{Failure, record};

/// Write a conversation as a script, a transcript or a recording
#[derive(Clone, Debug, PartialEq, Eq, Args)]
#[command(
    group = clap::ArgGroup::new("form").required(true).multiple(false),
    after_help = "The script runs the commands that succeeded, in their folders. Comments hold the\n\
        questions, and the commands that failed or were refused.\n\
        Read it before you run it. `asciinema play FILE` plays a recording."
)]
pub struct ExportArgs {
    /// Start of the session's id, or `last`
    #[arg(default_value = "last")]
    pub id: String,
    /// Export only question N
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub turn: Option<u32>,
    /// Write a shell script that runs the commands again
    #[arg(long, group = "form")]
    pub script: bool,
    /// Write a transcript in Markdown
    #[arg(long, group = "form")]
    pub markdown: bool,
    /// Write a recording of the terminal (asciicast v2)
    #[arg(long, group = "form")]
    pub cast: bool,
    /// Write to FILE, which must not exist, instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// The exported conversation.
struct Exported {
    session: SessionRow,
    events: Vec<EventRow>,
    zone: TimeZone,
}

impl Exported {
    /// The day of the first event.
    fn day(&self) -> String {
        let at = self.events.first().map_or(self.session.created, |row| row.at);
        self.day_of(at)
    }

    fn day_of(&self, at: Timestamp) -> String {
        at.to_zoned(self.zone.clone()).date().to_string()
    }
}

/// Runs it. Exit status: 0 done, 1 no such session or the store cannot be used, 3 the output is closed.
pub fn run(args: &ExportArgs, paths: &Paths, output: &mut dyn Write, errors: &mut dyn Write) -> ExitCode {
    let result = read(args, paths).and_then(|exported| {
        let text = if args.script {
            script::script(&exported)
        } else if args.markdown {
            markdown::transcript(&exported)
        } else {
            cast::recording(&exported)
        };
        // Entries of an earlier release may still hold secrets.
        write(args, &Secrets::default().scrubbed_own(text), output)
    });
    super::finish(result, output, errors)
}

fn write(args: &ExportArgs, text: &Scrubbed<String>, output: &mut dyn Write) -> Result<(), Failure> {
    let Some(path) = &args.output else { return Ok(output.write_all(text.as_bytes())?) };
    let failed = |error: std::io::Error| Failure::Other(format!("{} cannot be written: {error}", path.display()), None);
    let mode = if args.script { 0o755 } else { 0o644 };
    let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(path).map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)
}

fn read(args: &ExportArgs, paths: &Paths) -> Result<Exported, Failure> {
    let (store, session) = record::session(paths, &args.id)?;
    let mut events = store.events(&session.key, None).map_err(record::unreadable(paths))?;
    if let Some(wanted) = args.turn {
        let turns: Vec<String> = questions(&events).map(|row| row.turn.clone()).collect();
        let turn = usize::try_from(wanted).ok().and_then(|wanted| turns.get(wanted.saturating_sub(1)));
        let turn = turn.ok_or_else(|| {
            let hint = format!("number of questions: {}", turns.len());
            Failure::Other(format!("the session has no question {wanted}"), Some(hint))
        })?;
        events.retain(|row| row.turn == *turn);
    }
    Ok(Exported { session, events, zone: TimeZone::system() })
}

fn questions(events: &[EventRow]) -> impl Iterator<Item = &EventRow> {
    events.iter().filter(|row| matches!(row.event, Event::Question { .. }))
}

#[cfg(test)]
#[path = "export_tests.rs"]
mod tests;
