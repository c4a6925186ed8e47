//! The connection to the daemon as the driver sees it, and the session that it is attached to.

use cohab_daemon_link::{
    attach_environment,
    connection::{Link, LinkEvent},
};
use cohab_protocol::{ApprovalMode, Attach, EnvSetting, SessionKey};

/// What is wanted of the daemon by one who connects to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Daemon {
    /// Nothing, if it does not run.
    #[default]
    LookedFor,
    /// What only the one that runs can give.
    Needed,
    /// It is started if it does not run.
    Started,
}

/// The way to the daemon, and how this shell is attached.
pub struct DaemonLink {
    pub link: Option<Link>,
    /// The name of this terminal, for what was made in it: the session that this shell would have for itself.
    pub terminal: SessionKey,
    pub attach: Attach,
    /// The session to go back to if the one of `attach` cannot be joined.
    pub session_before: Option<SessionKey>,
    /// Settings of `attach` as the shell began.
    pub initial_settings: Vec<EnvSetting>,
    pub is_up: bool,
    pub wanted: Daemon,
    /// The daemon was of another build. This one must not start its own in the place of that.
    pub is_refused: bool,
}

impl DaemonLink {
    /// Not connected yet. This shell joins the session of this id, else one of its own; if that of the id cannot be joined, there is one
    /// to go back to.
    pub fn new(
        fresh: SessionKey,
        id: Option<String>,
        shell: &str,
        approval: ApprovalMode,
        has_lock: bool,
        model: Vec<(String, String)>,
        key_variables: &[String],
    ) -> Self {
        let terminal = fresh.clone();
        let wanted = id.map(|id| SessionKey::of_resumed(&id));
        let session_before = wanted.is_some().then(|| fresh.clone());
        let settings = attach_environment::model_variables(attach_environment::environment(), model, key_variables);
        let attach = Attach {
            session: wanted.unwrap_or(fresh),
            live_shell: Some(shell.to_owned()),
            approval,
            can_approve: true,
            has_lock,
            settings: settings.clone(),
            environment: attach_environment::shell_environment(attach_environment::environment(), key_variables),
            resume: None,
        };
        Self {
            link: None,
            terminal,
            attach,
            session_before,
            initial_settings: settings,
            is_up: false,
            wanted: Daemon::default(),
            is_refused: false,
        }
    }

    /// The next event of the link; never, without one.
    pub async fn next(&mut self) -> Option<LinkEvent> {
        match &mut self.link {
            Some(link) => link.next().await,
            None => std::future::pending().await,
        }
    }
}
