//! Accepts connections.

use std::{sync::Arc, sync::atomic::Ordering, time::Duration};

use cohab_protocol::{DaemonMessage, ErrorSubject, FrameCodec, WireError, WireErrorKind, socket};
use futures::{SinkExt, future::FutureExt};
use tokio::{
    net::{UnixListener, UnixStream},
    time::sleep,
};
use tokio_util::codec::FramedWrite;

use super::{Daemon, connection};

/// Most connections at one time.
pub const MAX_CONNECTIONS: u32 = 256;
/// Wait after the system refused a connection, for example because descriptors are used up.
const ACCEPT_BACK_OFF: Duration = Duration::from_millis(100);

/// Accepts connections until the daemon's shutdown begins. Cancel-safe.
pub async fn listen(daemon: &Arc<Daemon>, listener: &UnixListener) {
    loop {
        let accepted = tokio::select! {
            biased;
            () = daemon.shutdown.cancelled() => return,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, _)) => take(daemon, stream),
            Err(error) => {
                tracing::warn!(%error, "a connection could not be taken");
                sleep(ACCEPT_BACK_OFF).await;
            }
        }
    }
}

fn take(daemon: &Arc<Daemon>, stream: UnixStream) {
    if let Err(error) = socket::check_peer(&stream) {
        tracing::warn!(%error, "a connection was refused");
        return;
    }
    if daemon.connections.fetch_add(1, Ordering::Relaxed) >= MAX_CONNECTIONS {
        daemon.connections.fetch_sub(1, Ordering::Relaxed);
        if !daemon.is_full.swap(true, Ordering::Relaxed) {
            tracing::warn!("too many connections");
        }
        refuse(stream);
        return;
    }
    daemon.is_full.store(false, Ordering::Relaxed);
    let number = daemon.next_connection.fetch_add(1, Ordering::Relaxed);
    let guard = Counted(Arc::clone(daemon));
    daemon.tasks.spawn(async move {
        connection::serve(&guard.0, stream, number).await;
    });
}

/// A connection that counts, until it is dropped: also when its task panics.
struct Counted(Arc<Daemon>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Sends the reason, if that is possible without waiting: a fresh socket has room for it.
fn refuse(stream: UnixStream) {
    let error = WireError {
        about: ErrorSubject::Connection,
        kind: WireErrorKind::Busy,
        message: format!("the daemon has {MAX_CONNECTIONS} connections already"),
        hint: Some("close some of your shells, or `cohab daemon restart`".into()),
    };
    let mut writer = FramedWrite::new(stream, FrameCodec::<(), DaemonMessage>::new());
    let _ = writer.send(DaemonMessage::Error(error)).now_or_never();
}
