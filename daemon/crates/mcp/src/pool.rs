//! The running servers. One is started when it is first needed, shared by all sessions, stopped when it was idle for a while, and after
//! a failure started again only after a pause.

use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};

use cohab_agent::port::{Approver, EventSink, TurnEvent};
use futures::future::join_all;
use rmcp::{
    model::{CallToolRequestParams, CallToolResult},
    service::ServiceError,
};
use tokio::time::{Instant, error::Elapsed, sleep, sleep_until, timeout};

pub use crate::surroundings::Surroundings;
use crate::{
    connection::{Connection, Refused},
    keys::KeySource,
    listing::{self, Listing},
    server::Server,
    sign_in::{self, Browser, SignInRequest, SignIns},
    start_error,
};

/// A server that nobody asks for so long is stopped.
const IDLE: Duration = Duration::from_secs(600);
/// A call has so long, and so long again whenever the server asks the user or says how far it is.
pub(crate) const CALL_LIMIT: Duration = Duration::from_secs(300);
/// What a server says of how far a call is reaches the user so often at most.
const NEWS_PAUSE: Duration = Duration::from_millis(250);
/// After the first failure a server is not started again for so long; the time doubles with each further one.
const FIRST_PAUSE: Duration = Duration::from_secs(2);
/// The longest such time.
const LONGEST_PAUSE: Duration = Duration::from_secs(300);
/// Most servers that are known at a time; stopped ones are forgotten.
const MAX_SLOTS: usize = 256;
/// Most tools whose first definition is remembered.
const MAX_FIRST_SEEN: usize = 10_000;

/// The servers that run, or did.
pub struct ServerPool {
    slots: Mutex<HashMap<String, Arc<Slot>>>,
    keys: Box<dyn KeySource>,
    sign_ins: SignIns,
    logs: PathBuf,
    idle: Duration,
    /// Digests of tools as they were when they were first judged.
    first_seen: Mutex<HashMap<(String, String), String>>,
}

/// The place of one server.
#[derive(Default)]
pub(crate) struct Slot {
    state: tokio::sync::Mutex<SlotState>,
    /// The tools, as they were listed last.
    tools: Mutex<Option<Known>>,
    last_used: Mutex<Option<Instant>>,
    /// What the server wants of a sign-in, if it refused the last request for that.
    challenge: Mutex<Option<String>>,
}

/// Tools, and of what they are known.
struct Known {
    tools: Arc<Listing>,
    connection: Weak<Connection>,
    /// What [`Connection::revision`] was before they were listed.
    revision: u64,
}

impl Known {
    /// Whether this connection listed them, and announced no others since.
    fn is_of(&self, connection: &Arc<Connection>) -> bool {
        Weak::ptr_eq(&self.connection, &Arc::downgrade(connection)) && self.revision == connection.revision()
    }
}

#[derive(Default)]
struct SlotState {
    connection: Option<Arc<Connection>>,
    failures: u32,
    failed: Option<(Instant, String)>,
}

/// What is known of a server that was started.
#[derive(Clone, Debug)]
pub struct Started {
    /// The version of the protocol.
    pub protocol: String,
    /// Name and version, as the server says.
    pub name: String,
    /// Its tools.
    pub tools: Arc<Listing>,
}

impl ServerPool {
    /// Logs of programs are kept in the folder `logs`.
    #[must_use]
    pub fn new(keys: Box<dyn KeySource>, sign_ins: SignIns, logs: PathBuf) -> Self {
        Self { slots: Mutex::default(), keys, sign_ins, logs, idle: IDLE, first_seen: Mutex::default() }
    }

    /// The same pool with another time after which a server is stopped.
    #[must_use]
    pub fn with_idle(self, idle: Duration) -> Self {
        Self { idle, ..self }
    }

    /// The file of what the program of a server prints on standard error.
    #[must_use]
    pub fn log_of(&self, server: &Server) -> PathBuf {
        self.logs.join(format!("{}.log", server.name))
    }

    /// The tools as they are known without asking.
    #[must_use]
    pub fn known_tools(&self, server: &Server) -> Option<Arc<Listing>> {
        let slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        slots.get(&key(server)).and_then(|slot| slot.known())
    }

    /// The name of an action for consent that lasts for the session: another one as soon as the definition of the tool changes.
    #[must_use]
    pub fn action(&self, server: &Server, tool: &str, digest: Option<&str>) -> String {
        let Some(digest) = digest else { return tool.to_owned() };
        let mut first_seen = self.first_seen.lock().unwrap_or_else(PoisonError::into_inner);
        let name = (key(server), tool.to_owned());
        if !first_seen.contains_key(&name) && first_seen.len() < MAX_FIRST_SEEN {
            first_seen.insert(name.clone(), digest.to_owned());
        }
        match first_seen.get(&name) {
            Some(first) if first == digest => tool.to_owned(),
            _ => format!("{tool} (changed, {})", digest.get(..8).unwrap_or(digest)),
        }
    }

    /// Whether the server runs now.
    #[must_use]
    pub fn is_running(&self, server: &Server) -> bool {
        let slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        slots.get(&key(server)).is_some_and(|slot| slot.state.try_lock().is_ok_and(|state| state.connection.is_some()))
    }

    /// The tools; starts the server if they are not known.
    ///
    /// # Errors
    /// A sentence.
    pub async fn tools(&self, server: &Server, surroundings: &Surroundings) -> Result<Arc<Listing>, String> {
        let slot = self.slot(server);
        if let Some(tools) = slot.known()
            && !slot.has_news().await
        {
            return Ok(tools);
        }
        let connection = self.connection(&slot, server, surroundings).await?;
        slot.read_tools(&connection).await
    }

    /// Starts the server and returns what it says of itself.
    ///
    /// # Errors
    /// A sentence.
    pub async fn start(&self, server: &Server, surroundings: &Surroundings) -> Result<Started, String> {
        let slot = self.slot(server);
        let connection = self.connection(&slot, server, surroundings).await?;
        let tools = slot.read_tools(&connection).await?;
        let info = connection.info();
        let protocol = info.as_ref().map(|info| info.protocol_version.to_string()).unwrap_or_default();
        let name = info.and_then(|info| info.server_info.as_ref().map(|one| format!("{} {}", one.name, one.version)));
        Ok(Started { protocol, name: start_error::reason(&name.unwrap_or_default()), tools })
    }

    /// The server with the tools that it listed since it was started; starts it if it does not run.
    ///
    /// # Errors
    /// A sentence.
    pub async fn open(&self, server: &Server, surroundings: &Surroundings) -> Result<OpenServer, String> {
        let (slot, connection) = self.ready(server, surroundings).await?;
        let tools = match slot.listed_by(&connection) {
            Some(tools) => tools,
            None => slot.read_tools(&connection).await?,
        };
        Ok(OpenServer { slot, connection, tools })
    }

    /// Signs in at a server; it is started again when it is needed. Returns the rights that were granted.
    ///
    /// # Errors
    /// As of [`sign_in::sign_in`].
    pub async fn sign_in(
        &self,
        server: &Server,
        surroundings: &Surroundings,
        wanted: &SignInRequest,
        browser: &dyn Browser,
    ) -> Result<Vec<String>, String> {
        let granted = sign_in::sign_in(server, surroundings, &*self.keys, &self.sign_ins, wanted, browser).await?;
        let slot = self.slots.lock().unwrap_or_else(PoisonError::into_inner).remove(&key(server));
        if let Some(slot) = slot {
            slot.stop().await;
        }
        Ok(granted)
    }

    /// The header `WWW-Authenticate` of the server's last answer, if it refused a request for want of rights.
    #[must_use]
    pub fn challenge(&self, server: &Server) -> Option<String> {
        let slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        slots.get(&key(server))?.challenge.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Stops all servers.
    pub async fn stop(&self) {
        let slots: Vec<_> = {
            let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
            slots.drain().map(|(_, slot)| slot).collect()
        };
        join_all(slots.iter().map(|slot| slot.stop())).await;
    }

    /// The place of a server and its connection; the server is started if it does not run.
    pub(crate) async fn ready(
        &self,
        server: &Server,
        surroundings: &Surroundings,
    ) -> Result<(Arc<Slot>, Arc<Connection>), String> {
        let slot = self.slot(server);
        let connection = self.connection(&slot, server, surroundings).await?;
        Ok((slot, connection))
    }

    fn slot(&self, server: &Server) -> Arc<Slot> {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        if slots.len() >= MAX_SLOTS {
            slots.retain(|_, slot| slot.state.try_lock().map_or(true, |state| state.connection.is_some()));
        }
        Arc::clone(slots.entry(key(server)).or_default())
    }

    /// The connection of a server, which is started if it does not run.
    async fn connection(
        &self,
        slot: &Arc<Slot>,
        server: &Server,
        surroundings: &Surroundings,
    ) -> Result<Arc<Connection>, String> {
        let mut state = slot.state.lock().await;
        slot.touch();
        if let Some(connection) = state.connection.clone() {
            if !connection.is_over() {
                return Ok(connection);
            }
            state.connection = None;
            slot.forget();
            state.fail("it ended".to_owned());
        }
        state.may_start()?;
        match Connection::start(server, surroundings, &*self.keys, &self.sign_ins, &self.log_of(server)).await {
            Ok(connection) => {
                let connection = Arc::new(connection);
                state.connection = Some(Arc::clone(&connection));
                state.failed = None;
                slot.forget();
                tokio::spawn(stop_when_idle(Arc::clone(slot), self.idle));
                Ok(connection)
            }
            Err(refused) => {
                let reason = slot.told(refused);
                state.fail(reason.clone());
                Err(reason)
            }
        }
    }
}

/// A server that runs, and what it listed. Its calls never start another process: that could have other tools.
pub struct OpenServer {
    slot: Arc<Slot>,
    connection: Arc<Connection>,
    /// Its tools.
    pub tools: Arc<Listing>,
}

impl OpenServer {
    /// Calls a tool for a user whom the server may ask meanwhile; `by` is its name for that. The sink takes what it says of how far it
    /// is. Dropping the future cancels the call.
    ///
    /// # Errors
    /// A sentence: the server ended, or refused.
    pub async fn call_for(
        &self,
        (by, user, sink): (String, Arc<dyn Approver>, &dyn EventSink),
        tool: &str,
        arguments: serde_json::Map<String, serde_json::Value>,
    ) -> Result<CallToolResult, String> {
        let mut call = self.connection.questions().begin(by, user);
        let mut calling = std::pin::pin!(self.call(tool, arguments));
        loop {
            tokio::select! {
                biased;
                answer = &mut calling => return answer,
                said = call.next_news() => sink.emit(TurnEvent::StepProgress(said)).await,
            }
            // Further news wait; the newest stands for all.
            tokio::select! {
                biased;
                answer = &mut calling => return answer,
                () = sleep(NEWS_PAUSE) => {}
            }
        }
    }

    /// Calls a tool. Dropping the future cancels the call.
    ///
    /// # Errors
    /// A sentence: the server ended, or refused.
    pub async fn call(
        &self,
        tool: &str,
        arguments: serde_json::Map<String, serde_json::Value>,
    ) -> Result<CallToolResult, String> {
        let request = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let mut asking = std::pin::pin!(self.connection.ask().call_tool(request));
        loop {
            match timeout(CALL_LIMIT, &mut asking).await {
                Err(_) if self.connection.questions().has_moved() => {}
                answer => return self.slot.answer(&self.connection, answer),
            }
        }
    }
}

/// Waits until the server was idle for `idle`, with one timer that is due, and stops it.
async fn stop_when_idle(slot: Arc<Slot>, idle: Duration) {
    loop {
        let due = slot.last_used().map_or_else(Instant::now, |used| used + idle);
        sleep_until(due).await;
        let mut state = slot.state.lock().await;
        let Some(connection) = &state.connection else { return };
        let is_idle = slot.last_used().is_none_or(|used| used.elapsed() >= idle) && Arc::strong_count(connection) == 1;
        if !is_idle && !connection.is_over() {
            slot.touch();
            continue;
        }
        let connection = state.connection.take().and_then(Arc::into_inner);
        drop(state);
        if let Some(connection) = connection {
            connection.stop().await;
        }
        return;
    }
}

impl Slot {
    /// The reason of a refusal; keeps what the server wants of a sign-in.
    fn told(&self, Refused { reason, challenge }: Refused) -> String {
        *self.challenge.lock().unwrap_or_else(PoisonError::into_inner) = challenge;
        reason
    }

    fn touch(&self) {
        *self.last_used.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    fn last_used(&self) -> Option<Instant> {
        *self.last_used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn known(&self) -> Option<Arc<Listing>> {
        let known = self.tools.lock().unwrap_or_else(PoisonError::into_inner);
        known.as_ref().map(|known| Arc::clone(&known.tools))
    }

    /// The tools that this connection listed last.
    fn listed_by(&self, connection: &Arc<Connection>) -> Option<Arc<Listing>> {
        let known = self.tools.lock().unwrap_or_else(PoisonError::into_inner);
        known.as_ref().filter(|known| known.is_of(connection)).map(|known| Arc::clone(&known.tools))
    }

    fn forget(&self) {
        *self.tools.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Whether the server runs and has not listed its tools as they are now.
    async fn has_news(&self) -> bool {
        let state = self.state.lock().await;
        state.connection.as_ref().is_some_and(|connection| self.listed_by(connection).is_none())
    }

    async fn read_tools(&self, connection: &Arc<Connection>) -> Result<Arc<Listing>, String> {
        let revision = connection.revision();
        let listed = listing::read(connection).await.map_err(|refused| self.told(refused))?;
        let tools = Arc::new(listed);
        let known = Known { tools: Arc::clone(&tools), connection: Arc::downgrade(connection), revision };
        *self.tools.lock().unwrap_or_else(PoisonError::into_inner) = Some(known);
        self.touch();
        Ok(tools)
    }

    /// A server that answers works: the pause after its next failure is the first one again.
    fn forget_failures(&self) {
        // While it is being started again, that start decides.
        if let Ok(mut state) = self.state.try_lock() {
            state.failures = 0;
        }
    }

    /// The answer to a request, or why there is none.
    pub(crate) fn answer<T>(
        &self,
        connection: &Connection,
        answer: Result<Result<T, ServiceError>, Elapsed>,
    ) -> Result<T, String> {
        self.touch();
        if matches!(answer, Ok(Ok(_) | Err(ServiceError::McpError(_)))) {
            self.forget_failures();
        }
        match answer {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => Err(self.told(connection.refused(&error))),
            Err(_) => Err(start_error::too_slow(CALL_LIMIT)),
        }
    }

    async fn stop(&self) {
        let connection = self.state.lock().await.connection.take().and_then(Arc::into_inner);
        if let Some(connection) = connection {
            connection.stop().await;
        }
    }
}

impl SlotState {
    fn fail(&mut self, reason: String) {
        self.failures = self.failures.saturating_add(1);
        self.failed = Some((Instant::now(), reason));
    }

    fn pause(&self) -> Duration {
        FIRST_PAUSE.saturating_mul(1 << self.failures.saturating_sub(1).min(10)).min(LONGEST_PAUSE)
    }

    /// # Errors
    /// It failed a moment ago.
    fn may_start(&self) -> Result<(), String> {
        let Some((at, reason)) = &self.failed else { return Ok(()) };
        let left = self.pause().saturating_sub(at.elapsed());
        match left.is_zero() {
            true => Ok(()),
            false => Err(format!("{reason}; it can be tried again in {} s", left.as_secs() + 1)),
        }
    }
}

/// Servers of the same definition are one.
fn key(server: &Server) -> String {
    format!("{}\n{}", server.id(), server.digest())
}

#[cfg(test)]
#[path = "pool_tests.rs"]
mod tests;
