//! The outlet of a connection: its writing half while the connection's own task waits. A turn sends a piece of its answer through it,
//! without waking that task.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::BytesMut;
use cohab_protocol::{ClientMessage, DaemonMessage, FrameCodec, FrameError};
use futures::{FutureExt as _, SinkExt as _};
use tokio::{io::WriteHalf, sync::Notify};
use tokio_util::codec::FramedWrite;

use super::quiet_socket::QuietSocket;

/// A larger write buffer is given back when all of it is sent.
const WRITE_BUFFER_BYTES: usize = 64 * 1024;

/// Writes messages to a client.
pub(super) type Writer = FramedWrite<WriteHalf<QuietSocket>, FrameCodec<ClientMessage, DaemonMessage>>;

/// Lends the writer of a connection.
#[derive(Default)]
pub(super) struct Outlet {
    lent: Mutex<Lent>,
    /// Wakes the connection's own task: it has to send the rest.
    rest: Notify,
}

#[derive(Default)]
struct Lent {
    writer: Option<Writer>,
    is_closed: bool,
}

impl Outlet {
    fn lock(&self) -> MutexGuard<'_, Lent> {
        self.lent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lends the writer, from which all was sent, until it is [taken back](Self::take_back).
    pub(super) fn lend(&self, writer: Writer) {
        self.lock().writer = Some(writer);
    }

    /// The writer; `None` if it has failed. It may hold the rest of a message.
    pub(super) fn take_back(&self) -> Option<Writer> {
        self.lock().writer.take()
    }

    /// Completes when the writer has to be taken back.
    pub(super) async fn has_rest(&self) {
        self.rest.notified().await;
    }

    /// From now on only the connection's own task sends: when this returns, no message is on its way from another task.
    pub(super) fn close(&self) {
        self.lock().is_closed = true;
    }

    /// Sends the messages that `next` gives, as far as that is possible without waiting. False if the connection's own task is not
    /// waiting and has to ask for them itself.
    pub(super) fn send_now(&self, next: impl Fn() -> Option<Arc<DaemonMessage>>) -> bool {
        let mut lent = self.lock();
        if lent.is_closed {
            return false;
        }
        while let Some(writer) = lent.writer.as_mut().filter(|writer| writer.write_buffer().is_empty()) {
            let Some(message) = next() else { return true };
            match send(writer, &message).now_or_never() {
                Some(Ok(())) => {}
                Some(Err(_)) => lent.writer = None,
                None => {}
            }
        }
        self.rest.notify_one();
        false
    }
}

/// Sends a message, behind the rest of those before.
pub(super) async fn send(writer: &mut Writer, message: &DaemonMessage) -> Result<(), FrameError> {
    writer.send(message).await?;
    // A long message must not keep its memory as long as the connection lives.
    if writer.write_buffer().capacity() > WRITE_BUFFER_BYTES {
        *writer.write_buffer_mut() = BytesMut::new();
    }
    Ok(())
}

#[cfg(test)]
#[path = "outlet_tests.rs"]
mod tests;
