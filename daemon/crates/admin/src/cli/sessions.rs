//! `cohab sessions` lists, shows, names, removes and resumes stored conversations.

mod list;
mod pick;
pub(super) mod resume;

use std::{
    io::{self, BufRead, IsTerminal, Write},
    process::ExitCode,
};

use clap::{Args, Subcommand};
use cohab_protocol::Paths;
use cohab_store::{
    sessions::{SessionRow, StateStore, TITLE_MAX_CHARS},
    spool::Spool,
};
use cohab_text::sanitize::{escaped_json, one_line};
use jiff::{Timestamp, Zoned};
use serde_json::json;

use super::{Failure, export, record};

/// List, show, search, resume, fork, export and remove conversations
#[derive(Clone, Debug, PartialEq, Eq, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "At a terminal you pick a session from the list: Enter resumes it, Ctrl-D deletes it. An ID is `last`, or the start of an entry in the first column that no other session shares. \
        Conversations are stored in sessions.db on this machine only: `cohab config set sessions.enabled false` \
        stops storing them, `cohab sessions rm --all` removes all."
)]
pub struct SessionsArgs {
    /// What to do; without it, list.
    #[command(subcommand)]
    pub command: Option<SessionsCommand>,
    /// How to list.
    #[command(flatten)]
    pub list: ListArgs,
}

/// How to list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
pub struct ListArgs {
    /// List only sessions with all of these words in their title, questions, commands or answers
    #[arg(value_name = "WORDS")]
    pub words: Vec<String>,
    /// Show at most N sessions
    #[arg(short, value_name = "N", default_value = "20")]
    pub number: usize,
    /// List all sessions, also those of `cohab ask`
    #[arg(long)]
    pub all: bool,
    /// Print the list, also at a terminal
    #[arg(long)]
    pub plain: bool,
    /// Pick one at the terminal, whatever $PAGER is
    #[arg(long, hide = true, conflicts_with_all = ["words", "plain", "json"])]
    pub pick: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub enum SessionsCommand {
    /// List the newest sessions, or those that contain WORDS
    List(ListArgs),
    /// Show a conversation
    Show {
        /// Start of its id, or `last`
        #[arg(default_value = "last")]
        id: String,
        /// Print JSON, with everything that is stored
        #[arg(long)]
        json: bool,
        /// Print the text in parts as JSON, for the client
        #[arg(long, hide = true, conflicts_with = "json")]
        parts: bool,
    },
    /// Resume a conversation in this shell or a new one
    Resume {
        /// Start of its id, or `last`
        id: String,
    },
    /// Copy a conversation and resume the copy
    Fork {
        /// Start of its id, or `last`
        id: String,
    },
    /// Rename a conversation
    Title {
        /// Start of its id, or `last`
        id: String,
        /// The new title; several words are joined
        #[arg(required = true)]
        text: Vec<String>,
    },
    /// Write a conversation as a script, a transcript or a recording
    Export(export::ExportArgs),
    /// Remove conversations for good
    Rm(RmArgs),
}

/// Which to remove.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
#[command(group = clap::ArgGroup::new("which").required(true).multiple(false))]
pub struct RmArgs {
    /// Starts of the ids of the sessions; asks first at a terminal
    #[arg(value_name = "ID", group = "which")]
    pub ids: Vec<String>,
    /// Remove sessions without a question for this many days (`30d`)
    #[arg(long, value_name = "DAYS", group = "which", value_parser = days)]
    pub older_than: Option<u32>,
    /// Remove all sessions; asks first
    #[arg(long, group = "which")]
    pub all: bool,
    /// Do not ask
    #[arg(long)]
    pub yes: bool,
}

fn days(text: &str) -> Result<u32, String> {
    let days = text.strip_suffix('d').unwrap_or(text).parse().ok();
    days.ok_or_else(|| "write it as a number of days, `30d`".to_owned())
}

/// Runs it. Exit status: 0 done, 1 no such session or the store cannot be used, 3 the output is closed.
pub fn run(args: &SessionsArgs, paths: &Paths, output: &mut dyn Write, errors: &mut dyn Write) -> ExitCode {
    let ListArgs { words, plain, json, pick, .. } = &args.list;
    let is_plain = *plain || *json || !words.is_empty() || cohab_prompt::is_unpaged() && !pick;
    if args.command.is_none() && !is_plain {
        match pick::run(&args.list, paths, &Zoned::now(), output) {
            // No terminal, or no sessions.
            Ok(None) => {}
            Ok(Some(status)) => return status,
            Err(failure) => return super::finish(Err(failure), output, errors),
        }
    }
    let is_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
    let input = &mut Input { lines: &mut io::stdin().lock(), is_terminal };
    run_with_input(args, paths, input, output, errors)
}

/// The user's answers.
struct Input<'a> {
    lines: &'a mut dyn BufRead,
    is_terminal: bool,
}

fn run_with_input(
    args: &SessionsArgs,
    paths: &Paths,
    input: &mut Input<'_>,
    output: &mut dyn Write,
    errors: &mut dyn Write,
) -> ExitCode {
    let result = match args.command.as_ref().unwrap_or(&SessionsCommand::List(args.list.clone())) {
        SessionsCommand::List(list) => list::run(list, paths, &Zoned::now(), output),
        SessionsCommand::Show { id, json, parts } => {
            let form = if *json {
                Form::Json
            } else if *parts {
                Form::Parts
            } else {
                Form::Text
            };
            show(id, form, paths, &Zoned::now(), output)
        }
        SessionsCommand::Resume { id } => resume::resume(id, paths),
        SessionsCommand::Fork { id } => resume::fork(id, paths, output),
        SessionsCommand::Title { id, text } => title(id, &text.join(" "), paths, output),
        SessionsCommand::Export(args) => return export::run(args, paths, output, errors),
        SessionsCommand::Rm(args) => remove(args, paths, input, output),
    };
    super::finish(result, output, errors)
}

/// How a conversation is printed.
#[derive(Clone, Copy)]
enum Form {
    Text,
    Json,
    Parts,
}

fn show(id: &str, form: Form, paths: &Paths, now: &Zoned, output: &mut dyn Write) -> Result<(), Failure> {
    let (store, session) = record::session(paths, id)?;
    let events = store.events(&session.key, None).map_err(record::unreadable(paths))?;
    let text = match form {
        Form::Json => {
            let events: Vec<_> = events.iter().map(record::event_json).collect();
            let whole = json!({"session": record::session_json(&session), "events": events});
            escaped_json(&whole.to_string()) + "\n"
        }
        Form::Parts => {
            let parts = record::transcript::parts(&events).into_iter();
            let parts: Vec<_> = parts.map(|part| json!({"text": part.text, "is_markdown": part.is_markdown})).collect();
            let whole = json!({"head": head(&session, now), "parts": parts});
            escaped_json(&whole.to_string()) + "\n"
        }
        Form::Text => format!("{}\n{}", head(&session, now), record::transcript::plain(&events)),
    };
    Ok(output.write_all(text.as_bytes())?)
}

fn head(session: &SessionRow, now: &Zoned) -> String {
    let (zone, home) = (now.time_zone(), record::home());
    let [first, last] = [session.created, session.active].map(|at| record::time::clock(at, zone));
    let questions = match session.turns {
        1 => format!("1 question, {last}"),
        turns => format!("{turns} questions from {first} to {last}"),
    };
    let copy = session.forked_from.as_deref().map(|id| format!(", a copy of {}", record::short(id)));
    let line = format!(
        "{}, {questions}, last in {} with {}{}",
        record::short(&session.id),
        record::folder(&session.cwd, &home),
        session.model,
        copy.unwrap_or_default(),
    );
    format!("{}\n{}\n", one_line(&session.title, usize::MAX), one_line(&line, usize::MAX))
}

fn title(id: &str, text: &str, paths: &Paths, output: &mut dyn Write) -> Result<(), Failure> {
    let title = one_line(text.trim(), TITLE_MAX_CHARS);
    if title.is_empty() {
        return Err(Failure::Other("a title must not be empty".to_owned(), None));
    }
    let (mut store, session) = record::session(paths, id)?;
    store.set_title(&session.key, &title).map_err(record::unreadable(paths))?;
    Ok(writeln!(output, "{} is now \"{title}\".", record::short(&session.id))?)
}

fn remove(args: &RmArgs, paths: &Paths, input: &mut Input<'_>, output: &mut dyn Write) -> Result<(), Failure> {
    let Some(mut store) = record::open(paths)? else {
        return args.ids.first().map_or_else(
            || Ok(writeln!(output, "There are no sessions.")?),
            |id| record::session(paths, id).map(drop),
        );
    };
    let unreadable = record::unreadable(paths);
    let removed = if let Some(days) = args.older_than {
        let ms = i64::from(days) * 24 * 3_600_000;
        let before = Timestamp::from_millisecond(Timestamp::now().as_millisecond() - ms).unwrap_or(Timestamp::MIN);
        store.remove_older(before).map_err(&unreadable)?
    } else {
        let keys: Vec<String> = if args.all {
            let sessions = store.sessions(&[], usize::MAX).map_err(&unreadable)?;
            if !args.yes && !sessions.is_empty() {
                agree(&format!("Remove all {} sessions for good?", sessions.len()), input, output)?;
            }
            sessions.into_iter().map(|session| session.key).collect()
        } else {
            // All of them, or none: a mistyped id must not cost the other sessions.
            let found = args.ids.iter().map(|id| record::find(paths, &store, id));
            let sessions: Vec<SessionRow> = found.collect::<Result<_, _>>()?;
            if !args.yes && input.is_terminal {
                agree(&question(&sessions), input, output)?;
            }
            sessions.into_iter().map(|session| session.key).collect()
        };
        store.remove(&keys).map_err(&unreadable)?
    };
    Spool::at(&paths.state_dir).sweep(&store).map_err(unreadable)?;
    let sessions = if removed == 1 { "session" } else { "sessions" };
    Ok(writeln!(output, "Removed {removed} {sessions}.")?)
}

/// Names the sessions that go.
fn question(sessions: &[SessionRow]) -> String {
    let named = |session: &SessionRow| {
        let questions = if session.turns == 1 { "question" } else { "questions" };
        let title = one_line(&session.title, TITLE_MAX_CHARS);
        format!("\"{title}\" ({}, {} {questions})", record::short(&session.id), session.turns)
    };
    match sessions {
        [one] => format!("Remove {} for good?", named(one)),
        several => {
            let rows: String = several.iter().map(|session| named(session) + "\n").collect();
            format!("{rows}Remove these {} sessions for good?", several.len())
        }
    }
}

fn agree(question: &str, input: &mut Input<'_>, output: &mut dyn Write) -> Result<(), Failure> {
    write!(output, "{question} Type yes: ")?;
    output.flush()?;
    let mut answer = String::new();
    input.lines.read_line(&mut answer)?;
    if answer.trim() == "yes" {
        return Ok(());
    }
    let hint = (!input.is_terminal).then(|| "`--yes` removes them without a question".to_owned());
    Err(Failure::Other("nothing was removed".to_owned(), hint))
}

#[cfg(test)]
#[path = "sessions_tests.rs"]
mod tests;
