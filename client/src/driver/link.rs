//! The connection to the daemon as the driver sees it, and the session that it is attached to.

use cohab_protocol::{ApprovalMode, Attach, SessionKey};

use super::Driver;
use crate::{
    connection::{ConnectError, Link, LinkEvent},
    event::Event,
    session_settings,
};

/// How this shell joins: the session of this id, else one of its own; and the one to go back to if that of the id cannot be joined.
pub(super) fn attach(
    id: Option<String>,
    shell: &str,
    approval: ApprovalMode,
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
        settings: session_settings::model_variables(session_settings::environment(), model, key_variables),
        environment: session_settings::shell_environment(session_settings::environment(), key_variables),
        resume: None,
    };
    (attach, before)
}

impl Driver {
    pub(super) fn on_link(&mut self, event: Option<LinkEvent>) {
        match event {
            Some(LinkEvent::Up(attached)) => {
                self.is_link_up = true;
                self.session_before = None;
                self.attach.session.clone_from(&attached.session);
                self.handle(Event::LinkUp(attached));
            }
            Some(LinkEvent::Message(message)) => self.handle(Event::Daemon(message)),
            Some(LinkEvent::Down(error)) if self.is_link_up && !matches!(error, ConnectError::Goodbye(_)) => {
                self.link = None;
                self.is_link_up = false;
                self.handle(Event::LinkLost);
            }
            Some(LinkEvent::Down(error)) => self.lose_link(error.to_string(), error.hint()),
            None => self.link = None,
        }
    }

    pub(super) fn lose_link(&mut self, message: String, hint: String) {
        self.link = None;
        self.is_link_up = false;
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
        self.is_link_up = false;
        self.link = Some(Link::open(self.paths.clone(), self.attach.clone(), true));
    }
}
