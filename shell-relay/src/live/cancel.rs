//! Stops a command with stronger and stronger signals until it ends. Pure.

use std::time::{Duration, Instant};

use cohab_system::process::Signal;

/// The key that is pressed first.
pub(super) const INTERRUPT_KEY: u8 = 0x03;
/// Signals after that key, with their delays.
const LADDER: [(Duration, Signal); 3] = [
    (Duration::from_secs(2), Signal::Interrupt),
    (Duration::from_secs(3), Signal::Terminate),
    (Duration::from_secs(5), Signal::Kill),
];

#[derive(Debug)]
pub(super) struct Cancel {
    since: Instant,
    /// Rungs of the ladder already taken.
    taken: usize,
}

impl Cancel {
    /// The interrupt key is pressed now.
    pub fn begun(now: Instant) -> Self {
        Self { since: now, taken: 0 }
    }

    /// The time of the next signal.
    pub fn due(&self) -> Option<Instant> {
        LADDER.get(self.taken).map(|(after, _)| self.since + *after)
    }

    /// The hardest signal that is due by now and was not given out before.
    pub fn climb(&mut self, now: Instant) -> Option<Signal> {
        let mut due = None;
        while let Some(&(after, signal)) = LADDER.get(self.taken)
            && now >= self.since + after
        {
            self.taken += 1;
            due = Some(signal);
        }
        due
    }
}
