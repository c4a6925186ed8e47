//! The right to run in a shell: one command at a time, whoever asks.

use std::{sync::Arc, time::Duration};

use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};

/// The lease of one shell.
#[derive(Clone, Debug)]
pub struct Lease(Arc<Semaphore>);

impl Lease {
    /// A free lease.
    #[must_use]
    pub fn new() -> Self {
        Self(Arc::new(Semaphore::new(1)))
    }

    /// Waits for the right, in the order of asking. `None` if it was not free in time. Dropping the permit gives it back.
    pub async fn acquire(&self, patience: Duration) -> Option<OwnedSemaphorePermit> {
        timeout(patience, Arc::clone(&self.0).acquire_owned()).await.ok()?.ok()
    }
}

impl Default for Lease {
    fn default() -> Self {
        Self::new()
    }
}
