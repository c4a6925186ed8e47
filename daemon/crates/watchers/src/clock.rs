//! The time of day, and waiting for it.

use std::time::Duration;

use futures::future::BoxFuture;
use jiff::{Timestamp, Zoned};

/// Tells the time of day and waits for one.
pub trait Clock: Send + Sync {
    /// Now, in the user's time zone.
    fn now(&self) -> Zoned;

    /// Completes when `due` is reached, or somewhat earlier: when the clock was set. Cancel-safe.
    fn reached(&self, due: Timestamp) -> BoxFuture<'_, ()>;
}

/// The clock of the system.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Zoned {
        Zoned::now()
    }

    fn reached(&self, due: Timestamp) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            if timer_expires(due).await.is_err() {
                // Without such a timer the clock may be set, and the machine may sleep: looks at it now and then.
                let left = Duration::try_from(due.duration_since(Timestamp::now())).unwrap_or_default();
                tokio::time::sleep(left.min(LONGEST_SLEEP)).await;
            }
        })
    }
}

/// Longest wait where no timer follows the time of day.
const LONGEST_SLEEP: Duration = Duration::from_secs(60);

/// Waits on a timer of the kernel that follows the time of day: it also expires after the machine has slept, and when the clock is set.
#[cfg(target_os = "linux")]
async fn timer_expires(due: Timestamp) -> std::io::Result<()> {
    use rustix::time::{
        Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
    };
    use tokio::net::unix::pipe::Receiver;
    let timer = timerfd_create(TimerfdClockId::Realtime, TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC)?;
    let never = Timespec { tv_sec: 0, tv_nsec: 0 };
    // Zero would disarm it.
    let value = Timespec { tv_sec: due.as_second().max(1), tv_nsec: due.subsec_nanosecond().max(0).into() };
    let flags = TimerfdTimerFlags::ABSTIME | TimerfdTimerFlags::CANCEL_ON_SET;
    timerfd_settime(&timer, flags, &Itimerspec { it_interval: never, it_value: value })?;
    // Not a pipe, but waited for like one.
    Receiver::from_owned_fd_unchecked(timer)?.readable().await
}

#[cfg(not(target_os = "linux"))]
async fn timer_expires(_: Timestamp) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_time_that_is_over_and_one_that_comes_are_reached() {
        let now = Timestamp::now();
        SystemClock.reached(now - Duration::from_secs(60)).await;
        let due = now + Duration::from_millis(50);
        SystemClock.reached(due).await;
        assert!(Timestamp::now() >= due);
    }
}
