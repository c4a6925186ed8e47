//! What concerns the whole process.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex},
};

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

/// The user's home with links resolved: the shell tells its folder so, too.
pub(super) fn home() -> PathBuf {
    let home = std::env::home_dir().unwrap_or_else(|| "/".into());
    home.canonicalize().unwrap_or(home)
}
