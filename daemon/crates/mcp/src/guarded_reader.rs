//! Reads what a server sends, and stops where it is more than was to be expected: one message that is too long, or messages without end.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll, ready},
};

use tokio::io::{AsyncRead, ReadBuf};

/// Longest message of a server, in bytes.
pub(crate) const MAX_MESSAGE_BYTES: usize = 8 * 1024 * 1024;
/// A server may send so many bytes until it is asked again.
const ALLOWANCE_BYTES: u64 = 32 * 1024 * 1024;

/// What is known of the other side beside its messages.
#[derive(Debug, Default)]
pub(crate) struct Signals {
    received: AtomicU64,
    fault: Mutex<Option<String>>,
}

impl Signals {
    /// The server is asked something: it may answer.
    pub(crate) fn asked(&self) {
        self.received.store(0, Ordering::Relaxed);
    }

    /// Why nothing more is read, if so.
    pub(crate) fn fault(&self) -> Option<String> {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn stop(&self, reason: String) -> io::Error {
        *self.fault.lock().unwrap_or_else(PoisonError::into_inner) = Some(reason.clone());
        io::Error::new(io::ErrorKind::InvalidData, reason)
    }
}

/// The output of a server, with limits.
pub(crate) struct GuardedReader<R> {
    inner: R,
    line_bytes: usize,
    signals: Arc<Signals>,
}

impl<R> GuardedReader<R> {
    pub(crate) fn new(inner: R, signals: Arc<Signals>) -> Self {
        Self { inner, line_bytes: 0, signals }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for GuardedReader<R> {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        ready!(Pin::new(&mut this.inner).poll_read(context, buffer))?;
        let new = &buffer.filled()[before..];
        this.line_bytes = match new.iter().rposition(|byte| *byte == b'\n') {
            Some(at) => new.len() - at - 1,
            None => this.line_bytes + new.len(),
        };
        let all = this.signals.received.fetch_add(new.len() as u64, Ordering::Relaxed) + new.len() as u64;
        let mega = 1024 * 1024;
        if this.line_bytes > MAX_MESSAGE_BYTES {
            let limit = MAX_MESSAGE_BYTES / mega;
            return Poll::Ready(Err(this.signals.stop(format!("it sent a message of more than {limit} MB"))));
        }
        if all > ALLOWANCE_BYTES {
            let limit = ALLOWANCE_BYTES / 1024 / 1024;
            return Poll::Ready(Err(this.signals.stop(format!("it sent more than {limit} MB without being asked"))));
        }
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt as _;

    use super::*;

    async fn read_all(bytes: Vec<u8>) -> Option<String> {
        let signals = Arc::new(Signals::default());
        let mut reader = GuardedReader::new(io::Cursor::new(bytes), Arc::clone(&signals));
        let mut chunk = vec![0; 64 * 1024];
        while let Ok(1..) = reader.read(&mut chunk).await {}
        signals.fault()
    }

    #[tokio::test]
    async fn a_message_that_is_too_long_and_a_flood_are_stopped() {
        let line = |length: usize| [vec![b'x'; length], vec![b'\n']].concat();
        assert_eq!(read_all(line(MAX_MESSAGE_BYTES)).await, None);
        let fault = read_all(line(MAX_MESSAGE_BYTES + 100_000)).await.unwrap();
        assert!(fault.contains("more than 8 MB"), "{fault}");
        let fault = read_all(line(1_000_000).repeat(40)).await.unwrap();
        assert!(fault.contains("without being asked"), "{fault}");
    }
}
