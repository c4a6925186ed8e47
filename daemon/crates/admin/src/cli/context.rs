//! `cohab context` shows the parts of the next request, by section.

use std::{io::Write, path::Path, process::ExitCode};

use clap::Args;
use cohab_assembly::wiring;
use cohab_context::{
    analysis::Analysis,
    query::{Query, Runtime},
    report::{Fixed, RequestPart, SectionRow, analysis, rows},
    sections::system_prompt,
    workspace::Surroundings,
};
use cohab_model_api::Message;
use cohab_protocol::{Paths, amount};
use cohab_session::{Remembered, convert::context_room};
use cohab_store::sessions::{SessionRow, SqliteStore, StateStore, id};
use cohab_text::sanitize::{escaped_json, one_line, sanitize};
use serde_json::{Value, json};

use super::{Failure, ModelFlags, record};

/// Width of the terminal if it is unknown.
const COLUMNS: u16 = 80;

/// Show what would be sent with the next question, in tokens
#[derive(Clone, Debug, PartialEq, Eq, Args)]
#[command(after_help = "Counts a question asked in this folder, on top of the last conversation. Token counts are \
        estimates. Commands that you ran in an open shell since its last question are known only to that shell; `? \
        /context` there counts them, too.")]
pub struct ContextArgs {
    /// Question to count
    #[arg(value_name = "QUESTION")]
    pub question: Vec<String>,
    /// Conversation to continue: the start of its id, `last`, or `none`
    #[arg(long, value_name = "ID", default_value = "last")]
    pub session: String,
    /// Print the system prompt and the question's text, too
    #[arg(long)]
    pub text: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// The output.
struct ShownContext {
    session: Option<SessionRow>,
    fixed: Fixed,
    rows: Vec<SectionRow>,
    around: std::sync::Arc<Surroundings>,
    question: String,
}

impl ShownContext {
    fn analysis(&self) -> Option<Analysis> {
        analysis(&self.fixed, &self.rows)
    }
}

/// Runs it. Exit status: 0 done, 1 no such session or the settings are wrong, 3 the output is closed.
pub fn run(args: &ContextArgs, paths: &Paths, output: &mut dyn Write, errors: &mut dyn Write) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let shown = runtime.map_err(Failure::from).and_then(|runtime| runtime.block_on(look(args, paths)));
    let result = shown.and_then(|shown| {
        let text = if args.json { json(&shown, args.text) } else { table(&shown, args.text) };
        Ok(output.write_all(text.as_bytes())?)
    });
    super::finish(result, output, errors)
}

/// The store and the requested session; `None` if no session was ever stored.
fn session(wanted: &str, paths: &Paths) -> Result<Option<(SqliteStore, SessionRow)>, Failure> {
    if wanted == "none" {
        return Ok(None);
    }
    let is_empty = || -> Result<bool, Failure> {
        let Some(store) = record::open(paths)? else { return Ok(true) };
        Ok(store.sessions(&[], 1).map_err(record::unreadable(paths))?.is_empty())
    };
    if wanted == id::LAST && is_empty()? { Ok(None) } else { record::session(paths, wanted).map(Some) }
}

async fn look(args: &ContextArgs, paths: &Paths) -> Result<ShownContext, Failure> {
    let (session, mut messages, tasks) = match session(&args.session, paths)? {
        Some((store, session)) => {
            let unreadable = record::unreadable(paths);
            let messages = store.conversation(&session.key).map_err(&unreadable)?;
            let tasks = store.tasks(&session.key).map_err(&unreadable)?;
            (Some(session), messages, tasks)
        }
        None => (None, Vec::new(), Vec::new()),
    };
    let cwd = std::env::current_dir()?;
    let assembler = wiring::assembler(paths, &std::sync::Arc::default());
    let around = assembler.surroundings(cwd.clone()).await;
    let fixed = assembler.outlook(&ModelFlags::default().variables(), &around).await?;
    let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok()).unwrap_or(COLUMNS);
    let question = args.question.join(" ");
    let key = session.as_ref().map_or("cli:new", |session| session.key.as_str());
    let skills = around.told_skills();
    let remembered = Remembered::of(assembler.as_ref(), &question, &cwd, &messages).await;
    let mut query = Query {
        environment: around.environment(cwd, shell_of(key), columns),
        runtime: Some(Runtime::now(key.to_owned(), Vec::new())),
        project_notes: around.project_notes.as_deref(),
        project_identity: around.project_identity.as_deref(),
        project_skills: skills.as_deref(),
        memory_blocks: remembered.blocks.as_deref(),
        memories: &remembered.memories,
        tasks: &tasks,
        question: &question,
        ..Query::default()
    };
    query.forget_told(&messages);
    let question = query.to_text();
    messages.push(Message::user(question.clone()));
    let rows = rows(&fixed, &messages);
    Ok(ShownContext { session, fixed, rows, around, question })
}

/// The shell of a session; only sessions of a shell have one.
fn shell_of(key: &str) -> Option<String> {
    let shell = std::env::var_os("SHELL").filter(|_| key.starts_with("shell:"))?;
    Some(Path::new(&shell).file_name()?.to_string_lossy().into_owned())
}

fn total(shown: &ShownContext) -> u64 {
    shown.rows.iter().map(|row| row.tokens).sum()
}

fn part_name(part: RequestPart) -> &'static str {
    match part {
        RequestPart::System => "system",
        RequestPart::Tools => "tools",
        RequestPart::Messages => "messages",
    }
}

fn json(shown: &ShownContext, with_text: bool) -> String {
    let section = |row: &SectionRow| json!({"part": part_name(row.part), "name": row.name, "tokens": row.tokens});
    let skipped = shown.around.skipped.iter();
    let skipped: Vec<Value> =
        skipped.map(|one| json!({"path": one.path.to_string_lossy(), "reason": one.reason})).collect();
    let mut value = json!({
        "session": shown.session.as_ref().map(|session| &session.id),
        "sections": shown.rows.iter().map(section).collect::<Vec<_>>(),
        "total_tokens": total(shown),
        "window_tokens": shown.fixed.capacity.map(|capacity| capacity.window.tokens),
        "analysis": shown.analysis(),
        "skipped": skipped,
    });
    if with_text {
        value["system"] = system_prompt(&shown.around.standing).into();
        value["question"] = shown.question.clone().into();
    }
    escaped_json(&value.to_string()) + "\n"
}

fn table(shown: &ShownContext, with_text: bool) -> String {
    let mut text = String::new();
    let names = shown.rows.iter().map(|row| row.name.len()).max().unwrap_or(0);
    for part in [RequestPart::System, RequestPart::Tools, RequestPart::Messages] {
        let rows: Vec<&SectionRow> = shown.rows.iter().filter(|row| row.part == part).collect();
        if rows.is_empty() {
            continue;
        }
        text.push_str(&format!("{}\n", part_name(part)));
        for SectionRow { name, tokens, .. } in rows {
            text.push_str(&format!("  {name:<names$}  {:>6}\n", amount::count(*tokens)));
        }
    }
    let room = shown.analysis().map(context_room);
    let sum = match &room {
        Some(room) => amount::context(room),
        None => format!("about {} tokens; no model is set up", amount::count(total(shown))),
    };
    let on = match &shown.session {
        Some(session) => {
            format!("on top of {} \"{}\"", record::short(&session.id), one_line(&session.title, usize::MAX))
        }
        None => "in a new conversation".to_owned(),
    };
    text.push_str(&format!("{sum}, {on}\n"));
    if let Some(room) = &room {
        text.push_str(&format!("{}\n", amount::context_parts(room)));
    }
    if !shown.around.skipped.is_empty() {
        text.push_str("\nNot sent to the model:\n");
        shown.around.skipped.iter().for_each(|one| text.push_str(&format!("  {one}\n")));
    }
    if with_text {
        let system = system_prompt(&shown.around.standing);
        text.push_str(&format!(
            "\n--- system prompt ---\n{}\n--- question ---\n{}\n",
            sanitize(&system),
            sanitize(&shown.question)
        ));
    }
    text
}

#[cfg(test)]
#[path = "context_tests.rs"]
mod tests;
