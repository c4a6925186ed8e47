//! Shows firings of watchers in the terminals of the daemon's sessions.

use std::sync::Arc;

use cohab_protocol::{DaemonMessage, NoticeKind, WatcherFired};

use crate::{
    convert,
    daemon::Daemon,
    firings::{FiringSource, Terminals},
};

impl Daemon {
    /// Passes on from now on which terminals come and what they have shown. The first call counts.
    pub fn serve_firings(&self, source: Arc<dyn FiringSource>) {
        // A daemon has one source.
        let _ = self.firings.set(source);
    }
}

impl Terminals for Daemon {
    fn show(&self, terminal: &str, fired: WatcherFired) -> bool {
        let Some(session) = self.terminal(terminal) else { return false };
        session.tell(DaemonMessage::WatcherFired(fired));
        true
    }

    fn say(&self, terminal: &str, line: String) -> bool {
        let Some(session) = self.terminal(terminal) else { return false };
        session.tell(convert::notice(None, NoticeKind::Info, line));
        true
    }

    fn is_there(&self, terminal: &str) -> bool {
        self.terminal(terminal).is_some()
    }
}

#[cfg(test)]
mod tests {
    use cohab_protocol::{ApprovalMode, Attach, SessionKey};
    use tokio_util::sync::CancellationToken;

    use crate::session::Session;

    #[test]
    fn a_terminal_is_that_of_the_client_that_says_so() {
        let session = Session::new(SessionKey("shell:2".into()));
        let attach = |connection| {
            let attach = Attach {
                session: SessionKey("shell:2".into()),
                live_shell: Some("bash".into()),
                approval: ApprovalMode::Ask,
                can_approve: true,
                has_lock: false,
                settings: Vec::new(),
                environment: Vec::new(),
                resume: None,
            };
            session.attach(attach, ApprovalMode::Ask, connection, CancellationToken::new());
        };
        session.await_firings(SessionKey("shell:1".into()));
        assert!(!session.shows_firings_of("shell:1"), "there is no client");
        attach(1);
        assert!(!session.shows_firings_of("shell:1"), "it has not said so");
        session.await_firings(SessionKey("shell:1".into()));
        attach(1);
        assert!(session.shows_firings_of("shell:1"), "the same client, with other settings");
        assert!(!session.shows_firings_of("shell:2"), "its session is not its terminal");
        attach(2);
        assert!(!session.shows_firings_of("shell:1"), "another client");
    }
}
