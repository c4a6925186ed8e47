//! Ends the client: shows the shell's last output and determines the outcome of the process.

use std::{
    io,
    time::{Duration, Instant},
};

use cohab_shell_relay::live::ShellEnd;

use super::{Driver, ShellOutcome};

/// A shell that ends this soon, without a prompt and without a key, did not get on with us.
const STILLBORN_LIMIT: Duration = Duration::from_secs(2);
/// A terminal that takes nothing for this long is not waited for when the shell has ended.
const LAST_OUTPUT_WAIT: Duration = Duration::from_secs(10);

impl Driver {
    /// Shows what the shell wrote before it ended.
    pub(super) fn drain(&mut self, output: &mut [u8]) {
        while let Some(count) = self.shell.read_now(output) {
            self.on_output(&output[..count]);
            self.settle();
        }
    }

    /// Waits for a slow terminal to take what the shell wrote before it ended.
    async fn deliver_rest(&mut self) {
        while self.terminal.has_queue() {
            if tokio::time::timeout(LAST_OUTPUT_WAIT, self.terminal.writable()).await.is_err() {
                break;
            }
            self.terminal.flush();
        }
    }

    /// The shell has ended: what it wrote last is shown, bytes included that looked like the beginning of a mark.
    pub(super) async fn end(&mut self) -> ShellOutcome {
        let ShellEnd { status, is_killed } = self.shell.wait();
        let status = u8::try_from(status.clamp(0, 255)).unwrap_or(1);
        self.live.shell_ended(Some(status.into()), Instant::now(), &mut self.fx);
        self.settle();
        if is_killed && !self.terminal.is_at_row_start() || self.area.is_drawn() {
            self.leave();
        }
        self.deliver_rest().await;
        if !self.has_been_used && self.opened_at.elapsed() < STILLBORN_LIMIT {
            return ShellOutcome::NotStarted(format!("{} ended at once with status {status}", self.shell.name()));
        }
        ShellOutcome::Exited(status)
    }

    pub(super) fn outcome_of_failure(&self, error: &io::Error) -> ShellOutcome {
        if self.has_been_used { ShellOutcome::Exited(1) } else { ShellOutcome::NotStarted(error.to_string()) }
    }
}
