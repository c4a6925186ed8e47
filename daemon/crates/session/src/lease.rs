//! The lease is the right to run in a shell: one command at a time, first come, first served.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};

/// Most commands that wait for one shell; more are refused.
pub const MAX_WAITING: usize = 8;

/// The lease of one shell.
#[derive(Clone, Debug)]
pub struct Lease {
    /// Tokio's semaphore is fair: permits go out in the order of asking, and back when a waiting or holding future is dropped.
    turnstile: Arc<Semaphore>,
    book: Arc<Mutex<Book>>,
}

/// The holder of the shell, for people.
#[derive(Debug, Default)]
struct Book {
    holder: Option<String>,
    waiting: usize,
}

/// The right to run. Dropping it gives it to the next.
#[derive(Debug)]
pub struct Held {
    book: Arc<Mutex<Book>>,
    _permit: OwnedSemaphorePermit,
}

/// The reason why the right was not given.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotLeased {
    /// [`MAX_WAITING`] wait already.
    #[error("the shell is busy with `{holder}`, and {MAX_WAITING} commands wait for it already")]
    Full {
        /// The current holder.
        holder: String,
    },
    /// It was not free in time.
    #[error("the shell was not free within {} s: `{holder}` has it", patience.as_secs())]
    TimedOut {
        /// The current holder.
        holder: String,
        /// The time waited.
        patience: Duration,
    },
}

impl Lease {
    /// A free lease.
    #[must_use]
    pub fn new() -> Self {
        Self { turnstile: Arc::new(Semaphore::new(1)), book: Arc::default() }
    }

    /// Waits for the right, in the order of asking; `what` names the command. If it has to wait, `on_wait` is called once with the
    /// current holder. Dropping the future gives up the place.
    ///
    /// # Errors
    /// If too many wait, or it was not free within `patience`.
    pub async fn acquire(
        &self,
        what: String,
        patience: Duration,
        on_wait: impl FnOnce(&str),
    ) -> Result<Held, NotLeased> {
        let permit = match Arc::clone(&self.turnstile).try_acquire_owned() {
            Ok(permit) => permit,
            Err(_) => {
                let place = self.queue_up()?;
                on_wait(&self.holder());
                let acquired = timeout(patience, Arc::clone(&self.turnstile).acquire_owned()).await;
                drop(place);
                // The semaphore is never closed, so only time can fail.
                let acquired = acquired.ok().and_then(Result::ok);
                acquired.ok_or_else(|| NotLeased::TimedOut { holder: self.holder(), patience })?
            }
        };
        self.book().holder = Some(what);
        Ok(Held { book: Arc::clone(&self.book), _permit: permit })
    }

    /// The number of holders (0 or 1) and of waiters.
    #[must_use]
    pub fn counts(&self) -> (usize, usize) {
        let book = self.book();
        (usize::from(book.holder.is_some()), book.waiting)
    }

    fn queue_up(&self) -> Result<QueuePlace, NotLeased> {
        let mut book = self.book();
        if book.waiting >= MAX_WAITING {
            return Err(NotLeased::Full { holder: name(&book) });
        }
        book.waiting += 1;
        Ok(QueuePlace(Arc::clone(&self.book)))
    }

    fn holder(&self) -> String {
        name(&self.book())
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        lock(&self.book)
    }
}

impl Default for Lease {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // Before the permit is returned, or this would clear the next holder.
        lock(&self.book).holder = None;
    }
}

/// A place in the queue.
struct QueuePlace(Arc<Mutex<Book>>);

impl Drop for QueuePlace {
    fn drop(&mut self) {
        lock(&self.0).waiting -= 1;
    }
}

fn lock(book: &Mutex<Book>) -> MutexGuard<'_, Book> {
    book.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The holder; between two holders there is no name.
fn name(book: &Book) -> String {
    book.holder.clone().unwrap_or_else(|| "another command".into())
}

#[cfg(test)]
mod tests;
