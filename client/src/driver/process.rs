//! Process-wide setup: panic messages, the home folder and the approval mode.

use std::{
    io,
    path::PathBuf,
    sync::{Arc, Mutex},
};

use cohab_daemon_link::{attach_environment, config::Config};
use cohab_protocol::ApprovalMode;

/// A panic's message would be printed while the terminal is raw; it is kept until the terminal is restored.
pub(super) fn catch_panic_messages() -> Arc<Mutex<String>> {
    let kept = Arc::new(Mutex::new(String::new()));
    let keep = Arc::clone(&kept);
    std::panic::set_hook(Box::new(move |info| {
        if let Ok(mut message) = keep.lock() {
            *message = info.to_string();
        }
    }));
    kept
}

/// The user's home with links resolved: the shell reports its folder so, too.
pub(super) fn home() -> PathBuf {
    let home = std::env::home_dir().unwrap_or_else(|| "/".into());
    home.canonicalize().unwrap_or(home)
}

/// What may run unasked: the environment says, or the settings.
pub(super) fn approval_mode(config: &Config) -> io::Result<ApprovalMode> {
    let variable = std::env::var("COHAB_APPROVAL").ok();
    attach_environment::approval_mode(None, variable.as_deref(), config.approval_mode.as_deref())
        .map_err(io::Error::other)
}
