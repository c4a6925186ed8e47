//! The server holds the sessions and serves their connections.
//!
//! A [`Session`] outlives its connections. Each turn runs in a separate task and talks to its session only; a connection carries
//! messages between session and client. So a client that is slow, gone or hostile harms its own session at most. The server knows no
//! provider, tool or setting: an [`Assembler`] does.

pub mod approver;
mod asking;
mod connection;
mod convert;
mod going_on;
pub mod lease;
pub mod listener;
mod requests;
mod resume;
pub mod session;
mod sink;
mod timeline;
mod turn_task;

use std::{
    collections::{BTreeMap, HashMap},
    path::PathBuf,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use cohab_agent::{Agent, TurnError, port::EventSink};
use cohab_model_api::{Message, ModelInfo, TokenUsage};
use cohab_protocol::{ApprovalMode, DaemonStatus, SessionKey, TurnId};
use session::{RECONNECT_GRACE, Session, Variables};
use tokio::time::{Instant, sleep, timeout};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    compaction::Shortened,
    context::{report::Fixed, surroundings::Surroundings},
    recording::TurnRecorder,
    safety::doubt::Doubts,
    store::sessions::Archive,
};

/// Most sessions in memory. Beyond, the one that was left first is dropped.
const MAX_SESSIONS: usize = 256;
/// Lifetime of an interactive session without a client: after a sleep of the laptop or a dropped connection the user finds the
/// conversation again, and yesterday's closed windows take no memory.
const ABANDONED_KEEP: Duration = Duration::from_secs(600);
/// Time for turns to stop their work.
const TURNS_END_WAIT: Duration = Duration::from_secs(1);
/// Time for connections to send the rest.
const CONNECTIONS_END_WAIT: Duration = Duration::from_secs(2);

/// Assembles the parts of a turn. The server knows no provider, tool or setting.
#[async_trait]
pub trait Assembler: Send + Sync {
    /// The model that would answer a client with these variables, and its approval mode.
    ///
    /// # Errors
    /// `TurnError::Settings` when the settings are wrong.
    async fn introduce(&self, variables: &Variables) -> Result<Introduction, TurnError>;

    /// An agent for one turn.
    ///
    /// # Errors
    /// When the settings are wrong, or the user ended the turn at a question.
    async fn assemble(&self, parts: TurnParts) -> Result<Agent, TurnError>;

    /// The parts of every request of a client with these variables, with their sizes.
    ///
    /// # Errors
    /// `TurnError::Settings` when the settings are wrong.
    async fn outlook(&self, variables: &Variables, surroundings: &Surroundings) -> Result<Fixed, TurnError>;

    /// The conversation of this session, shortened to at most half, or to a short enough size. With the usage of that.
    ///
    /// # Errors
    /// `TurnError::Settings` when the settings are wrong.
    async fn shorten(&self, session: &Session, messages: &[Message]) -> Result<(Shortened, TokenUsage), TurnError>;

    /// The surroundings of this folder; empty if they are not known soon.
    async fn surroundings(&self, cwd: PathBuf) -> Arc<Surroundings>;

    /// The trouble with the store of model calls since the last call, as a sentence for the user.
    fn store_trouble(&self) -> Option<String>;
}

/// The model that would answer.
#[derive(Clone, Debug)]
pub struct Introduction {
    /// The model.
    pub model: ModelInfo,
    /// The approval mode, if the client does not set one.
    pub approval: ApprovalMode,
}

/// The parts that an agent is assembled for.
pub struct TurnParts {
    /// The session of the turn.
    pub session: Arc<Session>,
    /// The turn.
    pub turn_id: TurnId,
    /// The user's own words.
    pub question: String,
    /// Receives the events.
    pub sink: Arc<dyn EventSink>,
    /// Records the events.
    pub recorder: Arc<TurnRecorder>,
    /// Steps of an earlier daemon's turn of which it is unknown whether they were done.
    pub doubts: Arc<Doubts>,
    /// The surroundings of the question.
    pub surroundings: Arc<Surroundings>,
}

/// The daemon's files, for people.
#[derive(Clone, Debug)]
pub struct Facts {
    /// Folder of the log files.
    pub log_dir: PathBuf,
    /// The settings file.
    pub config_path: PathBuf,
}

/// The running daemon.
pub struct Daemon {
    assembler: Arc<dyn Assembler>,
    facts: Facts,
    archive: Archive,
    started: Instant,
    sessions: Mutex<HashMap<SessionKey, Arc<Session>>>,
    connections: AtomicU32,
    next_connection: AtomicU64,
    /// Whether the last connection was refused for the limit; logged once.
    is_full: AtomicBool,
    /// Begins the shutdown: no new connections and turns, running turns stay on record as they are.
    shutdown: CancellationToken,
    /// Fires after the end of all turns: connections say goodbye.
    closing: CancellationToken,
    turns: TaskTracker,
    tasks: TaskTracker,
}

impl Daemon {
    /// A daemon without sessions in memory. `shutdown` ends it.
    #[must_use]
    pub fn new(
        assembler: Arc<dyn Assembler>,
        facts: Facts,
        archive: Archive,
        shutdown: CancellationToken,
    ) -> Arc<Self> {
        Arc::new(Self {
            assembler,
            facts,
            archive,
            started: Instant::now(),
            sessions: Mutex::default(),
            connections: AtomicU32::new(0),
            next_connection: AtomicU64::new(0),
            is_full: AtomicBool::new(false),
            shutdown,
            closing: CancellationToken::new(),
            turns: TaskTracker::new(),
            tasks: TaskTracker::new(),
        })
    }

    /// Ends everything in order: turns, then connections. Takes at most the sum of both waits.
    pub async fn close(&self) {
        self.shutdown.cancel();
        self.turns.close();
        if timeout(TURNS_END_WAIT, self.turns.wait()).await.is_err() {
            tracing::warn!(turns = self.turns.len(), "turns did not end in time");
        }
        self.closing.cancel();
        self.tasks.close();
        if timeout(CONNECTIONS_END_WAIT, self.tasks.wait()).await.is_err() {
            tracing::warn!(tasks = self.tasks.len(), "connections did not end in time");
        }
    }

    fn sessions(&self) -> MutexGuard<'_, HashMap<SessionKey, Arc<Session>>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn status(&self) -> DaemonStatus {
        let sessions = self.sessions();
        let running = sessions.values().filter(|session| session.is_busy()).count();
        let leases = sessions.values().map(|session| session.lease().counts());
        let (commands_running, commands_waiting) =
            leases.fold((0, 0), |(running, waiting), (held, queued)| (running + held, waiting + queued));
        let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        DaemonStatus {
            pid: std::process::id(),
            build: cohab_protocol::BUILD.into(),
            uptime_ms: convert::millis(self.started.elapsed()),
            clients: self.connections.load(Ordering::Relaxed),
            sessions: count(sessions.len()),
            turns_running: count(running),
            commands_running: count(commands_running),
            commands_waiting: count(commands_waiting),
            log_dir: self.facts.log_dir.as_path().into(),
            config_path: self.facts.config_path.as_path().into(),
        }
    }

    /// The session of this name, created if needed. `None` if there are too many, all in use.
    fn session(&self, key: &SessionKey) -> Option<Arc<Session>> {
        let mut sessions = self.sessions();
        if let Some(session) = sessions.get(key) {
            return Some(Arc::clone(session));
        }
        if sessions.len() >= MAX_SESSIONS {
            let left = sessions.values().filter(|session| !session.is_busy());
            let left = left.filter_map(|session| Some((session.detached_since()?, session.key().clone())));
            let (_, first_left) = left.min_by_key(|(since, _)| *since)?;
            sessions.remove(&first_left);
        }
        let session = Arc::new(Session::new(key.clone()));
        sessions.insert(key.clone(), Arc::clone(&session));
        Some(session)
    }

    /// Kinds of sessions with a client, and the number of each. The kind is the beginning of a name.
    fn channels(&self) -> Vec<(String, usize)> {
        let mut channels = BTreeMap::new();
        for session in self.sessions().values().filter(|session| session.detached_since().is_none()) {
            let kind = session.key().0.split(':').next().unwrap_or_default().to_owned();
            *channels.entry(kind).or_default() += 1;
        }
        channels.into_iter().collect()
    }

    /// Whether a client is at the session of this name.
    fn is_attended(&self, key: &SessionKey) -> bool {
        self.sessions().get(key).is_some_and(|session| session.detached_since().is_none())
    }

    /// Drops a session some time after its client left, unless one returns. A one-shot question is not worth a long wait.
    fn retire(self: &Arc<Self>, session: &Arc<Session>) {
        let daemon = Arc::clone(self);
        let keep = if session.key().0.starts_with("cli:") { RECONNECT_GRACE } else { ABANDONED_KEEP };
        let mut presence = session.presence();
        // Weak: a session that was dropped for lack of room must not be kept alive here.
        let session = Arc::downgrade(session);
        self.tasks.spawn(async move {
            tokio::select! {
                () = daemon.closing.cancelled() => return,
                _ = presence.wait_for(|present| *present) => return,
                () = sleep(keep) => {}
            }
            if let Some(session) = session.upgrade() {
                daemon.drop_session(&session, keep);
            }
        });
    }

    /// Drops a session that had no client for `keep`.
    fn drop_session(&self, session: &Arc<Session>, keep: Duration) {
        let mut sessions = self.sessions();
        // A client may have come, or come and gone, meanwhile.
        if session.detached_since().is_none_or(|since| since.elapsed() < keep) {
            return;
        }
        session.cancel_turn(None);
        if sessions.get(session.key()).is_some_and(|current| Arc::ptr_eq(current, session)) {
            sessions.remove(session.key());
            tracing::debug!(session = %session.key(), "session dropped");
        }
    }
}
