//! `cohab todo` lists the open tasks of conversations.

use std::{io::Write, process::ExitCode};

use clap::Args;
use cohab_agent::tasks::Task;
use cohab_protocol::Paths;
use cohab_store::sessions::{MAX_SESSIONS, SessionRow, StateStore};
use cohab_text::sanitize::{escaped_json, one_line};
use serde_json::{Value, json};

use super::{Failure, record};

/// List open tasks
#[derive(Clone, Debug, PartialEq, Eq, Args)]
#[command(after_help = "The model keeps this list itself when work takes several steps. The list belongs to the \
        conversation: `? /new` empties it.")]
pub struct TodoArgs {
    /// List only one session: the start of its id, or `last`
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Include lists whose tasks are all done
    #[arg(long)]
    pub all: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// The list of one session.
type List = (SessionRow, Vec<Task>);

/// Runs it. Exit status: 0 done, 1 no such session or the store cannot be used, 3 the output is closed.
pub fn run(args: &TodoArgs, paths: &Paths, output: &mut dyn Write, errors: &mut dyn Write) -> ExitCode {
    let result = read(args, paths).and_then(|lists| {
        let text = if args.json { json(&lists) } else { table(&lists) };
        Ok(output.write_all(text.as_bytes())?)
    });
    super::finish(result, output, errors)
}

/// The lists, the newest session first.
fn read(args: &TodoArgs, paths: &Paths) -> Result<Vec<List>, Failure> {
    let unreadable = record::unreadable(paths);
    let (store, sessions) = match &args.session {
        Some(id) => record::session(paths, id).map(|(store, session)| (store, vec![session]))?,
        None => {
            let Some(store) = record::open(paths)? else { return Ok(Vec::new()) };
            let limit = usize::try_from(MAX_SESSIONS).unwrap_or(usize::MAX);
            let sessions = store.sessions(&[], limit).map_err(&unreadable)?;
            (store, sessions)
        }
    };
    let is_wanted = |tasks: &[Task]| {
        let is_asked_for = args.all || args.session.is_some();
        !tasks.is_empty() && (is_asked_for || tasks.iter().any(|task| task.status.is_active()))
    };
    let mut lists = Vec::new();
    for session in sessions {
        let tasks = store.tasks(&session.key).map_err(&unreadable)?;
        if is_wanted(&tasks) {
            lists.push((session, tasks));
        }
    }
    Ok(lists)
}

fn json(lists: &[List]) -> String {
    let list = |(session, tasks): &List| json!({"id": session.id, "name": session.key, "title": session.title, "active": active(tasks), "tasks": tasks});
    let lists: Vec<Value> = lists.iter().map(list).collect();
    escaped_json(&json!({"sessions": lists}).to_string()) + "\n"
}

fn active(tasks: &[Task]) -> usize {
    tasks.iter().filter(|task| task.status.is_active()).count()
}

fn table(lists: &[List]) -> String {
    if lists.is_empty() {
        return "There are no open tasks.\n".to_owned();
    }
    let list = |(session, tasks): &List| {
        let (id, title) = (record::short(&session.id), one_line(&session.title, usize::MAX));
        let tasks_text: String =
            tasks.iter().map(|task| format!("  {}\n", one_line(&task.line(), usize::MAX))).collect();
        format!("{id}  {title}: {} open of {}\n{tasks_text}", active(tasks), tasks.len())
    };
    lists.iter().map(list).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
#[path = "todo_tests.rs"]
mod tests;
