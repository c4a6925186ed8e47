//! The running daemon: all sessions in memory, and their end.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering},
    },
    time::Duration,
};

use cohab_protocol::{DaemonStatus, SessionKey};
use cohab_store::sessions::Archive;
use cohab_work::background_tasks::BackgroundTasks;
use futures::future::join_all;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    Assembler, Facts,
    background::Background,
    convert,
    firings::FiringSource,
    session::{RECONNECT_GRACE, Session},
};

/// Most sessions in memory. Beyond, the one that was left first is dropped.
const MAX_SESSIONS: usize = 256;
/// Lifetime of an interactive session without a client: after a sleep of the laptop or a dropped connection the user finds the
/// conversation again, and yesterday's closed windows take no memory.
const ABANDONED_KEEP: Duration = Duration::from_secs(600);
/// Time for turns to stop their work.
const TURNS_END_WAIT: Duration = Duration::from_secs(1);
/// Time for the user's hooks to hear that sessions end.
const HOOKS_END_WAIT: Duration = Duration::from_millis(1_500);
/// Time for connections to send the rest.
const CONNECTIONS_END_WAIT: Duration = Duration::from_secs(2);

/// The running daemon.
pub struct Daemon {
    pub(crate) assembler: Arc<dyn Assembler>,
    pub(crate) facts: Facts,
    pub(crate) archive: Archive,
    pub(crate) started: Instant,
    pub(crate) sessions: Mutex<HashMap<SessionKey, Arc<Session>>>,
    pub(crate) connections: AtomicU32,
    pub(crate) next_connection: AtomicU64,
    /// The last connection was refused for their number; said once in the log.
    pub(crate) is_full: AtomicBool,
    /// Begins the end: no new connections and turns, running turns are left where they are.
    pub(crate) shutdown: CancellationToken,
    /// Turns have ended: connections say goodbye.
    pub(crate) closing: CancellationToken,
    pub(crate) turns: TaskTracker,
    pub(crate) tasks: TaskTracker,
    pub(crate) background: Background,
    pub(crate) firings: OnceLock<Arc<dyn FiringSource>>,
}

impl Daemon {
    /// A daemon without sessions in memory. `shutdown` ends it.
    #[must_use]
    pub fn new(
        assembler: Arc<dyn Assembler>,
        facts: Facts,
        archive: Archive,
        background: BackgroundTasks,
        shutdown: CancellationToken,
    ) -> Arc<Self> {
        let background = Background::new(background);
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
            background,
            firings: OnceLock::new(),
        })
    }

    /// Ends everything in order: turns, then connections. Takes at most the sum of both waits.
    pub async fn close(&self) {
        self.shutdown.cancel();
        self.turns.close();
        if timeout(TURNS_END_WAIT, self.turns.wait()).await.is_err() {
            tracing::warn!(turns = self.turns.len(), "turns did not end in time");
        }
        let sessions: Vec<_> = self.sessions().values().cloned().collect();
        let endings = sessions.iter().map(|session| self.assembler.conversation_ended(session, false));
        if timeout(HOOKS_END_WAIT, join_all(endings)).await.is_err() {
            tracing::warn!("hooks did not end in time");
        }
        self.closing.cancel();
        self.tasks.close();
        if timeout(CONNECTIONS_END_WAIT, self.tasks.wait()).await.is_err() {
            tracing::warn!(tasks = self.tasks.len(), "connections did not end in time");
        }
    }

    pub(crate) fn sessions(&self) -> MutexGuard<'_, HashMap<SessionKey, Arc<Session>>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn status(&self) -> DaemonStatus {
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

    /// The session of this name, made if there is none. `None` if there are too many, all in use.
    pub(crate) fn session(self: &Arc<Self>, key: &SessionKey) -> Option<Arc<Session>> {
        let mut sessions = self.sessions();
        if let Some(session) = sessions.get(key) {
            return Some(Arc::clone(session));
        }
        if sessions.len() >= MAX_SESSIONS {
            let left = sessions.values().filter(|session| !session.is_busy());
            let left = left.filter_map(|session| Some((session.detached_since()?, session.key().clone())));
            let (_, first_left) = left.min_by_key(|(since, _)| *since)?;
            let left = sessions.remove(&first_left);
            left.iter().for_each(|left| self.tell_end(left));
        }
        let session = Arc::new(Session::new(key.clone()));
        sessions.insert(key.clone(), Arc::clone(&session));
        Some(session)
    }

    /// Kinds of sessions with a client, and how many of each. The kind is what a name begins with.
    pub(crate) fn channels(&self) -> Vec<(String, usize)> {
        let mut channels = BTreeMap::new();
        for session in self.sessions().values().filter(|session| session.detached_since().is_none()) {
            let kind = session.key().0.split(':').next().unwrap_or_default().to_owned();
            *channels.entry(kind).or_default() += 1;
        }
        channels.into_iter().collect()
    }

    /// Whether a client is at the session of this name.
    pub(crate) fn is_attended(&self, key: &SessionKey) -> bool {
        self.sessions().get(key).is_some_and(|session| session.detached_since().is_none())
    }

    /// The session that the shell in this terminal is attached to, if it shows what fires.
    pub(crate) fn terminal(&self, name: &str) -> Option<Arc<Session>> {
        self.sessions().values().find(|session| session.shows_firings_of(name)).cloned()
    }

    /// Drops a session some time after its client left, unless one comes back. A one-shot question has nothing to come back to
    /// for long.
    pub(crate) fn retire(self: &Arc<Self>, session: &Arc<Session>) {
        let daemon = Arc::clone(self);
        let keep = if session.key().is_one_shot() { RECONNECT_GRACE } else { ABANDONED_KEEP };
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

    /// A session is no longer there.
    fn tell_end(self: &Arc<Self>, session: &Arc<Session>) {
        let (daemon, session) = (Arc::clone(self), Arc::clone(session));
        self.tasks.spawn(async move {
            tokio::select! {
                () = daemon.closing.cancelled() => {}
                () = daemon.assembler.conversation_ended(&session, false) => {}
            }
        });
    }

    /// Drops a session that nobody has been at for `keep`.
    pub(crate) fn drop_session(self: &Arc<Self>, session: &Arc<Session>, keep: Duration) {
        let mut sessions = self.sessions();
        // A client may have come, or come and gone, meanwhile.
        if session.detached_since().is_none_or(|since| since.elapsed() < keep) {
            return;
        }
        session.cancel_turn(None);
        if sessions.get(session.key()).is_some_and(|current| Arc::ptr_eq(current, session)) {
            sessions.remove(session.key());
            tracing::debug!(session = %session.key(), "session dropped");
            self.tell_end(session);
        }
    }
}
