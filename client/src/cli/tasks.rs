//! `cohab tasks`: what is worked on behind the prompt.

use std::{
    io::{self, IsTerminal, Write},
    path::{Path, PathBuf},
    process::ExitCode,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use clap::{Args, Subcommand};
use cohab_conversation::ui::status::seconds;
use cohab_daemon_link::{
    attach_environment::attach_without_shell,
    config,
    connection::{self, ConnectError, Frames},
    daemon_control::duration,
};
use cohab_protocol::{
    ApprovalMode, Paths, SessionAction, SessionAnswer, SessionKey, StartTask, TaskDetails, TaskEnd, TaskStatus,
    TaskSummary, WirePath, amount,
};
use cohab_term::{output_style::OutputStyle, wrap::wrap_words};
use cohab_text::{
    cut::head,
    sanitize::{escaped_json, one_line, sanitize_prose},
};
use ratatui::text::{Line, Span};
use serde_json::{Value, json};
use tokio::{process::Command, time::sleep};

use super::diff_view::{self, ChangedFile, Changes};
use crate::colours;

/// How often a task that works is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// Columns of the text before the question in a row.
const HEAD_COLUMNS: usize = 35;
/// Fewest columns of a question.
const LEAST_QUESTION_COLUMNS: usize = 12;

/// List what is worked on behind the prompt
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "`? /bg QUESTION` starts one. A task works in a copy of your git repository; nothing of it reaches your files before \
        `cohab tasks apply`."
)]
pub struct TasksArgs {
    #[command(subcommand)]
    command: Option<TasksCommand>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Try a question several times, keep the best
#[derive(Debug, Args)]
#[command(
    after_help = "Each attempt works in a copy of your git repository. `cohab tasks` shows how far they are, and the winner's diff."
)]
pub struct BestArgs {
    /// The question; several words are joined
    #[arg(required = true, value_name = "QUESTION")]
    question: Vec<String>,
    /// Number of attempts
    #[arg(short = 'n', long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(2..=5))]
    attempts: u32,
}

/// Runs it, as [`run`].
pub async fn run_best(BestArgs { question, attempts }: BestArgs, paths: Paths) -> ExitCode {
    run(TasksArgs { command: Some(TasksCommand::Start { question, attempts }), json: false }, paths).await
}

#[derive(Debug, Subcommand)]
enum TasksCommand {
    /// Start one, with a conversation of its own
    Start {
        /// The question; several words are joined
        #[arg(required = true, value_name = "QUESTION")]
        question: Vec<String>,
        /// Try it so often, each time in a copy of its own, and keep the best attempt
        #[arg(short = 'n', long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=5))]
        attempts: u32,
    },
    /// Show the answer of a task, its steps and its diff
    Show {
        /// Its number
        id: u32,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Watch a task until it ends, then show it
    Attach {
        /// Its number
        id: u32,
    },
    /// Show the diff of a task and apply it to your files
    Apply {
        /// Its number
        id: u32,
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
    /// Stop a task
    Cancel {
        /// Its number
        id: u32,
    },
    /// Start a task again that is over
    Retry {
        /// Its number
        id: u32,
    },
}

#[derive(Debug, thiserror::Error)]
enum TasksError {
    #[error(transparent)]
    Connection(#[from] ConnectError),
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("{0}")]
    Refused(String),
}

/// Runs it. Exit status: 0 done, 1 no such task, not applied, or no daemon.
pub async fn run(args: TasksArgs, paths: Paths) -> ExitCode {
    match execute(args, &paths).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(TasksError::Io(error)) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::from(3),
        Err(error) => {
            let hint = match &error {
                TasksError::Connection(error) => format!("\n  {}", error.hint()),
                TasksError::Io(_) | TasksError::Refused(_) => String::new(),
            };
            let _ = writeln!(io::stderr(), "cohab: {}{hint}", sanitize_prose(&error.to_string()));
            ExitCode::FAILURE
        }
    }
}

async fn execute(args: TasksArgs, paths: &Paths) -> Result<(), TasksError> {
    let Some(command) = args.command else {
        let mut frames = connection::open(paths, true).await?;
        let SessionAnswer::Tasks(tasks) = connection::request(&mut frames, SessionAction::Tasks).await? else {
            return Err(unexpected());
        };
        let now = now_ms();
        let text = if args.json { list_json(&tasks) } else { list(&tasks, now, columns()) };
        return Ok(io::stdout().write_all(text.as_bytes())?);
    };
    match command {
        TasksCommand::Start { question, attempts } => start(&question.join(" "), attempts, paths).await,
        TasksCommand::Show { id, json } => {
            let details = details(&mut connection::open(paths, true).await?, id).await?;
            if json {
                return Ok(io::stdout().write_all(details_json(&details).as_bytes())?);
            }
            Ok(show(&details)?)
        }
        TasksCommand::Attach { id } => attach(id, paths).await,
        TasksCommand::Apply { id, yes } => apply(id, yes, paths).await,
        TasksCommand::Cancel { id } => {
            let mut frames = connection::open(paths, true).await?;
            connection::request(&mut frames, SessionAction::CancelTask { id }).await?;
            Ok(writeln!(io::stdout(), "Task {id} is stopped.")?)
        }
        TasksCommand::Retry { id } => {
            let mut frames = open_own(paths).await?;
            started(&connection::request(&mut frames, SessionAction::RetryTask { id }).await?)
        }
    }
}

/// Opens a session for tasks that none of a shell orders.
async fn open_own(paths: &Paths) -> Result<Frames, TasksError> {
    let config = config::load(&paths.config_file());
    let session = SessionKey::one_shot();
    let attach = attach_without_shell(session, ApprovalMode::Ask, false, Vec::new(), &config.key_variables);
    Ok(connection::open_session(paths, attach, true).await?.0)
}

async fn start(question: &str, attempts: u32, paths: &Paths) -> Result<(), TasksError> {
    let mut frames = open_own(paths).await?;
    let cwd = std::env::current_dir()?;
    let task = StartTask { session: None, text: question.to_owned(), cwd: cwd.into(), attempts };
    started(&connection::request(&mut frames, SessionAction::StartTask(task)).await?)
}

fn started(answer: &SessionAnswer) -> Result<(), TasksError> {
    match answer {
        SessionAnswer::TaskStarted { id } => Ok(writeln!(io::stdout(), "Task {id} works on it.")?),
        _ => Err(unexpected()),
    }
}

async fn details(frames: &mut Frames, id: u32) -> Result<TaskDetails, TasksError> {
    match connection::request(frames, SessionAction::Task { id }).await? {
        SessionAnswer::Task(details) => Ok(*details),
        _ => Err(unexpected()),
    }
}

/// Prints each step as it begins.
async fn attach(id: u32, paths: &Paths) -> Result<(), TasksError> {
    let mut frames = connection::open(paths, true).await?;
    let mut last = None;
    loop {
        let details = details(&mut frames, id).await?;
        if let TaskStatus::Ended(_) = details.summary.status {
            return Ok(show(&details)?);
        }
        let doing = details.summary.doing.clone().unwrap_or_else(|| state(&details.summary, now_ms()).0);
        if last.as_ref() != Some(&doing) {
            writeln!(io::stdout(), "{}", one_line(&doing, columns()))?;
            last = Some(doing);
        }
        sleep(LOOK_EVERY).await;
    }
}

/// Applies the diff once the user has seen it and agrees.
async fn apply(id: u32, yes: bool, paths: &Paths) -> Result<(), TasksError> {
    let details = details(&mut connection::open(paths, true).await?, id).await?;
    let Some(file) = details.diff_file.as_ref().map(WirePath::to_path_buf) else {
        let why = match details.summary.has_changes {
            true => "what looks like a secret is left out of the stored diff, so it cannot be applied",
            false => "it changed nothing",
        };
        return Err(TasksError::Refused(format!("task {id}: {why}")));
    };
    let root = root_of(&details.summary.folder.to_path_buf()).await?;
    print_diff(&details)?;
    git(&root, &["apply", "--check", &file.to_string_lossy()]).await.map_err(|error| {
        let merge = format!("git -C {} apply --3way {}", root.display(), file.display());
        TasksError::Refused(format!("{error}\n  if your files have changed since, this merges them: {merge}"))
    })?;
    if !yes && !is_agreed(&root)? {
        return Err(TasksError::Refused("nothing was changed".to_owned()));
    }
    git(&root, &["apply", &file.to_string_lossy()]).await.map_err(TasksError::Refused)?;
    let back = format!("git -C {} apply -R {}", root.display(), file.display());
    Ok(writeln!(io::stdout(), "Applied. To take it back: {back}")?)
}

fn is_agreed(root: &Path) -> Result<bool, TasksError> {
    if !io::stdin().is_terminal() {
        return Err(TasksError::Refused(
            "this is no terminal, so there is no question; `--yes` applies it without one".to_owned(),
        ));
    }
    write!(io::stdout(), "Apply this in {}? [y/N] ", root.display())?;
    io::stdout().flush()?;
    let mut line = String::new();
    io::stdin().read_line(&mut line)?;
    Ok(matches!(line.trim(), "y" | "Y" | "yes"))
}

async fn root_of(folder: &Path) -> Result<PathBuf, TasksError> {
    let root = git(folder, &["rev-parse", "--show-toplevel"]).await.map_err(TasksError::Refused)?;
    Ok(PathBuf::from(root.trim_end_matches('\n')))
}

async fn git(folder: &Path, args: &[&str]) -> Result<String, String> {
    let output =
        Command::new("git").arg("-C").arg(folder).args(args).output().await.map_err(|error| error.to_string())?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr).trim().to_owned()) }
}

fn unexpected() -> TasksError {
    TasksError::Refused("the daemon gave an unexpected answer; `cohab daemon restart` may help".to_owned())
}

fn now_ms() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(now.as_millis()).unwrap_or(i64::MAX)
}

fn columns() -> usize {
    diff_view::columns()
}

/// The state in one word, and the time that goes with it.
fn state(task: &TaskSummary, now_ms: i64) -> (String, String) {
    let since = |ms: i64| seconds(u64::try_from(now_ms.saturating_sub(ms) / 1_000).unwrap_or(0));
    match task.status {
        TaskStatus::Queued => ("waits".to_owned(), since(task.created_ms)),
        TaskStatus::Running => ("works".to_owned(), since(task.created_ms)),
        TaskStatus::Ended(end) => {
            let passed = |ended: i64| duration(u64::try_from(now_ms.saturating_sub(ended)).unwrap_or(0));
            let ago = task.ended_ms.map_or_else(String::new, |ended| format!("{} ago", passed(ended)));
            (end_word(end).to_owned(), ago)
        }
    }
}

fn end_word(end: TaskEnd) -> &'static str {
    match end {
        TaskEnd::Done => "done",
        TaskEnd::Limit => "limit",
        TaskEnd::Refused => "refused",
        TaskEnd::Failed => "failed",
        TaskEnd::Cancelled => "stopped",
        TaskEnd::Interrupted => "interrupted",
    }
}

fn list(tasks: &[TaskSummary], now_ms: i64, columns: usize) -> String {
    if tasks.is_empty() {
        return "Nothing is worked on. `? /bg QUESTION` starts a task.\n".to_owned();
    }
    let room = columns.saturating_sub(HEAD_COLUMNS).max(LEAST_QUESTION_COLUMNS);
    let row = |task: &TaskSummary| {
        let (state, time) = state(task, now_ms);
        let changes = if task.has_changes { "diff · " } else { "" };
        let doing = task.doing.as_ref().map_or_else(String::new, |doing| format!(" · {doing}"));
        let text = one_line(&format!("{changes}{}{doing}", task.question), room);
        format!("{:>3}  {state:<11}  {time:>15}  {text}\n", task.id)
    };
    tasks.iter().map(row).collect()
}

fn show(details: &TaskDetails) -> io::Result<()> {
    io::stdout().lock().write_all(text(details, now_ms(), columns()).as_bytes())?;
    print_diff(details)
}

/// All but the diff, in lines of at most so many columns.
fn text(details: &TaskDetails, now_ms: i64, columns: usize) -> String {
    let (state, time) = state(&details.summary, now_ms);
    let tokens = match details.summary.tokens {
        0 => String::new(),
        tokens => format!(" · {} tokens", amount::count(tokens)),
    };
    let mut text = format!(
        "task {} · {state} · {time}{tokens} · {}\n{}\n",
        details.summary.id,
        one_line(&details.summary.folder.to_string(), usize::MAX),
        sanitize_prose(&details.question)
    );
    if let Some(error) = &details.error {
        text.push_str(&format!("\nfailed: {}\n", sanitize_prose(error)));
    }
    if !details.answer.is_empty() {
        text.push_str(&format!("\n{}\n", sanitize_prose(&details.answer)));
    }
    if !details.steps.is_empty() {
        text.push_str("\nsteps:\n");
        text.extend(details.steps.iter().map(|step| format!("- {}\n", one_line(step, 200))));
    }
    if details.diff_file.is_some() {
        text.push_str(&format!("\nchanges in its copy; `cohab tasks apply {}` applies them:\n", details.summary.id));
    }
    let lines = text.lines().flat_map(|line| wrap_words(&[Span::raw(line.to_owned())], columns));
    lines.map(|spans| format!("{}\n", Line::from(spans))).collect()
}

fn print_diff(details: &TaskDetails) -> io::Result<()> {
    if details.diff.is_empty() {
        return Ok(());
    }
    if !io::stdout().is_terminal() {
        return io::stdout().lock().write_all(sanitize_prose(&details.diff).as_bytes());
    }
    let cut = (!details.is_diff_whole).then(|| "The diff is longer than 4 MiB; the rest is left out here.".to_owned());
    let changes = Changes { title: None, remarks: cut.into_iter().collect(), files: files(&details.diff) };
    let colors = colours::of_subcommand();
    let page = diff_view::page(&changes, columns(), OutputStyle::from_env(colors), colors);
    io::stdout().lock().write_all(&page)
}

/// The files of a unified diff.
fn files(diff: &str) -> Vec<ChangedFile> {
    let mut files = Vec::new();
    let starts = |line: &str| line.starts_with("diff --git ");
    let mut lines = diff.split_inclusive('\n').skip_while(|line| !starts(line)).peekable();
    // Each line of a file's content begins with a sign or a blank, so only the head of a file begins with this.
    while let Some(name) = lines.next() {
        let mut part = String::new();
        while let Some(line) = lines.next_if(|line| !starts(line)) {
            part.push_str(line);
        }
        let name = name.trim_end();
        let shown = name.rsplit_once(" b/").map_or(name, |(_, name)| name);
        let at = if part.starts_with("@@ ") { Some(0) } else { part.find("\n@@ ").map(|at| at + 1) };
        let (head_lines, hunks) = part.split_at(at.unwrap_or(part.len()));
        let has = |start: &str| head_lines.lines().any(|line| line.starts_with(start));
        let note = match hunks {
            _ if has("new file mode ") => "new",
            _ if has("deleted file mode ") => "deleted",
            _ if hunks.is_empty() => "not text",
            _ => "",
        };
        files.push(ChangedFile { shown: head(shown, 400).to_owned(), note: note.to_owned(), diff: hunks.to_owned() });
    }
    files
}

fn summary_json(task: &TaskSummary) -> Value {
    let status = match task.status {
        TaskStatus::Queued => "queued",
        TaskStatus::Running => "running",
        TaskStatus::Ended(TaskEnd::Cancelled) => "cancelled",
        TaskStatus::Ended(end) => end_word(end),
    };
    json!({
        "id": task.id, "question": task.question, "folder": task.folder.to_string(), "status": status,
        "created_ms": task.created_ms, "ended_ms": task.ended_ms, "tokens": task.tokens,
        "has_changes": task.has_changes, "doing": task.doing
    })
}

fn list_json(tasks: &[TaskSummary]) -> String {
    let tasks: Vec<Value> = tasks.iter().map(summary_json).collect();
    escaped_json(&json!({ "tasks": tasks }).to_string()) + "\n"
}

fn details_json(details: &TaskDetails) -> String {
    let mut value = summary_json(&details.summary);
    value["question"] = details.question.clone().into();
    value["answer"] = details.answer.clone().into();
    value["steps"] = json!(details.steps);
    value["error"] = json!(details.error);
    value["diff"] = details.diff.clone().into();
    value["diff_file"] = json!(details.diff_file.as_ref().map(ToString::to_string));
    escaped_json(&value.to_string()) + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(id: u32, status: TaskStatus, ended_ms: Option<i64>, doing: Option<&str>) -> TaskSummary {
        TaskSummary {
            id,
            question: "fix the flaky test of the relay".into(),
            folder: Path::new("/w/shop").into(),
            status,
            created_ms: 0,
            ended_ms,
            tokens: 3_100,
            has_changes: matches!(status, TaskStatus::Ended(TaskEnd::Done)),
            doing: doing.map(Into::into),
        }
    }

    const DIFF: &str = "diff --git a/src/a.rs b/src/a.rs\nindex 1..2 100644\n--- a/src/a.rs\n+++ b/src/a.rs\n@@ -1 +1 @@\n-one\n+two\n\
        diff --git a/new b/new\nnew file mode 100644\nindex 0..1\n--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+x\n\
        diff --git a/p.png b/p.png\nindex 1..2 100644\nGIT binary patch\nliteral 3\n";

    #[test]
    fn the_list_has_a_row_a_task() {
        let tasks = [
            summary(4, TaskStatus::Queued, None, None),
            summary(3, TaskStatus::Running, None, Some("read tests/e2e/relay.rs")),
            summary(2, TaskStatus::Ended(TaskEnd::Done), Some(60_000), None),
            summary(1, TaskStatus::Ended(TaskEnd::Interrupted), Some(1_000), None),
        ];
        insta::assert_snapshot!(list(&tasks, 75_000, 80), @r"
          4  waits             1 min 15 s  fix the flaky test of the relay
          3  works             1 min 15 s  fix the flaky test of the relay · read tests…
          2  done                15 s ago  diff · fix the flaky test of the relay
          1  interrupted        1 min ago  fix the flaky test of the relay
        ");
        assert!(list(&tasks, 75_000, 60).lines().all(|row| row.chars().count() <= 60));
        assert_eq!(list(&[], 0, 80), "Nothing is worked on. `? /bg QUESTION` starts a task.\n");
    }

    #[test]
    fn a_task_is_shown_with_what_came_of_it() {
        let details = TaskDetails {
            summary: summary(2, TaskStatus::Ended(TaskEnd::Done), Some(60_000), None),
            question: "fix the flaky test of the relay\u{1b}[2J".into(),
            answer: "It waited for the wrong mark.".into(),
            steps: vec!["bash cargo test (exit 0)".into()],
            error: None,
            diff: DIFF.into(),
            is_diff_whole: true,
            diff_file: Some(Path::new("/s/tasks/2.diff").into()),
        };
        insta::assert_snapshot!(text(&details, 75_000, 60));
        let files: Vec<(String, String)> = files(DIFF).into_iter().map(|file| (file.shown, file.note)).collect();
        let named = |name: &str, note: &str| (name.to_owned(), note.to_owned());
        assert_eq!(files, [named("src/a.rs", ""), named("new", "new"), named("p.png", "not text")]);
        let tricky =
            "diff --git a/n b/n\n--- a/n\n+++ b/n\n@@ -1 +1,2 @@\n-x\n+x diff --git a/q b/README\n+new file mode 1\n";
        let tricky: Vec<(String, String)> =
            super::files(tricky).into_iter().map(|file| (file.shown, file.note)).collect();
        assert_eq!(tricky, [named("n", "")], "lines of a file are none of the diff's own");
        let json: Value = serde_json::from_str(&details_json(&details)).unwrap();
        assert_eq!((json["status"].as_str(), json["id"].as_u64()), (Some("done"), Some(2)));
    }
}
