//! Restores conversations of earlier daemons: on a client's request, and when a client of such a conversation returns.

use std::{sync::PoisonError, time::Duration};

use cohab_context::fit::fit;
use cohab_protocol::{
    Attach, DaemonMessage, EnvSetting, ErrorSubject, LeftState, Recap, RequestId, SessionKey, TurnUnfinished,
    WireError, WireErrorKind,
};
use cohab_store::sessions::{
    Archive, Entry, Found, SessionRow, Stored,
    id::SHOWN_DIGITS,
    steps::{Checkpoint, recover::Unfinished},
};
use cohab_text::sanitize::one_line;
use tokio::{task::spawn_blocking, time::timeout};

use super::{Daemon, memory::MAX_CONVERSATION_TOKENS, recap::recap, session::Session};

/// Longest question in a notice.
const QUESTION_MAX_CHARS: usize = 40;
/// Prefix of a session's name that requests a session by the start of its id.
const RESUME: &str = "resume:";
/// Prefix that requests a copy of it.
const FORK: &str = "fork:";
/// Longest wait of a question for the stored conversation.
const LOAD_WAIT: Duration = Duration::from_secs(2);

/// The facts about a continued session for its client.
#[derive(Debug, Default)]
pub struct Resumed {
    /// Its title.
    pub title: Option<String>,
    /// The last state of its shell.
    pub left: Option<LeftState>,
    /// Its last turn.
    pub recap: Option<Box<Recap>>,
}

/// Restores the conversation of a session of an earlier daemon: the client outlived it. Once per session.
pub async fn restore(archive: &Archive, session: &Session) {
    let _alone = session.record().restoring().await;
    if !session.record().restore_once() {
        return;
    }
    let (archive, key) = (archive.clone(), session.key().to_string());
    let loading = spawn_blocking(move || archive.load(&key));
    match timeout(LOAD_WAIT, loading).await {
        Ok(Ok(Ok(Some(stored)))) => take(session, stored),
        Ok(Ok(Ok(None))) => {}
        Ok(Ok(Err(error))) => tracing::warn!(%error, "the earlier conversation is not available"),
        Ok(Err(_)) | Err(_) => tracing::warn!("the store is slow; continuing without the earlier conversation"),
    }
}

fn take(session: &Session, stored: Stored) {
    let mut messages = stored.conversation;
    fit(&mut messages, MAX_CONVERSATION_TOKENS);
    let mut conversation = session.conversation().lock().unwrap_or_else(PoisonError::into_inner);
    if conversation.is_empty() {
        *conversation = messages;
        session.record().go_on_from(stored.left);
        stored.unfinished.into_iter().for_each(|unfinished| session.record().was_interrupted(unfinished));
        // They were valid when they were stored.
        let _ = session.tasks().replace(stored.tasks);
    }
}

/// Offers the turn that the end of an earlier daemon interrupted to its returned client, if there is one.
pub async fn offer(archive: &Archive, session: &Session) {
    if !session.can_go_on() {
        return;
    }
    restore(archive, session).await;
    if let Some(unfinished) = unfinished(session) {
        session.tell(unfinished);
    }
}

/// The same for a restored session.
pub fn unfinished(session: &Session) -> Option<DaemonMessage> {
    let Unfinished { turn, done, unknown, .. } = session.record().unfinished()?;
    Some(DaemonMessage::TurnUnfinished(TurnUnfinished {
        question: turn.question,
        steps_done: u32::try_from(done).unwrap_or(u32::MAX),
        unknown: unknown.into_iter().map(|step| step.metadata.title).collect(),
    }))
}

/// The way to continue an interrupted turn of another session, if there is one.
pub async fn elsewhere(daemon: &Daemon) -> Option<String> {
    let archive = daemon.archive.clone();
    let looking = timeout(LOAD_WAIT, spawn_blocking(move || archive.interrupted()));
    let mut found = looking.await.ok()?.ok()?.ok()?;
    // Sessions that are open in no shell come first.
    let is_open = |session: &SessionRow| daemon.is_attended(&SessionKey(session.key.clone()));
    found.sort_by_key(|(session, _)| is_open(session));
    let (session, Unfinished { turn, .. }) = found.first()?;
    let (id, question) = (session.id.get(..SHOWN_DIGITS)?, one_line(&turn.question, QUESTION_MAX_CHARS));
    let way = if is_open(session) {
        format!("\"{question}\" was interrupted in another shell: `? /resume` there continues it")
    } else {
        format!("`cohab resume {id}` continues \"{question}\"")
    };
    let more = match found.len() - 1 {
        0 => String::new(),
        more => format!("; `cohab resume --list` lists {more} more"),
    };
    Some(way + &more)
}

/// Gives up an interrupted turn: another question was asked, or the conversation was forgotten.
pub fn give_up(archive: &Archive, session: &Session) {
    if let Some(Unfinished { turn, .. }) = session.record().take_unfinished() {
        archive.keep(Entry::Checkpoint(Box::new(Checkpoint::Turn(turn.given_up()))));
    }
}

/// Stores the conversation as it is now, if the session is on record.
pub fn keep(archive: &Archive, session: &Session) {
    let messages = session.conversation().lock().unwrap_or_else(PoisonError::into_inner).clone();
    archive.keep(Entry::Conversation { session: session.key().to_string(), from: 0, messages });
}

/// Begins a new conversation, also for later daemons. The stored one stays as a session that can be resumed.
pub fn forget(archive: &Archive, session: &Session) {
    session.record().restore_once();
    give_up(archive, session);
    archive.set_aside(session.key().to_string());
    let _ = session.tasks().replace(Vec::new());
}

/// Resolves the session that `attach` requests: its name replaces the start of its id.
///
/// # Errors
/// There is no such session, or several, or another client has it open.
pub async fn find(daemon: &Daemon, request: RequestId, attach: &mut Attach) -> Result<Resumed, WireError> {
    let Some((id, is_fork)) = wanted(&attach.session.0) else { return Ok(Resumed::default()) };
    let fail = |message: String, hint: &str| WireError {
        about: ErrorSubject::Request(request),
        kind: WireErrorKind::NotFound,
        message,
        hint: Some(hint.to_owned()),
    };
    let (archive, prefix) = (daemon.archive.clone(), id.clone());
    let looking = spawn_blocking(move || archive.find(&prefix));
    let unreadable = |error: String| {
        fail(format!("the conversations cannot be read: {error}"), "`cohab sessions` may show the cause")
    };
    let found = looking.await.map_err(|error| unreadable(error.to_string()))?;
    let session = match found.map_err(|error| unreadable(error.to_string()))? {
        Found::One(session) => *session,
        Found::None => return Err(fail(format!("no session begins with \"{id}\""), LISTS)),
        Found::Several(_) => return Err(fail(format!("several sessions begin with \"{id}\""), LISTS)),
    };
    if is_fork {
        let archive = daemon.archive.clone();
        let copying = spawn_blocking(move || archive.fork(&session.key));
        let copied = copying.await.map_err(|error| unreadable(error.to_string()))?;
        let copy = copied.map_err(|error| unreadable(error.to_string()))?;
        attach.session = SessionKey(copy.clone());
        return Ok(end_of(daemon, copy, session.title).await);
    }
    let key = SessionKey(session.key.clone());
    if daemon.is_attended(&key) {
        let hint = format!("`cohab sessions fork {id}` continues with a copy");
        return Err(fail("this conversation is open in another shell".to_owned(), &hint));
    }
    attach.session = key;
    Ok(end_of(daemon, session.key, session.title).await)
}

fn wanted(name: &str) -> Option<(String, bool)> {
    let resumed = name.strip_prefix(RESUME).map(|id| (id.to_owned(), false));
    resumed.or_else(|| name.strip_prefix(FORK).map(|id| (id.to_owned(), true)))
}

/// How the conversation of this key and title ended, as far as it can be read.
async fn end_of(daemon: &Daemon, key: String, title: String) -> Resumed {
    let archive = daemon.archive.clone();
    let loading = spawn_blocking(move || {
        let stored = archive.load(&key).ok()??;
        let turn = archive.last_turn(&key).unwrap_or_default();
        Some((stored, turn))
    });
    let Ok(Some((stored, turn))) = loading.await else { return Resumed { title: Some(title), ..Resumed::default() } };
    let recap = recap(&turn, &stored.tasks).map(Box::new);
    let environment = stored.left.environment.into_iter().map(|(name, value)| EnvSetting { name, value });
    let left = LeftState { cwd: std::path::Path::new(&stored.left.cwd).into(), environment: environment.collect() };
    Resumed { title: Some(title), left: Some(left), recap }
}

const LISTS: &str = "`cohab sessions` lists them";
