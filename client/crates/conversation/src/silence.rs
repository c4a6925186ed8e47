//! The warning about a daemon that does not accept a question. It accepts one before it does anything slow, so a slow model never causes
//! the warning.

use std::time::Duration;

/// How long the daemon may take to accept a question before the user is warned.
pub const SILENCE_LIMIT: Duration = Duration::from_millis(4_500);
/// The warning.
pub const SILENCE: &str = "The daemon has not taken the question yet: it hangs, or this machine is very busy. Ctrl-C gives up; `cohab \
                           daemon restart` starts another daemon.";
