//! Measures the working time of a turn: the time since it began without that in which it waited for its user.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use cohab_agent::port::{ApprovalAnswer, ApprovalQuestion, Approver};
use tokio::time::{Duration, Instant};

/// Of one turn.
#[derive(Debug)]
pub struct TurnClock {
    began_at: Instant,
    waits: Mutex<Waits>,
}

#[derive(Debug, Default)]
struct Waits {
    /// What is over.
    total: Duration,
    /// How many go on now, and since when the first of them.
    open: u32,
    since: Option<Instant>,
}

impl TurnClock {
    /// Of a turn that begins now.
    #[must_use]
    pub fn start() -> Self {
        Self { began_at: Instant::now(), waits: Mutex::default() }
    }

    /// Time that counts, until now.
    #[must_use]
    pub fn worked(&self) -> Duration {
        let waits = self.waits.lock().unwrap_or_else(PoisonError::into_inner);
        let open = waits.since.map_or(Duration::ZERO, |since| since.elapsed());
        self.began_at.elapsed().saturating_sub(waits.total + open)
    }

    /// Waits for something that is the user's to decide: that time does not count.
    pub async fn stands_still<T>(&self, waiting: impl Future<Output = T>) -> T {
        let _standing = Standing::begin(self);
        waiting.await
    }
}

/// A wait that goes on. It may be given up at any time, with the turn.
struct Standing<'a>(&'a TurnClock);

impl<'a> Standing<'a> {
    fn begin(clock: &'a TurnClock) -> Self {
        let mut waits = clock.waits.lock().unwrap_or_else(PoisonError::into_inner);
        waits.open += 1;
        waits.since.get_or_insert_with(Instant::now);
        drop(waits);
        Self(clock)
    }
}

impl Drop for Standing<'_> {
    fn drop(&mut self) {
        let mut waits = self.0.waits.lock().unwrap_or_else(PoisonError::into_inner);
        waits.open -= 1;
        if waits.open == 0
            && let Some(since) = waits.since.take()
        {
            waits.total += since.elapsed();
        }
    }
}

/// Asks the user while the turn's clock stands still.
pub struct UnhurriedApprover {
    inner: Arc<dyn Approver>,
    clock: Arc<TurnClock>,
}

impl UnhurriedApprover {
    /// Lets `inner` ask.
    #[must_use]
    pub fn new(inner: Arc<dyn Approver>, clock: Arc<TurnClock>) -> Self {
        Self { inner, clock }
    }
}

#[async_trait]
impl Approver for UnhurriedApprover {
    async fn ask(&self, question: ApprovalQuestion) -> ApprovalAnswer {
        self.clock.stands_still(self.inner.ask(question)).await
    }

    async fn ask_all(&self, questions: Vec<ApprovalQuestion>) -> Vec<ApprovalAnswer> {
        self.clock.stands_still(self.inner.ask_all(questions)).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn waiting_for_the_user_is_no_work_and_waits_at_once_count_once() {
        let clock = TurnClock::start();
        let pass = |seconds| tokio::time::sleep(Duration::from_secs(seconds));
        pass(2).await;
        futures::join!(clock.stands_still(pass(10)), clock.stands_still(pass(7)));
        pass(1).await;
        assert_eq!(clock.worked(), Duration::from_secs(3));
        let mut given_up = Box::pin(clock.stands_still(std::future::pending::<()>()));
        tokio::select! { () = &mut given_up => {}, () = pass(5) => {} }
        assert_eq!(clock.worked(), Duration::from_secs(3), "while it goes on");
        drop(given_up);
        pass(1).await;
        assert_eq!(clock.worked(), Duration::from_secs(4));
    }
}
