//! Opens, loses and replaces the connection to the daemon.

use cohab_conversation::event::Event;
use cohab_daemon_link::connection::{ConnectError, Link, LinkEvent};
use cohab_protocol::{Attach, ClientMessage, SessionKey, WireErrorKind};

use super::{Driver, state::link::Daemon};

impl Driver {
    pub(super) fn on_link(&mut self, event: Option<LinkEvent>) {
        match event {
            Some(LinkEvent::Up(attached)) => {
                self.daemon.is_up = true;
                self.daemon.is_refused = false;
                self.daemon.session_before = None;
                self.daemon.attach.session.clone_from(&attached.session);
                let terminal = self.daemon.terminal.clone();
                // A link that is down by now says so itself.
                let _ = self.daemon.link.as_mut().map(|link| link.send(ClientMessage::AwaitFirings { terminal }));
                self.handle(Event::LinkUp(attached));
            }
            Some(LinkEvent::Message(message)) => self.handle(Event::Daemon(message)),
            Some(LinkEvent::Down(error)) if self.daemon.is_up && !matches!(error, ConnectError::Goodbye(_)) => {
                self.daemon.link = None;
                self.daemon.is_up = false;
                self.handle(Event::LinkLost);
            }
            Some(LinkEvent::Down(ConnectError::NotRunning)) if self.daemon.wanted == Daemon::LookedFor => {
                self.daemon.link = None;
                self.handle(Event::DaemonAbsent);
            }
            Some(LinkEvent::Down(error)) => {
                let is_other_build =
                    matches!(&error, ConnectError::Refused(error) if error.kind == WireErrorKind::Version);
                self.daemon.is_refused |= is_other_build;
                self.lose_link(error.to_string(), error.hint());
            }
            None => self.daemon.link = None,
        }
    }

    /// Begins to connect.
    pub(super) fn open_link(&mut self, attach: Attach, wanted: Daemon) {
        self.daemon.wanted = wanted;
        self.daemon.is_up = false;
        let may_start = wanted == Daemon::Started && !self.daemon.is_refused;
        self.daemon.link = Some(Link::open(self.paths.clone(), attach, may_start));
    }

    pub(super) fn lose_link(&mut self, message: String, hint: String) {
        self.daemon.link = None;
        self.daemon.is_up = false;
        if let Some(session) = self.daemon.session_before.take() {
            self.daemon.attach.session = session;
            return self.handle(Event::NotJoined { message, hint });
        }
        self.handle(Event::LinkDown { message, hint });
    }

    /// Leaves the session for this one; comes back to it if that cannot be.
    pub(super) fn join(&mut self, session: SessionKey) {
        let before = std::mem::replace(&mut self.daemon.attach.session, session);
        self.daemon.session_before.get_or_insert(before);
        self.open_link(self.daemon.attach.clone(), Daemon::Started);
    }
}
