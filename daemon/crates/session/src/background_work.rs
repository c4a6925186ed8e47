//! Starts background tasks, works on them and tells of their end.

use std::{io, sync::Arc};

use cohab_model_api::Message;
use cohab_protocol::{
    DaemonMessage, MAX_QUERY_BYTES, RequestId, SessionAction, SessionAnswer, SessionKey, StartTask, TaskEnd, TaskEnded,
    TaskStatus, TurnId, WireError, WireErrorKind,
};
use cohab_teams::{MAX_ATTEMPTS, Order, ReportEnd, SubagentReport, Team, background, delivered, judge_task, winner};
use cohab_text::sanitize::one_line;
use cohab_work::background_tasks::{BackgroundTask, TaskState};
use futures::future::join_all;
use jiff::Timestamp;
use tokio::task::spawn_blocking;
use tokio_util::sync::CancellationToken;

use crate::{
    Accounted, Daemon, TurnMemory,
    background::{Doing, status},
    convert,
    session::Session,
    subagents::SessionSubagents,
};

/// The kind that judges attempts.
const JUDGE: &str = "verify";
/// Longest question of a task in a line, in columns.
const LABEL_COLUMNS: usize = 60;

/// Answers a request about background tasks; `None` for any other.
///
/// # Errors
/// As the request says.
pub(crate) async fn answer(
    daemon: &Arc<Daemon>,
    attached: Option<&Arc<Session>>,
    id: RequestId,
    action: &SessionAction,
) -> Option<Result<SessionAnswer, WireError>> {
    let working = Arc::clone(daemon);
    let unknown = |number: u32, what: &str| {
        let hint = Some("`cohab tasks` lists them".to_owned());
        convert::request_error(id, WireErrorKind::NotFound, format!("there is no task {number}{what}"), hint)
    };
    Some(match action {
        SessionAction::StartTask(task) => start(daemon, attached, id, task.clone()).await,
        SessionAction::Tasks => {
            let tasks = spawn_blocking(move || working.background.summaries()).await.unwrap_or_default();
            Ok(SessionAnswer::Tasks(tasks))
        }
        &SessionAction::Task { id: number } => {
            let found = spawn_blocking(move || working.background.details(number)).await.ok().flatten();
            found.map(|task| SessionAnswer::Task(Box::new(task))).ok_or_else(|| unknown(number, ""))
        }
        &SessionAction::CancelTask { id: number } => {
            let is_stopped = daemon.background.cancel(number);
            if is_stopped { Ok(SessionAnswer::Done) } else { Err(unknown(number, " that waits or works")) }
        }
        &SessionAction::RetryTask { id: number } => {
            let tasks = daemon.background.tasks.clone();
            let found = spawn_blocking(move || tasks.find(number)).await.ok().flatten();
            let Some(task) = found.filter(|task| task.state.is_over()) else {
                return Some(Err(unknown(number, " that is over")));
            };
            // Its session may be gone, as those of `cohab best` soon are; then the client's is used.
            let session = Some(SessionKey(task.session)).filter(|key| daemon.sessions().contains_key(key));
            let cwd = task.folder.as_path().into();
            start(daemon, attached, id, StartTask { session, text: task.question, cwd, attempts: task.attempts }).await
        }
        _ => return None,
    })
}

/// Starts a task of the session that it names.
///
/// # Errors
/// `NotFound` without such a session, `Busy` with too many tasks.
async fn start(
    daemon: &Arc<Daemon>,
    attached: Option<&Arc<Session>>,
    id: RequestId,
    start: StartTask,
) -> Result<SessionAnswer, WireError> {
    let fail = |kind, message: &str, hint: Option<&str>| {
        convert::request_error(id, kind, message.to_owned(), hint.map(str::to_owned))
    };
    let named = start.session.as_ref().and_then(|key| daemon.sessions().get(key).cloned());
    let session = if start.session.is_some() { named } else { attached.cloned() };
    if start.text.trim().is_empty() || start.text.len() > MAX_QUERY_BYTES {
        return Err(fail(WireErrorKind::Protocol, "the question is empty or too long", None));
    }
    let session = session.ok_or_else(|| {
        fail(WireErrorKind::NotFound, "the daemon does not know this shell", Some("ask a question here first"))
    })?;
    if daemon.background.is_full() {
        return Err(fail(WireErrorKind::Busy, "100 tasks wait already", Some("`cohab tasks` lists them")));
    }
    let task = BackgroundTask {
        attempts: start.attempts.clamp(1, MAX_ATTEMPTS),
        created_ms: Timestamp::now().as_millisecond(),
        ..BackgroundTask::new(start.text, start.cwd.to_path_buf(), session.key().to_string())
    };
    let question = task.question.clone();
    let tasks = daemon.background.tasks.clone();
    let added = spawn_blocking(move || tasks.add(task)).await;
    let added = added.map_err(io::Error::other).and_then(|added| added);
    let task =
        added.map_err(|error| fail(WireErrorKind::Internal, &format!("the task cannot be stored: {error}"), None))?;
    let number = task.id;
    // Its file may hold it without secrets, which it may need.
    begin(daemon, &session, BackgroundTask { question, ..task });
    Ok(SessionAnswer::TaskStarted { id: number })
}

fn begin(daemon: &Arc<Daemon>, session: &Arc<Session>, task: BackgroundTask) {
    let (cancel, doing) = daemon.background.begin(task.id);
    let (working, session) = (Arc::clone(daemon), Arc::clone(session));
    daemon.tasks.spawn(async move {
        let id = task.id;
        tokio::select! {
            biased;
            // Its file says that it runs: the next daemon calls it interrupted.
            () = working.shutdown.cancelled() => cancel.cancel(),
            () = work(&working, &session, task, &cancel, doing) => {}
        }
        working.background.end(id);
    });
}

async fn work(
    daemon: &Arc<Daemon>,
    session: &Arc<Session>,
    mut task: BackgroundTask,
    cancel: &CancellationToken,
    doing: Arc<Doing>,
) {
    let memory = TurnMemory::of(session);
    let history = memory.messages();
    let place = tokio::select! {
        biased;
        () = cancel.cancelled() => None,
        place = daemon.background.places.acquire() => place.ok(),
    };
    if place.is_some() {
        task.state = TaskState::Running;
        store(daemon, &task).await;
    }
    let surroundings = daemon.assembler.surroundings(task.folder.clone()).await;
    let shadow = Arc::new(session.for_subagent(task.id, session.approval(), task.folder.clone()));
    let subagents = SessionSubagents {
        daemon: Arc::clone(daemon),
        session: shadow,
        accounted: Accounted { session: task.session.clone(), turn: TurnId::fresh().to_string() },
        memory,
        sink: doing,
        project: surroundings.root.clone(),
        surroundings,
        team: Team::default(),
    };
    let label = one_line(&task.question, LABEL_COLUMNS);
    let order = background().map(|kind| Order { kind, task: task.question.clone(), label });
    let report = match order {
        Some(order) if !cancel.is_cancelled() && task.attempts > 1 => {
            best_of(&subagents, &order, task.attempts, &history, cancel).await
        }
        Some(order) if !cancel.is_cancelled() => subagents.work(order, history, cancel).await,
        Some(_) => Err(String::new()),
        None => Err("its kind cannot be read".to_owned()),
    };
    let diff = report.as_ref().ok().and_then(|report| Some(report.changes.as_ref()?.diff.clone()));
    finish(&mut task, report, cancel.is_cancelled());
    if let Some(diff) = diff {
        keep_diff(daemon, &mut task, diff).await;
    }
    store(daemon, &task).await;
    session.tell(DaemonMessage::TaskEnded(TaskEnded {
        id: task.id,
        question: one_line(&task.question, LABEL_COLUMNS),
        end: match status(&task.state) {
            TaskStatus::Ended(end) => end,
            TaskStatus::Queued | TaskStatus::Running => TaskEnd::Interrupted,
        },
        has_changes: task.diff.is_some(),
    }));
}

/// Tries an order several times at once and returns the best attempt, as a judge sees it. What all of them took is counted.
async fn best_of(
    subagents: &SessionSubagents,
    order: &Order,
    attempts: u32,
    history: &[Message],
    cancel: &CancellationToken,
) -> Result<SubagentReport, String> {
    let tries = (0..attempts).map(|_| subagents.work(order.clone(), history.to_vec(), cancel));
    let (mut reports, mut errors) = (Vec::new(), Vec::new());
    for tried in join_all(tries).await {
        match tried {
            Ok(report) => reports.push(report),
            Err(error) => errors.push(error),
        }
    }
    let judge = delivered().iter().find(|kind| kind.name == JUDGE).filter(|_| reports.len() > 1);
    let judgement = match judge {
        Some(kind) => {
            let task = judge_task(&order.task, &reports);
            let order = Order { kind: kind.clone(), task, label: "which attempt is best".to_owned() };
            subagents.work(order, Vec::new(), cancel).await.ok()
        }
        None => None,
    };
    let Some((place, is_judged)) = winner(&reports, judgement.as_ref().map(|judged| judged.answer.as_str())) else {
        return Err(errors.into_iter().next().unwrap_or_default());
    };
    let mut usage = judgement.as_ref().map(|judged| judged.usage).unwrap_or_default();
    reports.iter().for_each(|report| usage.add(report.usage));
    let count = reports.len();
    let best = reports.swap_remove(place);
    let how = match (count, is_judged) {
        (1, _) => format!("the only one of {attempts} attempts that ended"),
        (_, true) => format!("attempt {} of {attempts}", place + 1),
        (_, false) => format!("attempt {} of {attempts}; they could not be compared", place + 1),
    };
    let answer = format!("{}\n\n({how})", best.answer);
    Ok(SubagentReport { answer, usage, ..best })
}

fn finish(task: &mut BackgroundTask, report: Result<SubagentReport, String>, is_cancelled: bool) {
    task.ended_ms = Some(Timestamp::now().as_millisecond());
    let error = match report {
        Ok(report) => {
            let tokens = report.usage.sent().unwrap_or(0) + report.usage.output.unwrap_or(0);
            (task.answer, task.steps, task.tokens) = (report.answer, report.steps, tokens);
            match report.end {
                ReportEnd::Done => None,
                ReportEnd::Limit => return task.state = TaskState::Limit,
                ReportEnd::Refused => return task.state = TaskState::Refused,
                ReportEnd::Cancelled => return task.state = TaskState::Cancelled,
                ReportEnd::Failed(error) => Some(error),
            }
        }
        Err(error) => Some(error),
    };
    task.state = match error {
        _ if is_cancelled => TaskState::Cancelled,
        Some(error) => TaskState::Failed(error),
        None => TaskState::Done,
    };
}

/// Stores what the task changed; a task whose changes are lost has failed.
async fn keep_diff(daemon: &Daemon, task: &mut BackgroundTask, diff: String) {
    let (tasks, id) = (daemon.background.tasks.clone(), task.id);
    let kept = spawn_blocking(move || tasks.keep_diff(id, &diff)).await.map_err(io::Error::other);
    match kept.and_then(|kept| kept) {
        Ok((file, is_exact)) => (task.diff, task.has_secrets_left_out) = (Some(file), !is_exact),
        Err(error) => task.state = TaskState::Failed(format!("its changes could not be stored: {error}")),
    }
}

async fn store(daemon: &Daemon, task: &BackgroundTask) {
    let (tasks, task) = (daemon.background.tasks.clone(), task.clone());
    let stored = spawn_blocking(move || tasks.update(&task)).await;
    if let Ok(Err(error)) = stored {
        tracing::warn!(%error, "a task could not be stored");
    }
}
