//! Runs one turn of a session, from the query to `TurnEnded`.

use std::{
    convert::Infallible,
    future::pending,
    panic::AssertUnwindSafe,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use cohab_agent::{
    Agent, StopReason, TurnError, TurnState,
    port::{EventSink, TurnEvent},
};
use cohab_context::{
    query::{ATTACHED, INSTRUCTIONS, PROJECT_INSTRUCTIONS},
    query_text::{self, QUESTION},
    workspace::Surroundings,
};
use cohab_model_api::{AssistantMessage, Message};
use cohab_protocol::{
    DaemonMessage, MAX_QUERY_BYTES, NoticeKind, ResumeTurn, TurnEnded, TurnId, Usage, UserQuery, WireError,
    WireErrorKind,
};
use cohab_runtime::{
    middleware::uncertain_calls::UncertainCalls,
    recording::{Opening, RecordingSink, TurnRecorder},
};
use cohab_store::sessions::steps::recover::Unfinished;
use cohab_system::process::memory;
use futures::FutureExt;
use tokio::task::spawn_blocking;
use tokio_util::sync::CancellationToken;

use super::{
    Daemon, KnownAgent, TurnMemory, TurnPart, TurnParts, attachments, convert,
    question_kind::{QuestionKind, addressed},
    question_prompt::{self, Asked},
    recollection::Remembered,
    resume,
    session::Session,
    sink::SessionSink,
    subagents::SessionSubagents,
    turn_recovery,
};

/// What a model reads of a turn in which the shell was shared.
const WAS_SHARED: &str = "(The shell was shared with programs elsewhere. The record of steps has what they did.)";
/// Said of a skill that the built-in assistant cannot follow.
const NEEDS_MODEL: &str = "Skills and custom commands need a language model; `cohab setup` adds one.";

/// The request that begins a turn.
pub enum Ask {
    /// A question.
    Query(UserQuery),
    /// The request to continue the turn that the end of an earlier daemon interrupted.
    Resume(ResumeTurn),
}

impl Ask {
    fn turn_id(&self) -> TurnId {
        match self {
            Self::Query(query) => query.turn_id,
            Self::Resume(resume) => resume.turn_id,
        }
    }

    fn is_private(&self) -> bool {
        matches!(self, Self::Query(query) if query.is_private)
    }

    fn cwd(&self) -> PathBuf {
        match self {
            Self::Query(query) => query.cwd.to_path_buf(),
            Self::Resume(resume) => resume.cwd.to_path_buf(),
        }
    }
}

/// Starts to answer. The session delivers the rest.
///
/// # Errors
/// `Busy` while another turn runs, `Protocol` if the query is too long, `NotFound` when the daemon is about to end.
pub fn start(daemon: &Arc<Daemon>, session: &Arc<Session>, ask: Ask) -> Result<(), WireError> {
    let id = ask.turn_id();
    if matches!(&ask, Ask::Query(query) if query.text.len() > MAX_QUERY_BYTES) {
        let message = format!("the question is longer than {MAX_QUERY_BYTES} bytes");
        let hint = Some("put the text into a file and ask about that".into());
        return Err(convert::turn_error(id, WireErrorKind::Protocol, message, hint));
    }
    if daemon.shutdown.is_cancelled() {
        return Err(convert::turn_error(id, WireErrorKind::NotFound, "the daemon is ending".into(), None));
    }
    let cancel = CancellationToken::new();
    session.begin_turn(id, ask.cwd(), cancel.clone())?;
    let task = run(Arc::clone(daemon), Arc::clone(session), ask, cancel);
    daemon.turns.spawn(task);
    Ok(())
}

async fn run(daemon: Arc<Daemon>, session: Arc<Session>, ask: Ask, cancel: CancellationToken) {
    let id = ask.turn_id();
    let is_private = ask.is_private();
    let folder = (!is_private).then(|| ask.cwd());
    tracing::info!(session = %session.key(), turn = %id, "turn begins");
    // A panic ends this turn only; the conversation is then that of the last checkpoint.
    let answering = AssertUnwindSafe(answer(&daemon, &session, ask, &cancel)).catch_unwind();
    let leaving = async {
        daemon.shutdown.cancelled().await;
        // Before the running command is dropped: that would make the client stop it.
        session.leave_turn();
    };
    let ended = tokio::select! {
        biased;
        ended = answering => ended,
        () = leaving => {
            tracing::info!(session = %session.key(), turn = %id, "turn is left as it is: the daemon ends");
            return;
        }
    };
    let (result, usage) = ended.unwrap_or((Err(TurnError::Internal), Usage::default()));
    let reason = convert::end_reason(&result);
    tracing::info!(session = %session.key(), turn = %id, ?reason, "turn ends");
    session.spend(&usage);
    for trouble in [daemon.archive.take_trouble(), daemon.assembler.store_trouble()].into_iter().flatten() {
        session.tell(convert::notice(Some(id), NoticeKind::Warning, trouble));
    }
    if let (Ok(_), Some(folder)) = (&result, folder)
        && let Some(line) = daemon.assembler.waiting_line(&folder).await
    {
        session.tell(convert::notice(Some(id), NoticeKind::Info, line));
    }
    session.end_turn(|chunks| {
        let error = result.err().map(|error| {
            let log_dir = || format!("details are in {}", daemon.facts.log_dir.display());
            let hint = error.hint().or_else(|| Some(log_dir()));
            DaemonMessage::Error(convert::turn_error(id, convert::error_kind(&error), error.to_string(), hint))
        });
        let ended = TurnEnded { turn_id: id, reason, usage, chunks };
        error.into_iter().chain([DaemonMessage::TurnEnded(ended)]).collect()
    });
    memory::give_back();
    // This one is the last.
    if !is_private && daemon.turns.len() == 1 {
        tokio::select! {
            () = daemon.assembler.turn_ended(&session) => memory::give_back(),
            () = daemon.shutdown.cancelled() => {}
        }
    }
}

async fn answer(
    daemon: &Arc<Daemon>,
    session: &Arc<Session>,
    ask: Ask,
    cancel: &CancellationToken,
) -> (Result<StopReason, TurnError>, Usage) {
    let unfinished = match wanted(daemon, session, &ask).await {
        Ok(unfinished) => unfinished,
        Err(error) => return (Err(error), Usage::default()),
    };
    let turn_id = ask.turn_id();
    // What the model last said is no answer if a check decides.
    let is_answered = |unfinished: &&Unfinished| unfinished.answer.is_some() && !is_goal(unfinished);
    if let Some(answered) = unfinished.as_ref().filter(is_answered) {
        let sink = SessionSink::new(Arc::clone(session), turn_id, cancel.clone());
        turn_recovery::tell_answer(&daemon.archive, answered, &sink).await;
        return (Ok(StopReason::Answered), Usage::default());
    }
    let opening = opening(session, &ask, unfinished.as_ref());
    let question = opening.question.clone();
    let recorder = Arc::new(TurnRecorder::new(daemon.archive.clone(), Arc::clone(session.record()), opening));
    let sink = recording_sink(session, turn_id, cancel, &recorder);
    let doubts = Arc::new(UncertainCalls::of(unfinished.as_ref().map_or(&[], |unfinished| &unfinished.unknown)));
    let surroundings = daemon.assembler.surroundings(ask.cwd()).await;
    name_skipped(session, &surroundings, sink.as_ref()).await;
    let (kind, question_text) = kind_of(daemon, &question, &ask.cwd(), &surroundings, sink.as_ref()).await;
    let (called, is_share) = (kind.called().cloned(), kind.is_share());
    let memory = if ask.is_private() { TurnMemory::private(session) } else { TurnMemory::of(session) };
    let mut parts = TurnParts {
        session: Arc::clone(session),
        memory: memory.clone(),
        turn_id,
        question,
        sink: Arc::clone(&sink) as _,
        recorder: Arc::clone(&recorder),
        doubts: Arc::clone(&doubts),
        surroundings: Arc::clone(&surroundings),
        part: TurnPart::Question,
        kind,
        team: None,
    };
    parts.team = Some(SessionSubagents::of(daemon, &parts));
    let assembled = tokio::select! {
        biased;
        () = cancel.cancelled() => Err(None),
        assembled = daemon.assembler.assemble(parts) => assembled.map_err(Some),
    };
    let agent = match assembled {
        Ok(agent) => agent,
        Err(error) => {
            // It can be tried again.
            unfinished.into_iter().for_each(|unfinished| session.record().was_interrupted(unfinished));
            return (error.map_or(Ok(StopReason::Cancelled), Err), Usage::default());
        }
    };
    let history = memory.messages();
    let mut state = match (&ask, unfinished) {
        (_, Some(unfinished)) => {
            let (archive, agent, doubts) = (&daemon.archive, &agent, &doubts);
            let scene = turn_recovery::RecoveryContext { archive, session, agent, doubts, cancel };
            scene.state(unfinished, history, sink.as_ref()).await
        }
        (Ask::Query(query), None) => {
            let remembered = Remembered::announced(daemon, query, &history, sink.as_ref()).await;
            let asked = Asked::by(query, (&question_text, called.as_ref()), memory.tasks.tasks(), remembered);
            let text = question_prompt::question(daemon, session, &surroundings, &history, &asked);
            TurnState::new(history, text)
        }
        (Ask::Resume(_), None) => return (Err(nothing_to_resume(daemon).await), Usage::default()),
    };
    recorder.history(state.messages());
    let result = run_turn(&agent, &mut state, sink.as_ref(), cancel, is_share.then_some(session)).await;
    recorder.end(&result, &state.usage(), memory.consents.taint().trust_tenths());
    let usage = convert::usage(state.usage(), state.is_cost_partial());
    memory.keep(kept(state, is_share));
    (result, usage)
}

/// Runs the turn, with the files that its question names. That of a shared shell is cancelled when the shell is gone: no program elsewhere
/// may go on where its user does not see it.
async fn run_turn(
    agent: &Agent,
    state: &mut TurnState,
    sink: &dyn EventSink,
    cancel: &CancellationToken,
    shared: Option<&Arc<Session>>,
) -> Result<StopReason, TurnError> {
    attach(agent, state, sink).await;
    let gone = async {
        match shared {
            Some(session) => session.abandoned(Duration::ZERO).await,
            None => pending().await,
        }
        cancel.cancel();
        pending::<Infallible>().await
    };
    tokio::select! {
        biased;
        result = agent.run_turn(state, sink, cancel) => result,
        never = gone => match never {},
    }
}

/// What the conversation keeps of a turn: all of it, but of a shell that was shared only that it was.
fn kept(state: TurnState, is_share: bool) -> Vec<Message> {
    let mut messages = state.into_messages();
    let is_question = |message: &Message| match message {
        Message::User { text, .. } => query_text::inside(text, QUESTION).is_some(),
        Message::Assistant(_) | Message::ToolResults(_) => false,
    };
    if let Some(at) = messages.iter().rposition(is_question).filter(|_| is_share) {
        messages.truncate(at + 1);
        messages
            .push(Message::Assistant(AssistantMessage { text: WAS_SHARED.to_owned(), ..AssistantMessage::default() }));
    }
    messages
}

/// Tells the session what happens, and keeps it.
fn recording_sink(
    session: &Arc<Session>,
    turn_id: TurnId,
    cancel: &CancellationToken,
    recorder: &Arc<TurnRecorder>,
) -> Arc<RecordingSink<SessionSink>> {
    let sink = SessionSink::new(Arc::clone(session), turn_id, cancel.clone());
    Arc::new(RecordingSink::new(sink, Arc::clone(recorder)))
}

/// The kind of a question, and its text for the model. The user is told what a name in it does not mean.
async fn kind_of(
    daemon: &Daemon,
    question: &str,
    cwd: &Path,
    surroundings: &Arc<Surroundings>,
    sink: &dyn EventSink,
) -> (QuestionKind, String) {
    let (kind, text, notice) = match agent_of(daemon, question, cwd).await {
        Ok((kind, words)) => (kind, words, None),
        Err(notice) => {
            let (kind, text, other) = QuestionKind::around(question, surroundings).await;
            (kind, text, other.or(notice))
        }
    };
    if let Some(notice) = notice {
        sink.emit(TurnEvent::Notice(notice)).await;
    }
    (kind, text)
}

/// The agent that a question is for, and the words for it. Else what to say about a name that no agent has, unless it is a file's.
async fn agent_of(daemon: &Daemon, question: &str, cwd: &Path) -> Result<(QuestionKind, String), Option<String>> {
    let (name, words) = addressed(question).ok_or(None)?;
    match daemon.assembler.known_agent(name).await {
        KnownAgent::Known => Ok((QuestionKind::Agent { name: name.to_owned() }, words.to_owned())),
        KnownAgent::Similar(other) => {
            let path = cwd.join(name);
            let is_file = spawn_blocking(move || path.symlink_metadata().is_ok()).await.unwrap_or(false);
            let text = format!("No agent is called @{name}; did you mean @{other}? `cohab agents` lists them.");
            Err((!is_file).then_some(text))
        }
        KnownAgent::Unknown => Err(None),
    }
}

/// Names the project's files that are not used.
async fn name_skipped(session: &Session, surroundings: &Surroundings, sink: &dyn EventSink) {
    for notice in session.named().notices(surroundings) {
        sink.emit(TurnEvent::Notice(notice)).await;
    }
}

/// Has the files read that the question names. A turn that continues may have them already, or is beyond its question.
async fn attach(agent: &Agent, state: &mut TurnState, sink: &dyn EventSink) {
    let Some(Message::User { text, .. }) = state.messages().last() else { return };
    let is_called = |tag| query_text::inside(text, tag).is_some();
    if agent.provider.info().is_offline && [INSTRUCTIONS, PROJECT_INSTRUCTIONS].into_iter().any(is_called) {
        sink.emit(TurnEvent::Notice(NEEDS_MODEL.to_owned())).await;
    }
    if query_text::inside(text, ATTACHED).is_none()
        && let Some(attachments) =
            attachments::of_question(agent, &query_text::words(text), &named_in(text), sink).await
    {
        state.attach(attachments);
    }
}

/// The user's own words, with those of the skill or command that they call.
fn named_in(text: &str) -> String {
    let called = query_text::inside(text, INSTRUCTIONS).unwrap_or_default();
    format!("{}\n{called}", query_text::words(text))
}

/// The turn to continue; `None` for a question, which gives up the interrupted turn.
async fn wanted(daemon: &Daemon, session: &Session, ask: &Ask) -> Result<Option<Unfinished>, TurnError> {
    resume::restore(&daemon.archive, session).await;
    if matches!(ask, Ask::Query(_)) {
        if !ask.is_private() {
            resume::give_up(&daemon.archive, session);
        }
        return Ok(None);
    }
    match session.record().take_unfinished() {
        Some(unfinished) => Ok(Some(unfinished)),
        None => Err(nothing_to_resume(daemon).await),
    }
}

fn is_goal(unfinished: &Unfinished) -> bool {
    matches!(QuestionKind::of(&unfinished.question).0, QuestionKind::Goal { .. })
}

async fn nothing_to_resume(daemon: &Daemon) -> TurnError {
    TurnError::NothingToResume { hint: resume::elsewhere(daemon).await }
}

fn opening(session: &Session, ask: &Ask, unfinished: Option<&Unfinished>) -> Opening {
    let asked = unfinished.map(|unfinished| unfinished.question.clone());
    let (question, piped_bytes) = match ask {
        Ask::Query(query) => (query.text.clone(), query.piped_input.as_ref().map_or(0, String::len)),
        Ask::Resume(_) => (asked.unwrap_or_default(), 0),
    };
    Opening {
        session: session.key().to_string(),
        turn: ask.turn_id().to_string(),
        question,
        cwd: ask.cwd(),
        shell: session.live_shell(),
        piped_bytes,
        resumed_from: unfinished.map(|unfinished| unfinished.turn.turn.clone()),
    }
}
