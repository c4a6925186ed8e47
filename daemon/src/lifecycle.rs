//! One daemon per user and protocol version: it holds a lock for life, listens, and ends in order.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    sync::Arc,
};

use cohab_protocol::{Paths, socket};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::server::{Assembler, Daemon, Facts, listener};

/// How a daemon's life went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It ran until it was asked to end.
    Served,
    /// Another one runs already.
    AnotherRuns,
}

/// Why a daemon could not run.
#[derive(Debug, thiserror::Error)]
pub enum LifecycleError {
    /// The folder or the socket is not usable.
    #[error(transparent)]
    Socket(#[from] socket::SocketError),
    /// The lock file is not usable.
    #[error("{}: {source}", path.display())]
    Lock {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Signals cannot be received.
    #[error("signals: {0}")]
    Signals(io::Error),
}

/// The right to be the daemon, until it is dropped.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock. `None` if another process holds it.
    ///
    /// # Errors
    /// When the folder is not safely ours, or the file cannot be opened.
    pub fn take(path: &Path) -> Result<Option<Self>, LifecycleError> {
        if let Some(folder) = path.parent() {
            socket::secure_directory(folder)?;
        }
        let failed = |source| LifecycleError::Lock { path: path.to_owned(), source };
        // The file is never removed: a second daemon could lock the new one while the first holds the old.
        let file = OpenOptions::new().create(true).append(true).mode(0o600).open(path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { _file: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(failed(error)),
        }
    }
}

/// Runs the daemon until `shutdown` fires, by a client or from outside.
///
/// # Errors
/// When it cannot start.
pub async fn run(
    paths: &Paths,
    assembler: Arc<dyn Assembler>,
    shutdown: CancellationToken,
) -> Result<Ended, LifecycleError> {
    let Some(_lock) = Lock::take(&paths.lock_file())? else {
        return Ok(Ended::AnotherRuns);
    };
    let path = paths.socket();
    let listener = socket::listen(&path)?;
    let facts = Facts { log_dir: paths.log_dir(), config_path: paths.config_file() };
    let daemon = Daemon::new(assembler, facts, shutdown);
    tracing::info!(build = cohab_protocol::BUILD, pid = std::process::id(), "daemon started");
    listener::listen(&daemon, listener).await;
    tracing::info!("daemon ends");
    daemon.close().await;
    // Before the lock goes: afterwards the file may be the next daemon's.
    if let Err(error) = fs::remove_file(&path) {
        tracing::warn!(%error, "the socket could not be removed");
    }
    Ok(Ended::Served)
}

/// Fires `shutdown` at the first SIGTERM, SIGINT or SIGHUP.
///
/// # Errors
/// When the system does not let us have them.
pub fn end_on_signals(shutdown: CancellationToken) -> Result<(), LifecycleError> {
    let receive = |kind| signal(kind).map_err(LifecycleError::Signals);
    let mut terminate = receive(SignalKind::terminate())?;
    let mut interrupt = receive(SignalKind::interrupt())?;
    let mut hang_up = receive(SignalKind::hangup())?;
    tokio::spawn(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
            _ = hang_up.recv() => {}
        }
        shutdown.cancel();
    });
    Ok(())
}
