//! Opens sessions for a front end: a connection to the daemon each, carried by a task each. Commands of such sessions run in a separate
//! shell in the daemon.

use cohab_daemon_link::{
    attach_environment::{approval_mode, attach_without_shell},
    config::{self, Config},
    connection::{ConnectError, Link, LinkEvent},
};
use cohab_protocol::{ApprovalMode, Attached, ClientMessage, DaemonMessage, Paths, SessionKey};
use tokio::sync::mpsc;

/// Messages to a session that wait for the connection.
const WAITING_MESSAGES: usize = 64;

/// What a front end wants of a session.
#[derive(Debug)]
pub struct Wishes {
    /// The daemon's name of the session.
    pub name: SessionKey,
    /// What may be done unasked.
    pub approval: ApprovalMode,
    /// The profile that chooses the model.
    pub profile: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// The messages to the session; it closes when the sender is dropped.
    pub outgoing: mpsc::Receiver<ClientMessage>,
}

/// What came of a session.
#[derive(Debug)]
pub enum News {
    /// It is open.
    Opened(Box<Attached>),
    /// The daemon said something about it.
    Message(Box<DaemonMessage>),
    /// The connection is gone.
    Lost(ConnectError),
}

/// The way to a session. Dropping it closes the session.
#[derive(Debug)]
pub struct SessionHandle(mpsc::Sender<ClientMessage>);

impl SessionHandle {
    /// A way to a session that is not open yet, and its other end for [`Wishes::outgoing`].
    #[must_use]
    pub fn new() -> (Self, mpsc::Receiver<ClientMessage>) {
        let (sender, receiver) = mpsc::channel(WAITING_MESSAGES);
        (Self(sender), receiver)
    }

    /// Sends a message, without waiting. False if the session is gone, or takes no more.
    #[must_use]
    pub fn send(&self, message: ClientMessage) -> bool {
        self.0.try_send(message).is_ok()
    }
}

/// Opens sessions.
#[derive(Debug)]
pub struct Desk {
    paths: Paths,
    config: Config,
}

impl Desk {
    /// Reads the settings.
    #[must_use]
    pub fn new(paths: Paths) -> Self {
        let config = config::load(&paths.config_file());
        Self { paths, config }
    }

    /// The approval mode of a session that asks for none: by the environment and the settings.
    ///
    /// # Errors
    /// They name one that does not exist: a sentence.
    pub fn usual_approval(&self) -> Result<ApprovalMode, String> {
        let variable = std::env::var("COHAB_APPROVAL").ok();
        approval_mode(None, variable.as_deref(), self.config.approval_mode.as_deref())
    }

    /// Begins to open a session. What comes of it is sent to `news` with the session's `name`.
    pub fn open<T: Send + 'static>(
        &self,
        name: String,
        wishes: Wishes,
        news: mpsc::Sender<T>,
        wrap: fn(String, News) -> T,
    ) {
        let flags = [("COHAB_PROFILE", wishes.profile), ("COHAB_MODEL", wishes.model)];
        let flags = flags.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect();
        let attach = attach_without_shell(wishes.name, wishes.approval, true, flags, &self.config.key_variables);
        let link = Link::open(self.paths.clone(), attach, true);
        tokio::spawn(carry(link, wishes.outgoing, news, name, wrap));
    }
}

async fn carry<T>(
    mut link: Link,
    mut outgoing: mpsc::Receiver<ClientMessage>,
    news: mpsc::Sender<T>,
    name: String,
    wrap: fn(String, News) -> T,
) {
    loop {
        let what = tokio::select! {
            message = outgoing.recv() => match message {
                Some(message) => {
                    if link.send(message) {
                        continue;
                    }
                    News::Lost(ConnectError::NoAnswer)
                }
                None => return,
            },
            event = link.next() => match event {
                Some(LinkEvent::Up(attached)) => News::Opened(Box::new(attached)),
                Some(LinkEvent::Message(message)) => News::Message(message),
                Some(LinkEvent::Down(error)) => News::Lost(error),
                None => return,
            },
        };
        let is_over = matches!(what, News::Lost(_));
        if news.send(wrap(name.clone(), what)).await.is_err() || is_over {
            return;
        }
    }
}
