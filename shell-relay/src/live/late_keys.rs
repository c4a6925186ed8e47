//! Tracks keys that were given up on and may still be read, and the time that a shell takes to answer a key.
//!
//! A key that was written cannot be taken back. A second stash key would put an empty line in place of the user's; further load keys
//! would pile up in front of a shell that is slow already.

use std::time::{Duration, Instant};

const SHORTEST_WAIT: Duration = Duration::from_secs(2);
const LONGEST_WAIT: Duration = Duration::from_secs(10);
/// A shell may need this many times its earlier time.
const PATIENCE: u32 = 8;
/// The additional wait for long commands. The slowest shell reads a megabyte in about half a second on an idle machine.
const WAIT_PER_MEGABYTE: Duration = Duration::from_secs(2);
const MEGABYTE: usize = 1 << 20;

/// A key that was given up on.
#[derive(Clone, Copy, Debug)]
pub(super) struct LateKey {
    /// The time of the prompt at which the key was sent. The key is read before the first key of the next prompt.
    pub prompt: Instant,
    /// Commands wait for the answer until then, and are refused after it.
    pub until: Instant,
}

/// The keys that the shell has not answered.
#[derive(Debug, Default)]
pub(super) struct LateKeys {
    pub stash: Option<LateKey>,
    /// A load or run key: it may take the next command for its own.
    pub hand_over: Option<LateHandOver>,
    /// Fence keys that were sent and not answered. Only the answer to the last one proves that all keys before it were read.
    pub fences: u32,
}

/// The next action for a load or run key that was given up on.
#[derive(Clone, Copy, Debug)]
pub(super) enum LateHandOver {
    /// Nothing yet.
    Unread,
    /// The fence key was sent behind it, and once more after this time.
    Fenced { again_at: Instant },
}

/// The time that the shell takes to answer a key.
#[derive(Debug, Default)]
pub(super) struct KeyPace {
    /// The longest recent answer time; each quicker answer halves it.
    slowest: Duration,
    asked_at: Option<Instant>,
}

impl KeyPace {
    /// Records that a key was sent whose answer is awaited; returns the time to stop waiting. `bytes` is the length of the command that
    /// the shell has to read for it.
    pub fn asked(&mut self, now: Instant, bytes: usize) -> Instant {
        self.asked_at = Some(now);
        now + self.wait(bytes)
    }

    /// The time to wait for an answer.
    pub fn wait(&self, bytes: usize) -> Duration {
        let for_size = WAIT_PER_MEGABYTE.mul_f64(bytes as f64 / MEGABYTE as f64);
        (self.slowest * PATIENCE).clamp(SHORTEST_WAIT, LONGEST_WAIT) + for_size
    }

    /// The answer came. Only the answer to a short command measures the shell's speed.
    pub fn answered(&mut self, now: Instant, bytes: usize) {
        if let Some(asked_at) = self.asked_at.take().filter(|_| bytes < MEGABYTE / 16) {
            self.slowest = (now - asked_at).max(self.slowest / 2);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_follows_the_shell_and_the_size_of_the_command() {
        let mut pace = KeyPace::default();
        let now = Instant::now();
        assert_eq!(pace.wait(0), SHORTEST_WAIT);
        assert_eq!(pace.wait(4 * MEGABYTE), SHORTEST_WAIT + Duration::from_secs(8));
        pace.asked(now, 10);
        pace.answered(now + Duration::from_millis(500), 10);
        assert_eq!(pace.wait(0), Duration::from_secs(4));
        pace.asked(now, 10);
        pace.answered(now + Duration::from_secs(30), 10);
        assert_eq!(pace.wait(0), LONGEST_WAIT);
        for _ in 0..10 {
            pace.asked(now, 10);
            pace.answered(now + Duration::from_millis(1), 10);
        }
        assert_eq!(pace.wait(0), SHORTEST_WAIT, "a slow moment is forgotten");
    }
}
