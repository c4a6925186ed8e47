//! A time limit between two pieces of an answer. Its timer is set again only when it has run out, not for each piece.

use std::{
    future::poll_fn,
    pin::{Pin, pin},
    task::{Poll, ready},
    time::Duration,
};

use tokio::time::{Instant, Sleep, sleep};

/// Limits the time that waits take together, from one [`restart`](Self::restart) to the next.
pub(super) struct IdleTimer {
    sleep: Pin<Box<Sleep>>,
    /// The start of the first wait since the restart.
    since: Option<Instant>,
}

impl IdleTimer {
    /// A timer for waits that are mostly limited to `usual_limit`.
    pub(super) fn new(usual_limit: Duration) -> Self {
        Self { sleep: Box::pin(sleep(usual_limit)), since: None }
    }

    /// Forgets the waits so far.
    pub(super) fn restart(&mut self) {
        self.since = None;
    }

    /// The output of `future`; `None` if it is not ready `limit` after the first wait began. One that is ready at once does not wait.
    pub(super) async fn limit<F: Future>(&mut self, limit: Duration, future: F) -> Option<F::Output> {
        let mut future = pin!(future);
        poll_fn(|context| {
            if let Poll::Ready(output) = future.as_mut().poll(context) {
                return Poll::Ready(Some(output));
            }
            let due = *self.since.get_or_insert_with(Instant::now) + limit;
            if self.sleep.deadline() > due {
                self.sleep.as_mut().reset(due);
            }
            loop {
                ready!(self.sleep.as_mut().poll(context));
                if self.sleep.deadline() >= due {
                    return Poll::Ready(None);
                }
                self.sleep.as_mut().reset(due);
            }
        })
        .await
    }
}

#[cfg(test)]
#[path = "idle_timer_tests.rs"]
mod tests;
