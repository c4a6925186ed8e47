//! The connection to the daemon as the driver sees it, and the session that it is attached to.

use cohab_protocol::{ApprovalMode, Attach, SessionKey};

use crate::attach_environment;

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

/// How far the way to the daemon is.
#[derive(Debug, Default)]
pub struct LinkState {
    pub is_up: bool,
    pub wanted: Daemon,
    /// The daemon was of another build. This one must not start its own in the place of that.
    pub is_refused: bool,
}

/// How this shell joins: the session of this id, else one of its own; and the one to go back to if that of the id cannot be joined.
pub fn attach(
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
