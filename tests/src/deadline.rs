//! Waits for conditions, within deadlines.

use std::{
    sync::{Condvar, Mutex, MutexGuard},
    thread,
    time::{Duration, Instant},
};

/// Long enough for a loaded machine; nothing waits this long when all is well.
const DEADLINE: Duration = Duration::from_secs(20);
/// Pause between two looks at a state without notification.
const LOOK_AGAIN: Duration = Duration::from_millis(2);

/// The deadline of every wait, times `COHAB_TEST_SLACK` if that is set.
#[must_use]
pub fn deadline() -> Duration {
    DEADLINE * slack()
}

/// A limit of the specification, times `COHAB_TEST_SLACK` (a whole number, default 1) for machines that are slow or busy.
#[must_use]
pub fn limit(limit: Duration) -> Duration {
    limit * slack()
}

fn slack() -> u32 {
    std::env::var("COHAB_TEST_SLACK").ok().and_then(|text| text.parse().ok()).filter(|slack| *slack > 0).unwrap_or(1)
}

/// Waits for a state without notification: a file, a process.
///
/// # Panics
/// With `what` if it does not hold in time.
#[track_caller]
pub fn eventually(what: &str, mut is_met: impl FnMut() -> bool) {
    let end = Instant::now() + deadline();
    while !is_met() {
        assert!(Instant::now() < end, "waited in vain for {what}");
        thread::park_timeout(LOOK_AGAIN);
    }
}

/// Locks, also after a panic elsewhere: the state is only read for messages then.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Waits until `is_met` holds and gives the guard back, or nothing if `within` passed first.
pub(crate) fn wait_while_not<'a, T>(
    mutex: &'a Mutex<T>,
    changed: &Condvar,
    within: Duration,
    mut is_met: impl FnMut(&mut T) -> bool,
) -> Result<MutexGuard<'a, T>, MutexGuard<'a, T>> {
    let end = Instant::now() + within;
    let mut state = lock(mutex);
    loop {
        if is_met(&mut state) {
            return Ok(state);
        }
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(state);
        }
        state = changed.wait_timeout(state, left).unwrap_or_else(std::sync::PoisonError::into_inner).0;
    }
}
