//! `cohab history` lists the assistant's commands. At a terminal the user picks one, which is put on the prompt.

pub(super) mod pick;

use std::{io::Write, path::Path, process::ExitCode};

use clap::Args;
use cohab_protocol::Paths;
use cohab_store::sessions::{StateStore, event::Approval};
use cohab_text::sanitize::{escaped_json, one_line};
use jiff::Zoned;
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr as _;

use super::{
    Failure,
    record::{self, command::Command},
};

/// Heads the list, behind `id`.
const HEADING: &str = "command; when, outcome, folder, approval, question";
/// Longest question at a terminal, in columns.
const QUESTION_COLUMNS: usize = 48;

/// List the assistant's commands with question and approval
#[derive(Clone, Debug, PartialEq, Eq, Args)]
#[command(
    after_help = "At a terminal you pick a command: Enter puts it on the prompt of a cohab shell, and prints it elsewhere.\n\
     Your shell's own history has only what you typed. A command keeps its id;\n\
     ids have gaps, as other records have ids, too. `cohab why ID` shows the\n\
     conversation behind a command."
)]
pub struct HistoryArgs {
    /// Show at most N commands
    #[arg(short, value_name = "N", default_value = "20")]
    pub number: usize,
    /// Show only one session: the start of its id, or `last`
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Print the list, also at a terminal
    #[arg(long)]
    pub plain: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Runs it. Exit status: 0 done, 1 no such session or the store cannot be used, 3 the output is closed.
pub fn run(args: &HistoryArgs, paths: &Paths, output: &mut dyn Write, errors: &mut dyn Write) -> ExitCode {
    if !args.plain && !args.json && !cohab_prompt::is_unpaged() {
        match pick::run(args, paths, &Zoned::now(), output) {
            // No terminal, or no commands.
            Ok(None) => {}
            Ok(Some(status)) => return status,
            Err(failure) => return super::finish(Err(failure), output, errors),
        }
    }
    let result = read(args, paths).and_then(|commands| {
        let text = if args.json {
            json(&commands)
        } else {
            table(&commands, &Zoned::now(), &record::home(), record::terminal_columns())
        };
        Ok(output.write_all(text.as_bytes())?)
    });
    super::finish(result, output, errors)
}

/// The last commands, of one session or all, oldest first, as shells list them.
fn read(args: &HistoryArgs, paths: &Paths) -> Result<Vec<Command>, Failure> {
    let store = match &args.session {
        Some(id) => Some(record::session(paths, id).map(|(store, session)| (store, Some(session.key)))?),
        None => record::open(paths)?.map(|store| (store, None)),
    };
    let Some((store, key)) = store else { return Ok(Vec::new()) };
    let unreadable = record::unreadable(paths);
    let mut rows = store.commands(key.as_deref(), args.number).map_err(&unreadable)?;
    rows.reverse();
    let mut commands = Vec::with_capacity(rows.len());
    for turn in rows.chunk_by(|one, other| (&one.session, &one.turn) == (&other.session, &other.turn)) {
        let events = store.events(&turn[0].session, Some(&turn[0].turn)).map_err(&unreadable)?;
        commands.extend(turn.iter().filter_map(|row| Command::among(&events, row.number)));
    }
    Ok(commands)
}

fn json(commands: &[Command]) -> String {
    let rows: Vec<Value> = commands.iter().map(Command::json).collect();
    escaped_json(&json!({"commands": rows}).to_string()) + "\n"
}

/// Two paragraphs each: the command; then time, outcome, folder, consent and question. At a terminal with `columns` they are broken
/// between words; elsewhere each is one line, and nothing is cut.
fn table(commands: &[Command], now: &Zoned, home: &Path, columns: Option<usize>) -> String {
    if commands.is_empty() {
        return "The assistant has not run a command yet.\n".to_owned();
    }
    let digits = commands.iter().map(|command| command.row.number.to_string().len()).max().unwrap_or(0).max(2);
    let question_columns = columns.map_or(usize::MAX, |_| QUESTION_COLUMNS);
    let mut text = String::new();
    let (head, indent) = (format!("{:>digits$}  ", "id"), " ".repeat(digits + 2));
    record::paragraph((&head, &indent), HEADING, columns, &mut text);
    for command in commands {
        let when = record::time::ago(command.row.at, now.timestamp(), now.time_zone());
        let consent = match command.call.approval {
            Approval::NotNeeded => "approval not needed",
            other => other.words(),
        };
        let question = command.question.as_deref().map(|question| one_line(question, question_columns));
        let head = format!("{:>digits$}  $ ", command.row.number);
        record::paragraph(
            (&head, &" ".repeat(head.width())),
            &one_line(command.text(), usize::MAX),
            columns,
            &mut text,
        );
        let around = format!(
            "{when}, {}, in {}, {consent}{}",
            command.went(),
            record::folder(&command.call.cwd, home),
            question.map(|question| format!(", for: {question}")).unwrap_or_default(),
        );
        let indent = " ".repeat(digits + 2);
        record::paragraph((&indent, &indent), &around, columns, &mut text);
    }
    text
}

#[cfg(test)]
#[path = "history_tests.rs"]
mod tests;
