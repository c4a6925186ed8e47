//! Prints the list of sessions, one per line.

use std::{io::Write, path::Path};

use clap::Subcommand as _;
use cohab_protocol::Paths;
use cohab_store::sessions::{SessionRow, StateStore, id};
use cohab_text::{
    nearest,
    sanitize::{escaped_json, one_line},
};
use jiff::Zoned;
use serde_json::{Value, json};

use super::{
    super::{Failure, record},
    ListArgs, SessionsCommand,
};

/// Widest folder, in columns.
const FOLDER_COLUMNS: usize = 24;
/// Heads of the columns before the title.
const HEADING: [&str; 4] = ["id", "when", "questions", "folder"];
/// The names of sessions of `cohab ask` begin with this.
const ONE_SHOT: &str = "cli:";
/// Narrowest title, on any terminal, in columns.
const TITLE_MIN_COLUMNS: usize = 12;

/// The settings of the list.
pub(super) struct Look<'a> {
    pub now: &'a Zoned,
    pub home: &'a Path,
    /// Columns of the terminal; without one nothing is cut.
    pub columns: Option<usize>,
}

/// The sessions that these arguments mean, the newest first, and the number of those that are left out.
pub(super) fn listed(
    args: &ListArgs,
    store: &dyn StateStore,
    paths: &Paths,
) -> Result<(Vec<SessionRow>, usize), Failure> {
    let mut sessions = store.sessions(&args.words, usize::MAX).map_err(record::unreadable(paths))?;
    let found = sessions.len();
    // A search looks everywhere, and JSON has the names of the sessions.
    if !args.all && !args.json && args.words.is_empty() {
        sessions.retain(|session| !session.key.starts_with(ONE_SHOT));
    }
    let hidden = found - sessions.len();
    Ok((sessions, hidden))
}

pub(super) fn run(args: &ListArgs, paths: &Paths, now: &Zoned, output: &mut dyn Write) -> Result<(), Failure> {
    let store = record::open(paths)?;
    let (mut sessions, hidden) = store.map_or(Ok((Vec::new(), 0)), |store| listed(args, &store, paths))?;
    if !args.all {
        sessions.truncate(args.number);
    }
    let text = if args.json {
        let rows: Vec<Value> = sessions.iter().map(record::session_json).collect();
        escaped_json(&json!({"sessions": rows}).to_string()) + "\n"
    } else if sessions.is_empty() && !args.words.is_empty() {
        let meant = nearest_command(&args.words[0]);
        let meant = meant.map(|name| format!(" Did you mean `cohab sessions {name}`?")).unwrap_or_default();
        format!("No session contains \"{}\".{meant}\n", record::visible(&args.words.join(" ")))
    } else if sessions.is_empty() && hidden > 0 {
        one_shots(hidden)
    } else {
        let more = if hidden > 0 { one_shots(hidden) } else { String::new() };
        table(&sessions, &Look { now, home: &record::home(), columns: record::terminal_columns() }) + &more
    };
    Ok(output.write_all(text.as_bytes())?)
}

/// The note about conversations that are not listed.
fn one_shots(count: usize) -> String {
    let (answers, verb) = if count == 1 { ("1 answer".to_owned(), "is") } else { (format!("{count} answers"), "are") };
    format!("{answers} of `cohab ask` {verb} not listed: `cohab sessions --all` lists all.\n")
}

/// The subcommand that a mistyped word means.
fn nearest_command(word: &str) -> Option<String> {
    let commands = SessionsCommand::augment_subcommands(clap::Command::new("sessions"));
    nearest::to(word, commands.get_subcommands().map(clap::Command::get_name)).map(str::to_owned)
}

/// Aligned columns: id, time, questions, folder, title, under a heading.
pub(super) fn table(sessions: &[SessionRow], look: &Look<'_>) -> String {
    if sessions.is_empty() {
        return "There are no sessions yet. Ask something: `? why is this folder so big`.\n".to_owned();
    }
    let ids: Vec<&str> = sessions.iter().map(|session| session.id.as_str()).collect();
    let digits = id::shown_digits(&ids);
    let heading = HEADING.map(str::to_owned);
    let cells: Vec<[String; 4]> = sessions
        .iter()
        .map(|session| {
            let when = record::time::ago(session.active, look.now.timestamp(), look.now.time_zone());
            let folder = one_line(&record::folder(&session.cwd, look.home), FOLDER_COLUMNS);
            [session.id.get(..digits).unwrap_or(&session.id).to_owned(), when, session.turns.to_string(), folder]
        })
        .collect();
    let width = |column: usize| {
        std::iter::once(&heading).chain(&cells).map(|row| row[column].chars().count()).max().unwrap_or(0)
    };
    let (id_columns, when, questions, folder) = (width(0), width(1), width(2), width(3));
    let before_title = id_columns + when + questions + folder + 4 * 2;
    let title_columns =
        look.columns.map_or(usize::MAX, |columns| columns.saturating_sub(before_title).max(TITLE_MIN_COLUMNS));
    let mut text = String::new();
    let titles = sessions.iter().map(|session| one_line(&session.title, title_columns));
    let heading = (heading, "title".to_owned());
    for (row, title) in std::iter::once(heading).chain(cells.into_iter().zip(titles)) {
        let [id, ago, count, place] = row;
        let line = format!("{id:id_columns$}  {ago:when$}  {count:>questions$}  {place:folder$}  {title}");
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}
