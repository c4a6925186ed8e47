//! The connection to the daemon as the driver sees it, and the session that it is attached to.

use cohab_daemon_link::connection::{ConnectError, Link, LinkEvent};
use cohab_protocol::{ApprovalMode, Attach, SessionKey, WireErrorKind};

use super::Driver;
use crate::{attach_environment, event::Event};

/// What is wanted of the daemon by one who connects to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Daemon {
    /// Nothing, if it does not run.
    #[default]
    LookedFor,
    /// What only the one that runs can give.
    Needed,
    /// It is started if it does not run.
    Started,
}

/// How far the way to the daemon is.
#[derive(Debug, Default)]
pub(super) struct LinkState {
    pub is_up: bool,
    wanted: Daemon,
    /// The daemon was of another build. This one must not start its own in the place of that.
    is_refused: bool,
}

/// How this shell joins: the session of this id, else one of its own; and the one to go back to if that of the id cannot be joined.
pub(super) fn attach(
    id: Option<String>,
    shell: &str,
    approval: ApprovalMode,
    has_lock: bool,
    model: Vec<(String, String)>,
    key_variables: &[String],
) -> (Attach, Option<SessionKey>) {
    let fresh = SessionKey(format!("shell:{}", uuid::Uuid::now_v7().as_simple()));
    let wanted = id.map(|id| SessionKey(format!("resume:{id}")));
    let before = wanted.is_some().then(|| fresh.clone());
    let attach = Attach {
        session: wanted.unwrap_or(fresh),
        live_shell: Some(shell.to_owned()),
        approval,
        can_approve: true,
        has_lock,
        settings: attach_environment::model_variables(attach_environment::environment(), model, key_variables),
        environment: attach_environment::shell_environment(attach_environment::environment(), key_variables),
        resume: None,
    };
    (attach, before)
}

impl Driver {
    pub(super) fn on_link(&mut self, event: Option<LinkEvent>) {
        match event {
            Some(LinkEvent::Up(attached)) => {
                self.link_state.is_up = true;
                self.link_state.is_refused = false;
                self.session_before = None;
                self.attach.session.clone_from(&attached.session);
                self.handle(Event::LinkUp(attached));
            }
            Some(LinkEvent::Message(message)) => self.handle(Event::Daemon(message)),
            Some(LinkEvent::Down(error)) if self.link_state.is_up && !matches!(error, ConnectError::Goodbye(_)) => {
                self.link = None;
                self.link_state.is_up = false;
                self.handle(Event::LinkLost);
            }
            Some(LinkEvent::Down(ConnectError::NotRunning)) if self.link_state.wanted == Daemon::LookedFor => {
                self.link = None;
                self.handle(Event::DaemonAbsent);
            }
            Some(LinkEvent::Down(error)) => {
                let is_other_build =
                    matches!(&error, ConnectError::Refused(error) if error.kind == WireErrorKind::Version);
                self.link_state.is_refused |= is_other_build;
                self.lose_link(error.to_string(), error.hint());
            }
            None => self.link = None,
        }
    }

    /// Begins to connect.
    pub(super) fn open_link(&mut self, attach: Attach, wanted: Daemon) {
        self.link_state.wanted = wanted;
        self.link_state.is_up = false;
        let may_start = wanted == Daemon::Started && !self.link_state.is_refused;
        self.link = Some(Link::open(self.paths.clone(), attach, may_start));
    }

    pub(super) fn lose_link(&mut self, message: String, hint: String) {
        self.link = None;
        self.link_state.is_up = false;
        if let Some(session) = self.session_before.take() {
            self.attach.session = session;
            return self.handle(Event::NotJoined { message, hint });
        }
        self.handle(Event::LinkDown { message, hint });
    }

    /// Leaves the session for this one; comes back to it if that cannot be.
    pub(super) fn join(&mut self, session: SessionKey) {
        let before = std::mem::replace(&mut self.attach.session, session);
        self.session_before.get_or_insert(before);
        self.open_link(self.attach.clone(), Daemon::Started);
    }
}
