//! A session is one conversation with the user of a shell. It lives on while its client is away.

mod additions;
mod calls;
mod environment;
mod extend;
mod limits;
mod outgoing;
mod pending;
mod reported_files;
mod shutdown;
mod subsession;
mod user_activity;

use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};

use cohab_agent::tasks::TaskBoard;
use cohab_context::query::PastCommand;
use cohab_guard::gate::Consents;
use cohab_protocol::{
    ApprovalDecision, ApprovalId, ApprovalMode, Attach, CallId, DaemonMessage, NoticeKind, SessionKey, ShellEvent,
    TurnId, Usage, WireError, WireErrorKind,
};
use cohab_runtime::{middleware::checkpoint::Conversation, recording::SessionRecord};
use cohab_types::environment::Variables;
use tokio::{
    sync::{Notify, oneshot, watch},
    time::{Instant, timeout},
};
use tokio_util::sync::CancellationToken;

use additions::Additions;
pub use calls::{OpenApproval, OpenCall};
use cohab_model_api::Message;
use environment::KnownEnvironment;
pub use pending::CallProgress;
use pending::{Grant, PendingCall};
use reported_files::Named;
pub use user_activity::RanCommand;
use user_activity::{RecentCommands, runs_cohab};

use super::{
    convert,
    lease::Lease,
    outlet::Outlet,
    timeline::{Resumed, Timeline},
};

/// Time for a client that lost its connection to return before its waiting requests are given up.
pub const RECONNECT_GRACE: Duration = Duration::from_secs(5);

/// A conversation and what belongs to it.
pub struct Session {
    key: SessionKey,
    state: Mutex<SessionState>,
    /// Wakes the connection's writer.
    outgoing: Notify,
    /// Wakes a turn that waits for room in the timeline.
    room: Notify,
    presence: watch::Sender<bool>,
    lease: Lease,
    conversation: Conversation,
    consents: Consents,
    record: Arc<SessionRecord>,
    /// Whether the user wants the running turn to pause.
    pause: watch::Sender<bool>,
    tasks: Arc<TaskBoard>,
    named: Named,
}

struct SessionState {
    client: Option<Client>,
    detached_at: Instant,
    variables: Variables,
    environment: KnownEnvironment,
    approval: ApprovalMode,
    cwd: PathBuf,
    history: RecentCommands,
    unreported: RecentCommands,
    timeline: Timeline,
    turn: Option<RunningTurn>,
    is_left: bool,
    calls: HashMap<CallId, PendingCall>,
    approvals: HashMap<ApprovalId, oneshot::Sender<ApprovalDecision>>,
    grants: HashMap<Arc<str>, Grant>,
    /// The usage of its turns.
    spent: Usage,
}

struct Client {
    connection: u64,
    live_shell: Option<String>,
    can_approve: bool,
    has_lock: bool,
    /// The terminal whose watchers' firings it shows.
    terminal: Option<SessionKey>,
    /// Ends the connection when another one takes over.
    superseded: CancellationToken,
    /// Sends to it at once, while its own task only waits.
    outlet: Weak<Outlet>,
}

struct RunningTurn {
    id: TurnId,
    cancel: CancellationToken,
    additions: Additions,
}

impl Session {
    /// A session without a client so far.
    #[must_use]
    pub fn new(key: SessionKey) -> Self {
        let state = SessionState {
            client: None,
            detached_at: Instant::now(),
            variables: Variables::new(),
            environment: KnownEnvironment::default(),
            approval: ApprovalMode::default(),
            cwd: PathBuf::from("/"),
            history: RecentCommands::default(),
            unreported: RecentCommands::default(),
            timeline: Timeline::default(),
            turn: None,
            is_left: false,
            calls: HashMap::new(),
            approvals: HashMap::new(),
            grants: HashMap::new(),
            spent: Usage::default(),
        };
        Self {
            key,
            state: Mutex::new(state),
            outgoing: Notify::new(),
            room: Notify::new(),
            presence: watch::Sender::new(false),
            lease: Lease::new(),
            conversation: Conversation::default(),
            consents: Consents::default(),
            record: Arc::default(),
            pause: watch::Sender::new(false),
            tasks: Arc::default(),
            named: Named::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, SessionState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Its name.
    #[must_use]
    pub fn key(&self) -> &SessionKey {
        &self.key
    }

    /// The conversation as of the last step.
    #[must_use]
    pub fn conversation(&self) -> &Conversation {
        &self.conversation
    }

    /// The events that are stored with the next question.
    #[must_use]
    pub fn record(&self) -> &Arc<SessionRecord> {
        &self.record
    }

    /// Its tasks.
    #[must_use]
    pub fn tasks(&self) -> &Arc<TaskBoard> {
        &self.tasks
    }

    /// The skipped files that were reported.
    #[must_use]
    pub fn named(&self) -> &Named {
        &self.named
    }

    /// The user's consents for the session.
    #[must_use]
    pub fn consents(&self) -> &Consents {
        &self.consents
    }

    /// The right to run in the shell.
    #[must_use]
    pub fn lease(&self) -> &Lease {
        &self.lease
    }

    /// The approval mode.
    #[must_use]
    pub fn approval(&self) -> ApprovalMode {
        self.lock().approval
    }

    /// Changes the approval mode.
    pub fn set_approval(&self, mode: ApprovalMode) {
        self.lock().approval = mode;
    }

    /// What the user ran since the turn began, oldest first; each command is given once.
    #[must_use]
    pub fn take_unreported(&self) -> Vec<PastCommand> {
        self.lock().unreported.take()
    }

    /// The client's environment, as far as settings come from it.
    #[must_use]
    pub fn variables(&self) -> Variables {
        self.lock().variables.clone()
    }

    /// The environment for commands in a separate shell; empty if it is unknown.
    #[must_use]
    pub fn environment(&self) -> Variables {
        self.lock().environment.variables().clone()
    }

    /// The shell's folder.
    #[must_use]
    pub fn cwd(&self) -> PathBuf {
        self.lock().cwd.clone()
    }

    /// The client's live shell, if a client with one is attached.
    #[must_use]
    pub fn live_shell(&self) -> Option<String> {
        self.lock().client.as_ref().and_then(|client| client.live_shell.clone())
    }

    /// Whether a person can answer questions now.
    #[must_use]
    pub fn can_approve(&self) -> bool {
        self.lock().client.as_ref().is_some_and(|client| client.can_approve)
    }

    /// Whether the client keeps unasked programs from writing.
    #[must_use]
    pub fn client_has_lock(&self) -> bool {
        self.lock().client.as_ref().is_some_and(|client| client.has_lock)
    }

    /// The user's last commands, oldest first.
    #[must_use]
    pub fn history(&self) -> Vec<PastCommand> {
        self.lock().history.all()
    }

    /// Notes a command of the user. Returns it to be kept; `None` for one of cohab itself, which prints what is kept, and for one that
    /// is cut.
    pub fn command_ran(&self, event: ShellEvent) -> Option<RanCommand> {
        let mut state = self.lock();
        state.cwd = event.cwd.to_path_buf();
        let (ran_in, ended_ms) = (event.ran_in.to_path_buf(), event.ended_ms);
        let bytes = event.line.as_ref().map_or(0, String::len);
        let command = convert::past_command(event);
        self.record.command_ran(&command);
        if state.turn.is_some() {
            state.unreported.push(command.clone());
        }
        state.history.push(command.clone());
        let is_own = command.line.as_deref().is_some_and(runs_cohab);
        let is_cut = command.line.as_ref().is_some_and(|line| line.len() < bytes);
        (!is_own && !is_cut).then_some(RanCommand { command, ran_in, ended_ms })
    }

    // --- the client ---------------------------------------------------------------------------------------------------

    /// Makes `connection` the client. An earlier client is superseded. A running turn continues if the new client knows it, else it is
    /// cancelled: no client waits for its answer, and its commands are not this client's. True if the turn of `attach.resume`
    /// continues.
    pub fn attach(
        &self,
        attach: Attach,
        approval: ApprovalMode,
        connection: u64,
        superseded: CancellationToken,
    ) -> bool {
        let mut state = self.lock();
        let resumed = match (attach.resume, &state.client) {
            (Some(from), _) => state.timeline.resume(from),
            (None, Some(client)) if client.connection == connection => Resumed::Complete,
            (None, _) => Resumed::OtherTurn,
        };
        match resumed {
            Resumed::Complete => {}
            Resumed::Gap => {
                state.timeline.push(convert::notice(
                    None,
                    NoticeKind::Warning,
                    "The start of the answer is lost.".into(),
                ));
            }
            Resumed::OtherTurn => {
                state.timeline.skip();
                state.calls.clear();
                if let Some(turn) = &state.turn {
                    turn.cancel.cancel();
                }
            }
        }
        state.variables = attach.settings.into_iter().map(|setting| (setting.name, setting.value)).collect();
        state.environment = KnownEnvironment::new(attach.environment);
        state.approval = approval;
        let Attach { live_shell, can_approve, has_lock, .. } = attach;
        let same = state.client.as_ref().filter(|client| client.connection == connection);
        let terminal = same.and_then(|client| client.terminal.clone());
        let client =
            Client { connection, live_shell, can_approve, has_lock, terminal, superseded, outlet: Weak::new() };
        if let Some(old) = state.client.replace(client).filter(|old| old.connection != connection) {
            old.superseded.cancel();
        }
        drop(state);
        self.presence.send_replace(true);
        self.outgoing.notify_one();
        self.room.notify_one();
        attach.resume.is_some() && resumed != Resumed::OtherTurn
    }

    /// The client shows what the watchers of this terminal fire.
    pub fn await_firings(&self, terminal: SessionKey) {
        if let Some(client) = &mut self.lock().client {
            client.terminal = Some(terminal);
        }
    }

    /// Whether the client shows what the watchers of this terminal fire.
    #[must_use]
    pub fn shows_firings_of(&self, terminal: &str) -> bool {
        let state = self.lock();
        state.client.as_ref().and_then(|client| client.terminal.as_ref()).is_some_and(|shown| shown.0 == terminal)
    }

    /// Notes that `connection` is gone. False if another one replaced it before.
    pub fn detach(&self, connection: u64) -> bool {
        let mut state = self.lock();
        let is_client = state.client.as_ref().is_some_and(|client| client.connection == connection);
        if is_client {
            state.client = None;
            state.detached_at = Instant::now();
            drop(state);
            self.presence.send_replace(false);
        }
        is_client
    }

    /// The time since when no client is attached.
    #[must_use]
    pub fn detached_since(&self) -> Option<Instant> {
        let state = self.lock();
        state.client.is_none().then_some(state.detached_at)
    }

    /// Whether a client is attached, and every change of it.
    #[must_use]
    pub fn presence(&self) -> watch::Receiver<bool> {
        self.presence.subscribe()
    }

    /// Completes when no client has been attached for `patience`.
    pub async fn abandoned(&self, patience: Duration) {
        let mut presence = self.presence.subscribe();
        loop {
            // The sender lives in `self`, so neither wait can fail for its absence.
            let _ = presence.wait_for(|present| !present).await;
            if timeout(patience, presence.wait_for(|present| *present)).await.is_err() {
                return;
            }
        }
    }

    /// Whether a client is attached, or attaches within `patience`.
    pub async fn is_attended(&self, patience: Duration) -> bool {
        let mut presence = self.presence.subscribe();
        timeout(patience, presence.wait_for(|present| *present)).await.is_ok()
    }

    // --- the turn -----------------------------------------------------------------------------------------------------

    /// Begins a turn.
    ///
    /// # Errors
    /// `Busy` while another one runs.
    pub fn begin_turn(&self, id: TurnId, cwd: PathBuf, cancel: CancellationToken) -> Result<(), WireError> {
        let mut state = self.lock();
        if state.turn.is_some() {
            let message = "another question of this session is being answered".into();
            return Err(convert::turn_error(
                id,
                WireErrorKind::Busy,
                message,
                Some("cancel it with Ctrl-C, or wait".into()),
            ));
        }
        state.turn = Some(RunningTurn { id, cancel, additions: Additions::default() });
        state.cwd = cwd;
        state.unreported = RecentCommands::default();
        state.timeline.begin(id);
        self.pause.send_replace(false);
        drop(state);
        self.outgoing.notify_one();
        Ok(())
    }

    /// Ends the running turn: `last` goes out, with the number of chunks filled in.
    pub fn end_turn(&self, last: impl FnOnce(u64) -> Vec<DaemonMessage>) {
        let mut state = self.lock();
        state.turn = None;
        let chunks = state.timeline.chunks();
        for message in last(chunks) {
            state.timeline.push(message);
        }
        drop(state);
        self.outgoing.notify_one();
    }

    /// Forgets the conversation, and the commands that would be reported with its next question. False while a turn runs.
    #[must_use]
    pub fn clear(&self) -> bool {
        let is_idle = self.between_turns(Vec::clear).is_some();
        if is_idle {
            self.lock().history.take();
        }
        is_idle
    }

    /// Changes the conversation. `None` while a turn runs.
    pub fn between_turns<T>(&self, change: impl FnOnce(&mut Vec<Message>) -> T) -> Option<T> {
        let state = self.lock();
        state.turn.is_none().then(|| change(&mut self.conversation.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    /// Adds the usage of a turn.
    pub fn spend(&self, usage: &Usage) {
        convert::add_usage(&mut self.lock().spent, usage);
    }

    /// The usage of its turns.
    #[must_use]
    pub fn spent(&self) -> Usage {
        self.lock().spent
    }

    /// Whether a turn runs.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.lock().turn.is_some()
    }
}
