//! Limits of a live shell: waits, and sizes.

use std::time::Duration;

/// After this time without a key the user does not type.
pub(super) const QUIET: Duration = Duration::from_millis(150);
/// A relay waits so long after the last key of a user who types.
pub(super) const TYPING_WAIT: Duration = Duration::from_secs(2);
/// The wait for the line at Enter. It takes about 1 ms; a machine under load may take long, and a question must not run as a command.
pub(super) const QUERY_WAIT: Duration = Duration::from_secs(1);
pub(super) const HIDE_MAX: Duration = Duration::from_secs(2);
/// For a command that was handed over, while the terminal is the assistant's and the prompt is hidden: fish writes its history first,
/// which takes as long as the disk takes.
pub(super) const START_WAIT: Duration = Duration::from_secs(10);
pub(super) const QUEUE_WAIT: Duration = Duration::from_secs(30);
pub(super) const QUEUE_MAX: usize = 4;
pub(super) const INTEGRATION_WAIT: Duration = Duration::from_secs(5);
/// The time that the line editor must read when no prompt mark came.
pub(super) const EDITOR_WAIT: Duration = Duration::from_millis(100);
/// The longest command.
pub const COMMAND_MAX_BYTES: usize = 4 * 1024 * 1024;
