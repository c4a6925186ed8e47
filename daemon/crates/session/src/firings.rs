//! The contract between what fires while no question is asked, and the terminals that show it.

use cohab_protocol::WatcherFired;

/// Keeps what fires until a terminal has shown it. Its functions return at once.
pub trait FiringSource: Send + Sync {
    /// This terminal shows what fires from now on.
    fn terminal_came(&self, terminal: &str);
    /// This firing was shown.
    fn shown(&self, watcher: u32, fired: u64);
}

/// The terminals that show what fires.
pub trait Terminals: Send + Sync {
    /// Shows a firing in this terminal. False if no client is there.
    fn show(&self, terminal: &str, fired: WatcherFired) -> bool;
    /// Shows a line in this terminal. False if no client is there.
    fn say(&self, terminal: &str, line: String) -> bool;
    /// Whether a client is there.
    fn is_there(&self, terminal: &str) -> bool;
}
