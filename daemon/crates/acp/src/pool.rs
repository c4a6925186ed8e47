//! The running agents: one for each session and name, started when it is first asked, kept for further questions, ended when it rests.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use cohab_model_api::ProviderErrorKind;
use cohab_protocol::Paths;
use cohab_shell_state::shell::Shell;
use serde_json::{Value, json};

use crate::{
    desk::Desk,
    door::Door,
    failure::{AgentFailure, refused, shown},
    find::Launch,
    known::{Agent, SERVER_MARK, SHIM_MARK},
    link::Link,
    mcp::OfferedShell,
    process::Process,
    saved::SavedSessions,
    shim,
    start::AgentStart,
    wire::{self, Initialized},
};

/// Time for an agent to introduce itself.
const INTRODUCTION: Duration = Duration::from_secs(30);
/// Time for it to begin a conversation: some look for servers and accounts first.
const BEGINNING: Duration = Duration::from_secs(90);
/// An agent that is not asked for this long is ended.
const REST: Duration = Duration::from_secs(900);
/// Most agents that run.
const MAX_AGENTS: usize = 16;

/// The running agents of a daemon.
pub struct AgentPool {
    places: AgentPlaces,
    /// One lock for each session and agent: a start takes its time.
    slots: Mutex<HashMap<Key, Arc<Slot>>>,
}

/// Where agents find what they need.
struct AgentPlaces {
    sockets: PathBuf,
    saved: SavedSessions,
    /// The program that connects an agent with the live shell.
    shim: Option<PathBuf>,
    home: PathBuf,
}

/// The session and the agent.
type Key = (String, String);

#[derive(Default)]
struct Slot {
    live: tokio::sync::Mutex<Option<Live>>,
    /// Number of its turns so far.
    turns: AtomicU64,
    /// Number of its turns that are not over.
    running: AtomicU64,
}

/// A running agent.
struct Live {
    link: Arc<Link>,
    agent: Agent,
    launch: Launch,
    _door: Option<Door>,
}

impl Live {
    /// Whether a start for this turn would start the same. An environment that changed meanwhile is no reason to lose a conversation.
    fn is_of(&self, turn: &AgentStart) -> bool {
        let command = |launch: &Launch| (launch.program.clone(), launch.args.clone());
        self.agent == turn.agent && command(&self.launch) == command(&turn.launch)
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.link.kill();
    }
}

/// What the first prompt of a conversation has in front, and sentences for the user.
#[derive(Debug, Default)]
pub(crate) struct Start {
    pub notices: Vec<String>,
    pub preface: Option<String>,
}

impl AgentPool {
    /// No agent runs yet. `shim` is the program whose `mcp-shell` connects an agent with the live shell.
    #[must_use]
    pub fn new(paths: &Paths, home: PathBuf, shim: Option<PathBuf>) -> Arc<Self> {
        let saved = SavedSessions::at(paths.state_dir.join("agents"));
        let places = AgentPlaces { sockets: paths.runtime_dir.join("agents"), saved, shim, home };
        Arc::new(Self { places, slots: Mutex::default() })
    }

    fn slots(&self) -> MutexGuard<'_, HashMap<Key, Arc<Slot>>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The home of the user.
    pub(crate) fn home(&self) -> &Path {
        &self.places.home
    }

    /// The program that connects an agent with the live shell, and that shares the shell.
    #[must_use]
    pub fn own_program(&self) -> Option<&Path> {
        self.places.shim.as_deref()
    }

    /// Ends the agents of a session whose conversation is over. If it was cleared, no later agent continues it.
    pub fn forget(&self, session: &str, is_cleared: bool) {
        let private = private_session(session);
        self.slots().retain(|(of, _), _| *of != session && *of != private);
        if is_cleared {
            self.places.saved.forget(session);
        }
    }

    /// The agent of a turn; starts it if it does not run. The first success of a turn has to be followed by one [`AgentPool::rest`].
    pub(crate) async fn connect(
        self: &Arc<Self>,
        turn: &AgentStart,
        is_first: bool,
    ) -> Result<(Arc<Link>, Start), AgentFailure> {
        let key = key(turn);
        let slot = self.slot(&key, is_first)?;
        // A start that fails or is given up ends the turn, too.
        let mut failing = Failing { pool: self, key: is_first.then_some(key), is_private: turn.is_for_one_turn };
        let connected = self.connect_in(&slot, turn).await?;
        failing.key = None;
        Ok(connected)
    }

    async fn connect_in(&self, slot: &Slot, turn: &AgentStart) -> Result<(Arc<Link>, Start), AgentFailure> {
        let mut place = slot.live.lock().await;
        if let Some(live) = place.as_ref()
            && live.is_of(turn)
            && live.link.is_idle().await
            // It may have died while it was waited for.
            && !live.link.is_dead()
        {
            return Ok((Arc::clone(&live.link), Start::default()));
        }
        *place = None;
        let (live, start) = self.start(turn).await?;
        let link = Arc::clone(&live.link);
        *place = Some(live);
        Ok((link, start))
    }

    /// The place of an agent, with one more turn if this is the first that a turn sees of it.
    fn slot(&self, key: &Key, is_first: bool) -> Result<Arc<Slot>, AgentFailure> {
        let mut slots = self.slots();
        if !slots.contains_key(key) && slots.len() >= MAX_AGENTS {
            // One that answers nothing makes room.
            let resting = slots.iter().find(|(_, slot)| slot.rests()).map(|(key, _)| key.clone());
            let Some(resting) = resting else {
                let message = format!("{MAX_AGENTS} agents answer questions already");
                return Err(
                    AgentFailure::new(ProviderErrorKind::Overloaded, message).with_hint("ask again when one is done")
                );
            };
            slots.remove(&resting);
        }
        let slot = Arc::clone(slots.entry(key.clone()).or_default());
        slot.turns.fetch_add(1, Ordering::Relaxed);
        slot.running.fetch_add(u64::from(is_first), Ordering::Relaxed);
        Ok(slot)
    }

    /// A turn is over: the agent rests, and is ended if it is not asked again. One for this turn only is ended at once.
    pub(crate) fn rest(self: &Arc<Self>, turn: &AgentStart, link: &Link) {
        self.turn_ended(key(turn), turn.is_for_one_turn);
        if turn.is_for_one_turn {
            link.kill();
        }
    }

    fn turn_ended(self: &Arc<Self>, key: Key, is_private: bool) {
        let (slot, turns) = {
            let mut slots = self.slots();
            // It was forgotten meanwhile.
            let Some(slot) = slots.get(&key) else { return };
            // A slot that was made again knows nothing of this turn.
            let _ = slot.running.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |running| running.checked_sub(1));
            let turns = slot.turns.load(Ordering::Relaxed);
            // A timer must not keep alive what makes room for others.
            let slot = Arc::downgrade(slot);
            if is_private {
                slots.remove(&key);
                return;
            }
            (slot, turns)
        };
        let pool = Arc::downgrade(self);
        // Without a runtime the daemon ends.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        runtime.spawn(async move {
            tokio::time::sleep(REST).await;
            if let Some(pool) = pool.upgrade() {
                pool.end_unasked(&key, &slot, turns);
            }
        });
    }

    /// Ends an agent that was not asked since it had this many turns.
    fn end_unasked(&self, key: &Key, slot: &Weak<Slot>, turns: u64) {
        let mut slots = self.slots();
        let is_same = slot.upgrade().is_some_and(|slot| {
            slots.get(key).is_some_and(|now| Arc::ptr_eq(now, &slot)) && slot.turns.load(Ordering::Relaxed) == turns
        });
        if is_same {
            slots.remove(key);
        }
    }

    async fn start(&self, turn: &AgentStart) -> Result<(Live, Start), AgentFailure> {
        let cwd = Some((turn.cwd)()).filter(|cwd| cwd.is_dir()).unwrap_or_else(|| self.places.home.clone());
        let name = &turn.agent.name;
        let failed = |error: std::io::Error| {
            let program = turn.launch.program.display();
            AgentFailure::new(ProviderErrorKind::Network, format!("@{name} cannot be started: {program}: {error}"))
        };
        let door = self.open_door(turn);
        let launch = self.with_door(&turn.launch, door.as_ref());
        let (process, pipes) = Process::start(&launch, &cwd).map_err(failed)?;
        let marked = turn.agent.with_server(door.as_ref().map(|door| door.offered().server.as_str()));
        let link = Link::over(name, process, pipes, Desk::new(marked));
        door.iter().for_each(|door| door.lead_to(&link));
        let servers = self.servers(door.as_ref(), &turn.agent);
        let preface = preface(&turn.agent, turn.shell, door.as_ref());
        // It is ended if anything below fails.
        let live =
            Live { link: Arc::clone(&link), agent: turn.agent.clone(), launch: turn.launch.clone(), _door: door };
        let initialized = introduce(&link).await?;
        let mut start = Start { notices: Vec::new(), preface: Some(preface) };
        let beginning = Beginning { turn, link: &link, initialized: &initialized, cwd: &cwd, servers };
        if !turn.is_for_one_turn && self.continue_conversation(&beginning, &mut start).await? {
            return Ok((live, start));
        }
        let session = beginning.begin().await?;
        link.set_session(&session);
        if !turn.is_for_one_turn {
            self.places.saved.keep(&turn.session, name, &session);
        }
        Ok((live, start))
    }

    /// Continues the conversation of an earlier daemon. False if there is none, or it cannot be continued, of which the user is told.
    async fn continue_conversation(&self, beginning: &Beginning<'_>, start: &mut Start) -> Result<bool, AgentFailure> {
        let name = &beginning.turn.agent.name;
        let Some(known) = self.places.saved.find(&beginning.turn.session, name) else { return Ok(false) };
        let capabilities = &beginning.initialized.agent_capabilities;
        let method = match (&capabilities.session_capabilities.resume, capabilities.load_session) {
            (Some(_), _) => Some("session/resume"),
            (None, true) => Some("session/load"),
            (None, false) => None,
        };
        if let Some(method) = method {
            let mut params = beginning.params();
            params["sessionId"] = known.clone().into();
            if beginning.link.request(method, &params, BEGINNING).await?.is_ok() {
                beginning.link.set_session(&known);
                return Ok(true);
            }
        }
        start.notices.push(format!("@{name} was started afresh and does not know what you asked it before."));
        Ok(false)
    }

    /// The socket of the live shell, if this daemon knows its own program.
    fn open_door(&self, turn: &AgentStart) -> Option<Door> {
        self.places.shim.as_ref()?;
        let offered = OfferedShell {
            shell: turn.shell.name(),
            server: server_name(),
            is_in_tool_names: turn.agent.hides_server,
            is_shared: turn.agent.is_host,
        };
        let opened = Door::open(&self.places.sockets, offered);
        opened.inspect_err(|error| tracing::warn!(%error, "the live shell cannot be offered to an agent")).ok()
    }

    /// The same start, with what an MCP server needs that the agent starts by its command line.
    fn with_door(&self, launch: &Launch, door: Option<&Door>) -> Launch {
        let (Some(shim), Some(door)) = (&self.places.shim, door) else { return launch.clone() };
        let mut launch = launch.clone();
        // It stands in a JSON text.
        let program = json!(shim).to_string();
        let program = program.trim_matches('"');
        let server = &door.offered().server;
        launch.args.iter_mut().for_each(|arg| *arg = arg.replace(SHIM_MARK, program).replace(SERVER_MARK, server));
        launch.environment.insert(shim::SOCKET_VARIABLE.to_owned(), door.path().display().to_string());
        launch.environment.insert(shim::TOKEN_VARIABLE.to_owned(), door.token().to_owned());
        launch
    }

    /// The live shell as an MCP server, for `session/new`.
    fn servers(&self, door: Option<&Door>, agent: &Agent) -> Value {
        let (Some(shim), Some(door), false) = (&self.places.shim, door, agent.has_server_in_args()) else {
            return json!([]);
        };
        json!([{
            "name": door.offered().server,
            "command": shim,
            "args": ["mcp-shell", "--socket", door.path()],
            "env": [{"name": shim::TOKEN_VARIABLE, "value": door.token()}],
        }])
    }
}

impl Slot {
    /// Whether no turn of it runs. False while it starts.
    fn rests(&self) -> bool {
        self.running.load(Ordering::Relaxed) == 0
            && self.live.try_lock().is_ok_and(|live| live.as_ref().is_none_or(|live| !live.link.is_prompted()))
    }
}

/// A start that has not succeeded yet; ends the turn when it is dropped with a key.
struct Failing<'a> {
    pool: &'a Arc<AgentPool>,
    key: Option<Key>,
    is_private: bool,
}

impl Drop for Failing<'_> {
    fn drop(&mut self) {
        self.key.take().into_iter().for_each(|key| self.pool.turn_ended(key, self.is_private));
    }
}

/// A name for the MCP server of the live shell that no other server of the agent has.
fn server_name() -> String {
    let random = uuid::Uuid::new_v4().simple().to_string();
    format!("cohab-{}", &random[..12])
}

fn key(turn: &AgentStart) -> Key {
    let session = if turn.is_for_one_turn { private_session(&turn.session) } else { turn.session.clone() };
    (session, turn.agent.name.clone())
}

/// Stands for a session in the keys of agents that are for one turn.
fn private_session(session: &str) -> String {
    format!("{session} private")
}

/// A conversation that begins.
struct Beginning<'a> {
    turn: &'a AgentStart,
    link: &'a Link,
    initialized: &'a Initialized,
    cwd: &'a Path,
    servers: Value,
}

impl Beginning<'_> {
    fn params(&self) -> Value {
        let mut params = json!({"cwd": self.cwd, "mcpServers": self.servers});
        if let Some(meta) = &self.turn.agent.meta {
            params["_meta"] = meta.clone();
        }
        params
    }

    /// Begins it; signs in where that takes no more than a variable of the shell.
    async fn begin(&self) -> Result<String, AgentFailure> {
        let (agent, params) = (&self.turn.agent, self.params());
        let mut answer = self.link.request("session/new", &params, BEGINNING).await?;
        if answer.as_ref().is_err_and(|error| error.code == wire::AUTH_REQUIRED)
            && let Some(method) = self.sign_in()
        {
            let signed_in = self.link.request("authenticate", &json!({"methodId": method}), BEGINNING).await?;
            signed_in.map_err(|error| refused(agent, &error))?;
            answer = self.link.request("session/new", &params, BEGINNING).await?;
        }
        let result = answer.map_err(|error| refused(agent, &error))?;
        let session = result["sessionId"].as_str().filter(|session| !session.is_empty()).map(str::to_owned);
        session.ok_or_else(|| {
            AgentFailure::new(
                ProviderErrorKind::Protocol,
                format!("@{} began a conversation without a name", agent.name),
            )
        })
    }

    /// The way to sign in for which the shell has what it takes.
    fn sign_in(&self) -> Option<&str> {
        let offered = |method: &str| self.initialized.auth_methods.iter().any(|offered| offered.id == method);
        let is_set = |variable: &str| self.turn.launch.environment.get(variable).is_some_and(|value| !value.is_empty());
        let mut methods = self.turn.agent.sign_ins.iter();
        methods.find(|(method, variable)| offered(method) && is_set(variable)).map(|(method, _)| method.as_str())
    }
}

async fn introduce(link: &Link) -> Result<Initialized, AgentFailure> {
    let params = json!({
        "protocolVersion": wire::PROTOCOL_VERSION,
        "clientCapabilities": {"fs": {"readTextFile": true, "writeTextFile": true}, "terminal": true},
        "clientInfo": {"name": "cohab", "title": "cohab", "version": env!("CARGO_PKG_VERSION")},
    });
    let broken = |message: String| AgentFailure::new(ProviderErrorKind::Protocol, message);
    let answer = link.request("initialize", &params, INTRODUCTION).await?;
    let answer = answer.map_err(|error| broken(format!("@{}: {}", link.name, shown(&error.text()))))?;
    let initialized: Initialized = serde_json::from_value(answer)
        .map_err(|error| broken(format!("@{} introduced itself wrongly: {}", link.name, shown(&error.to_string()))))?;
    if initialized.protocol_version.as_u64() != Some(wire::PROTOCOL_VERSION) {
        let version = shown(&initialized.protocol_version.to_string());
        return Err(broken(format!(
            "@{} speaks version {version} of the Agent Client Protocol, and cohab speaks version {}",
            link.name,
            wire::PROTOCOL_VERSION
        )));
    }
    Ok(initialized)
}

/// What an agent has to know of the shell that it works in.
fn preface(agent: &Agent, shell: Shell, door: Option<&Door>) -> String {
    let own = match agent.own_shell {
        crate::known::OwnShell::Off => " A shell of your own is switched off.",
        crate::known::OwnShell::Asks | crate::known::OwnShell::Unknown => " Do not use a shell of your own.",
    };
    let how = match door.map(Door::offered) {
        Some(offered) => {
            let (run, server) = (offered.tool("run"), &offered.server);
            format!("with the tool `{run}` of the MCP server `{server}`, or in a terminal of your client: both run")
        }
        None => "in a terminal of your client: they run".to_owned(),
    };
    format!(
        "[You work through cohab in the user's own terminal. Run commands {how} in the user's live {} session, so `cd` and `export` stay for later commands and for the \
         user.{own} The user's policy judges each command; a refusal is the user's decision.]",
        shell.name()
    )
}
