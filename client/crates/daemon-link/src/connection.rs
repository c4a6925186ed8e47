//! Connects to the daemon: finds or starts it, shakes hands, attaches, then carries messages both ways.

use std::{
    collections::VecDeque,
    future::poll_fn,
    io,
    path::{Path, PathBuf},
    pin::Pin,
    process::{ExitStatus, Stdio},
    task::{Context, Poll, ready},
    time::Duration,
};

use cohab_protocol::{
    Attach, Attached, BUILD, ClientMessage, DaemonMessage, ErrorSubject, FrameCodec, FrameError, HANDSHAKE_TIMEOUT_MS,
    HOME_VARIABLE, Hello, Misfit, PROTOCOL_VERSION, Paths, RequestId, SCHEMA_HASH, SessionAction, SessionAnswer,
    SessionRequest, WireError, WireErrorKind, socket::SocketError,
};
use cohab_secrets::secret_names::{Use, holds_secret};
use futures::{FutureExt, Sink, SinkExt, StreamExt};
use tokio::{
    net::UnixStream,
    process::{Child, Command},
    sync::oneshot,
    time,
};
use tokio_util::codec::Framed;

use crate::config;

/// How long a daemon that was just started may take to listen.
const START_TIMEOUT_MS: u64 = 3_000;
/// One that ends before it listens, because somebody killed it, say, is started again; so often in all.
const STARTS: u32 = 2;
/// First and longest pause between two looks whether it listens.
const START_POLL_MS: (u64, u64) = (1, 50);
/// A daemon that is just ending may still be connected to; so often, and with this pause, the next one is looked for.
const DYING_DAEMON_TRIES: u32 = 3;
const DYING_DAEMON_PAUSE: Duration = Duration::from_millis(50);
/// Messages that wait for the daemon to read them; more means it hangs.
const OUTGOING_MESSAGES: usize = 256;

/// A connection after the handshake.
pub type Frames = Framed<UnixStream, FrameCodec<DaemonMessage, ClientMessage>>;

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// No daemon listens, and starting was not asked for.
    #[error("the daemon is not running")]
    NotRunning,
    /// The daemon's program is missing or cannot be started.
    #[error("{} cannot be started: {source}", program.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// It takes connections and does not greet.
    #[error("the daemon does not answer")]
    NoAnswer,
    /// The one that we started lives and does not answer.
    #[error("the daemon was started but does not answer")]
    StartedInVain,
    /// Those that we started ended before they listened.
    #[error("the daemon was started but ended at once ({0})")]
    EndedAtOnce(ExitStatus),
    /// The socket is not safe or not usable.
    #[error(transparent)]
    Socket(#[from] SocketError),
    /// The other side broke the protocol.
    #[error("the daemon broke the protocol: {0}")]
    Frame(#[from] FrameError),
    /// The other side ended the connection in order.
    #[error("{0}")]
    Goodbye(String),
    /// The other side refused us.
    #[error("{}", .0.message)]
    Refused(WireError),
}

impl ConnectError {
    /// What the user can do.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::NotRunning => "start it with `cohab daemon start`".into(),
            Self::Start { .. } => "install `cohabd` next to `cohab` or in a folder of $PATH".into(),
            Self::NoAnswer => {
                "`cohab daemon logs` may say why; `cohab daemon restart` ends it and starts another".into()
            }
            Self::StartedInVain | Self::EndedAtOnce(_) => "`cohab daemon logs` may say why".into(),
            Self::Socket(_) => "set COHAB_HOME or XDG_RUNTIME_DIR to a folder of your own".into(),
            Self::Goodbye(_) => "ask again; that connects again".into(),
            Self::Frame(_) => "run `cohab daemon restart`".into(),
            Self::Refused(error) => error.hint.clone().unwrap_or_else(|| "run `cohab daemon restart`".into()),
        }
    }
}

/// Connects and shakes hands. With `may_start`, a daemon that does not run is started first.
///
/// # Errors
/// See [`ConnectError`].
pub async fn open(paths: &Paths, may_start: bool) -> Result<Frames, ConnectError> {
    let mut tries_left = DYING_DAEMON_TRIES;
    loop {
        match open_once(paths, may_start).await {
            // It ended between our call and its greeting; the next one is another.
            Err(ConnectError::Frame(FrameError::Io(_))) if may_start && tries_left > 0 => {
                tries_left -= 1;
                time::sleep(DYING_DAEMON_PAUSE).await;
            }
            opened => return opened,
        }
    }
}

async fn open_once(paths: &Paths, may_start: bool) -> Result<Frames, ConnectError> {
    let socket = paths.socket();
    match cohab_protocol::socket::connect(&socket).await {
        Ok(stream) => shake_hands(stream).await,
        Err(error) if is_absent(&error) && may_start => {
            // A folder that cannot be made is reported at once, not by a daemon that never answers.
            socket.parent().map_or(Ok(()), cohab_protocol::socket::secure_directory)?;
            match shake_hands(start_and_wait(paths, &socket).await?).await {
                Err(ConnectError::NoAnswer) => Err(ConnectError::StartedInVain),
                answered => answered,
            }
        }
        Err(error) if is_absent(&error) => Err(ConnectError::NotRunning),
        Err(error) => Err(error.into()),
    }
}

fn is_absent(error: &SocketError) -> bool {
    matches!(error, SocketError::Io { source, .. }
        if matches!(source.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused))
}

/// Starts a daemon and waits until one listens: ours, or another that was first.
async fn start_and_wait(paths: &Paths, socket: &Path) -> Result<UnixStream, ConnectError> {
    let deadline = time::Instant::now() + Duration::from_millis(START_TIMEOUT_MS);
    let (mut pause_ms, longest_ms) = START_POLL_MS;
    let mut started = Some(start_daemon(paths)?);
    let mut starts_left = STARTS - 1;
    let mut failed = None;
    loop {
        match cohab_protocol::socket::connect(socket).await {
            Ok(stream) => return Ok(stream),
            Err(error) if !is_absent(&error) => return Err(error.into()),
            Err(_) => {}
        }
        if let Some(status) = failed.take() {
            starts_left = starts_left.checked_sub(1).ok_or(ConnectError::EndedAtOnce(status))?;
            started = Some(start_daemon(paths)?);
        }
        if time::Instant::now() >= deadline {
            return Err(ConnectError::StartedInVain);
        }
        tokio::select! {
            ended = end_of(&mut started) => {
                started = None;
                // One that ended in order has found another daemon, which is waited for.
                failed = ended.ok().filter(|status| !status.success());
            }
            () = time::sleep(Duration::from_millis(pause_ms)) => {}
        }
        pause_ms = (pause_ms * 2).min(longest_ms);
    }
}

/// The end of the daemon that was started; never, without one. Cancel-safe.
async fn end_of(started: &mut Option<Child>) -> io::Result<ExitStatus> {
    match started {
        Some(child) => child.wait().await,
        None => std::future::pending().await,
    }
}

/// Starts the daemon in a session of its own, deaf and mute: it logs to its file and outlives this terminal.
fn start_daemon(paths: &Paths) -> Result<Child, ConnectError> {
    let program = daemon_program();
    let mut command = Command::new(&program);
    command.args(["run", "--detach"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.current_dir("/");
    if let Some(home) = Paths::home_from_env() {
        command.env(HOME_VARIABLE, home);
    }
    // Keys travel with `Attach`, from the shell that asks; the daemon's own environment stays free of them.
    let key_variables = config::load(&paths.config_file()).key_variables;
    let is_key = |name: &str| holds_secret(name, Use::Inherit) || key_variables.iter().any(|variable| variable == name);
    for (name, _) in std::env::vars_os().filter(|(name, _)| is_key(&name.to_string_lossy())) {
        command.env_remove(name);
    }
    // When the handle is dropped the runtime reaps the child, should it end before us.
    command.spawn().map_err(|source| ConnectError::Start { program, source })
}

/// `cohabd` next to our own program, else by `$PATH`.
#[must_use]
pub fn daemon_program() -> PathBuf {
    let beside = std::env::current_exe().ok().and_then(|own| Some(own.parent()?.join("cohabd")));
    beside.filter(|path| path.is_file()).unwrap_or_else(|| "cohabd".into())
}

async fn shake_hands(stream: UnixStream) -> Result<Frames, ConnectError> {
    let mut frames = Framed::new(stream, FrameCodec::new());
    let hello = Hello {
        protocol_version: PROTOCOL_VERSION,
        schema_hash: SCHEMA_HASH,
        build: BUILD.into(),
        pid: std::process::id(),
    };
    let exchange = async {
        frames.send(ClientMessage::Hello(hello)).await?;
        frames.next().await.unwrap_or_else(|| Err(closed()))
    };
    let limit = Duration::from_millis(HANDSHAKE_TIMEOUT_MS);
    let answer = time::timeout(limit, exchange).await.map_err(|_| ConnectError::NoAnswer)??;
    match answer {
        DaemonMessage::Welcome(welcome)
            if welcome.protocol_version == PROTOCOL_VERSION && welcome.schema_hash == SCHEMA_HASH =>
        {
            frames.codec_mut().handshake_done();
            Ok(frames)
        }
        DaemonMessage::Welcome(welcome) => {
            let Misfit { message, hint } = Misfit::between(BUILD, &welcome.build);
            let (about, kind) = (ErrorSubject::Connection, WireErrorKind::Version);
            Err(ConnectError::Refused(WireError { about, kind, message, hint: Some(hint) }))
        }
        DaemonMessage::Error(error) => Err(ConnectError::Refused(error)),
        other => Err(FrameError::Decode(format!("unexpected answer to the handshake: {other:?}")).into()),
    }
}

fn closed() -> FrameError {
    FrameError::Io(io::ErrorKind::UnexpectedEof.into())
}

/// Sends one request and waits for its answer; other messages meanwhile are dropped.
///
/// # Errors
/// `Refused` if the daemon answers with an error, `Frame` if the connection breaks.
pub async fn request(frames: &mut Frames, action: SessionAction) -> Result<SessionAnswer, ConnectError> {
    let request_id = RequestId(1);
    frames.send(ClientMessage::SessionRequest(SessionRequest { request_id, action })).await?;
    loop {
        match frames.next().await.unwrap_or_else(|| Err(closed()))? {
            DaemonMessage::SessionReply(reply) if reply.request_id == request_id => return Ok(reply.answer),
            DaemonMessage::Error(error) => return Err(ConnectError::Refused(error)),
            DaemonMessage::Goodbye { reason } => return Err(ConnectError::Goodbye(reason)),
            _ => {}
        }
    }
}

/// Connects and joins a session.
///
/// # Errors
/// As [`open`] and [`request`].
pub async fn open_session(paths: &Paths, attach: Attach, may_start: bool) -> Result<(Frames, Attached), ConnectError> {
    let mut frames = open(paths, may_start).await?;
    match request(&mut frames, SessionAction::Attach(attach)).await? {
        SessionAnswer::Attached(attached) => Ok((frames, attached)),
        other => Err(FrameError::Decode(format!("unexpected answer to Attach: {other:?}")).into()),
    }
}

/// What happens on the way to the daemon.
#[derive(Debug)]
pub enum LinkEvent {
    /// Connected and attached.
    Up(Attached),
    /// The daemon said something.
    Message(Box<DaemonMessage>),
    /// There is no connection (any more). The link is used up.
    Down(ConnectError),
}

/// A connection that is being made or stands. Dropping it closes the connection.
#[derive(Debug)]
pub struct Link {
    state: LinkState,
    /// What the daemon has not taken yet.
    outgoing: VecDeque<ClientMessage>,
}

#[derive(Debug)]
enum LinkState {
    /// A task of its own connects.
    Opening(oneshot::Receiver<Result<(Frames, Attached), ConnectError>>),
    Up(Box<Frames>),
    Down,
}

impl Link {
    /// Begins to connect, to start the daemon if need be and allowed, and to attach. Returns at once.
    #[must_use]
    pub fn open(paths: Paths, attach: Attach, may_start: bool) -> Self {
        let (opened, opening) = oneshot::channel();
        tokio::spawn(async move {
            // The receiver may be gone; then the connection is not needed.
            let _ = opened.send(open_session(&paths, attach, may_start).await);
        });
        Self { state: LinkState::Opening(opening), outgoing: VecDeque::new() }
    }

    /// Sends a message as far as that is possible without waiting, and queues the rest. False if the daemon does not take any more: the
    /// link is as good as down.
    #[must_use]
    pub fn send(&mut self, message: ClientMessage) -> bool {
        if self.outgoing.len() >= OUTGOING_MESSAGES || matches!(self.state, LinkState::Down) {
            return false;
        }
        self.outgoing.push_back(message);
        // An error shows again when waiting.
        let _ = poll_fn(|context| self.poll_send(context)).now_or_never();
        true
    }

    /// The next event. Cancel-safe. `None` after `Down`.
    pub async fn next(&mut self) -> Option<LinkEvent> {
        let event = match &mut self.state {
            LinkState::Down => return None,
            LinkState::Opening(opening) => match opening.await {
                Ok(Ok((frames, attached))) => {
                    self.state = LinkState::Up(Box::new(frames));
                    return Some(LinkEvent::Up(attached));
                }
                Ok(Err(error)) => Err(error),
                Err(_) => Err(ConnectError::NotRunning),
            },
            LinkState::Up(_) => poll_fn(|context| self.poll_carry(context)).await,
        };
        if event.is_err() {
            self.state = LinkState::Down;
        }
        Some(event.unwrap_or_else(LinkEvent::Down))
    }

    /// Carries messages until one has come, or the connection has ended.
    fn poll_carry(&mut self, context: &mut Context<'_>) -> Poll<Result<LinkEvent, ConnectError>> {
        let sent = self.poll_send(context);
        let LinkState::Up(frames) = &mut self.state else { return Poll::Pending };
        match (frames.poll_next_unpin(context), sent) {
            (Poll::Ready(Some(Ok(DaemonMessage::Goodbye { reason }))), _) => {
                Poll::Ready(Err(ConnectError::Goodbye(reason)))
            }
            (Poll::Ready(Some(Ok(message))), _) => Poll::Ready(Ok(LinkEvent::Message(Box::new(message)))),
            (Poll::Ready(None), _) => Poll::Ready(Err(ConnectError::NotRunning)),
            // What the daemon said last comes before the error of a message that it did not take.
            (Poll::Ready(Some(Err(error))), _) | (Poll::Pending, Poll::Ready(Err(error))) => {
                Poll::Ready(Err(error.into()))
            }
            (Poll::Pending, _) => Poll::Pending,
        }
    }

    /// Sends what waits.
    fn poll_send(&mut self, context: &mut Context<'_>) -> Poll<Result<(), FrameError>> {
        let LinkState::Up(frames) = &mut self.state else { return Poll::Pending };
        let mut frames = Pin::new(frames.as_mut());
        while !self.outgoing.is_empty() {
            ready!(Sink::<ClientMessage>::poll_ready(frames.as_mut(), context))?;
            if let Some(message) = self.outgoing.pop_front() {
                frames.as_mut().start_send(message)?;
            }
        }
        Sink::<ClientMessage>::poll_flush(frames, context)
    }
}
