//! Opens, loses and replaces the connection to the daemon.

use cohab_conversation::event::Event;
use cohab_daemon_link::connection::{ConnectError, Link, LinkEvent};
use cohab_protocol::{Attach, SessionKey, WireErrorKind};

use super::{Driver, state::link::Daemon};

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
