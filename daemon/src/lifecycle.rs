//! The lifecycle of the daemon: one per user and protocol version. It holds a lock for life, listens, and shuts down in order.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    future, io,
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use cohab_assembly::temporary;
use cohab_model_api::Secrets;
use cohab_protocol::{Paths, socket};
use cohab_session::{Assembler, Daemon, Facts, listener};
use cohab_store::{
    sessions::{Archive, SqliteStore},
    spool::Spool,
};
use cohab_watchers::{clock::SystemClock, files::WatcherFiles, service::Service};
use cohab_work::background_tasks::BackgroundTasks;
use tokio::{
    net::UnixListener,
    signal::unix::{SignalKind, signal},
};
use tokio_util::sync::CancellationToken;

use crate::folder_watch::FolderWatch;

/// The outcome of a daemon's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It ran until it was asked to end.
    Served,
    /// Another one runs already.
    AnotherRuns,
}

/// The reason why a daemon could not run.
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
    /// The lock file was replaced, and another daemon has locked the new one.
    #[error("another daemon has taken over")]
    Superseded,
    /// Signals cannot be received.
    #[error("signals: {0}")]
    Signals(io::Error),
}

/// The right to be the daemon, until it is dropped.
#[derive(Debug)]
pub struct Lock {
    file: File,
}

impl Lock {
    /// Takes the lock. `None` if another process holds it.
    ///
    /// # Errors
    /// When the folder is not private to the user, or the file cannot be opened.
    pub fn take(path: &Path) -> Result<Option<Self>, LifecycleError> {
        if let Some(folder) = path.parent() {
            socket::secure_directory(folder)?;
        }
        let failed = |source| LifecycleError::Lock { path: path.to_owned(), source };
        // The file is never removed: a second daemon could lock the new one while the first holds the old.
        let file = OpenOptions::new().create(true).append(true).mode(0o600).open(path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(failed(error)),
        }
    }

    /// Whether the file at `path` is the locked one. If not, another daemon could lock the one at `path`.
    fn is_at(&self, path: &Path) -> bool {
        let id = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
        let ours = self.file.metadata().map(id).ok();
        ours.is_some() && ours == fs::symlink_metadata(path).map(id).ok()
    }
}

/// The address of the daemon for clients: the socket, under the lock. Both are files that may be removed while the daemon runs.
struct Address {
    lock_path: PathBuf,
    lock: Lock,
    socket_path: PathBuf,
    /// Device and inode of the socket that was bound.
    socket_id: Option<(u64, u64)>,
}

impl Address {
    /// Takes the lock and binds the socket. `None` if another process holds the lock.
    fn take(paths: &Paths) -> Result<Option<(Self, UnixListener)>, LifecycleError> {
        let (lock_path, socket_path) = (paths.lock_file(), paths.socket());
        let Some(lock) = Lock::take(&lock_path)? else { return Ok(None) };
        let mut address = Self { lock_path, lock, socket_path, socket_id: None };
        let listener = address.bind()?;
        Ok(Some((address, listener)))
    }

    fn bind(&mut self) -> Result<UnixListener, LifecycleError> {
        let listener = socket::listen(&self.socket_path)?;
        self.socket_id = socket_id(&self.socket_path);
        Ok(listener)
    }

    /// Binds the socket again if its file is gone. `None` if nothing is wrong.
    fn repair(&mut self) -> Result<Option<UnixListener>, LifecycleError> {
        let has_lock = self.lock.is_at(&self.lock_path);
        if has_lock && socket_id(&self.socket_path) == self.socket_id {
            return Ok(None);
        }
        if !has_lock {
            self.lock = Lock::take(&self.lock_path)?.ok_or(LifecycleError::Superseded)?;
        }
        self.bind().map(Some)
    }

    fn watch(&self) -> Option<FolderWatch> {
        let folders = [self.lock_path.parent(), self.socket_path.parent()];
        match FolderWatch::new(folders.into_iter().flatten()) {
            Ok(watch) => Some(watch),
            Err(error) => {
                tracing::warn!(%error, "a removed socket will not be noticed");
                None
            }
        }
    }
}

fn socket_id(path: &Path) -> Option<(u64, u64)> {
    fs::symlink_metadata(path).map(|metadata| (metadata.dev(), metadata.ino())).ok()
}

/// The removal of a folder with the socket in it is over after this time.
const REMOVAL_TIME: Duration = Duration::from_millis(100);

/// Accepts connections until the daemon's shutdown begins, at a socket that is bound again when it is removed.
async fn serve(daemon: &Arc<Daemon>, address: &mut Address, mut listener: UnixListener) -> Result<(), LifecycleError> {
    let mut watch = address.watch();
    loop {
        let changed = async {
            match &watch {
                Some(watch) => {
                    let changed = watch.changed().await;
                    // A process that removes the whole folder would fail if the socket reappeared.
                    tokio::time::sleep(REMOVAL_TIME).await;
                    changed
                }
                None => future::pending().await,
            }
        };
        let told = tokio::select! {
            () = listener::listen(daemon, &listener) => return Ok(()),
            told = changed => told,
        };
        if let Err(error) = told {
            tracing::warn!(%error, "a removed socket will not be noticed");
            watch = None;
        } else if let Some(anew) = address.repair()? {
            tracing::warn!("the socket was removed; bound again");
            listener = anew;
            watch = address.watch();
        }
    }
}

/// Removes the outputs of deleted sessions, in the background.
fn forget_outputs(paths: &Paths) {
    let (spool, sessions) = (Spool::at(&paths.state_dir), paths.sessions_file());
    tokio::task::spawn_blocking(move || {
        let swept =
            SqliteStore::open_existing(&sessions).and_then(|store| store.map_or(Ok(()), |one| spool.sweep(&one)));
        if let Err(error) = swept {
            tracing::warn!(%error, "outputs of sessions that are gone could not be removed");
        }
    });
}

/// Waits for the conditions of the user's watchers until the daemon ends.
fn start_watchers(paths: &Paths, secrets: Arc<Secrets>, daemon: &Arc<Daemon>, end: CancellationToken) {
    let files = WatcherFiles { store: paths.watchers_file(), signal: paths.watchers_signal() };
    let (service, reports) = Service::new(files, secrets, Arc::new(SystemClock), Arc::clone(daemon) as _);
    daemon.serve_firings(Arc::new(reports));
    tokio::spawn(service.run(end));
}

/// Runs the daemon until `shutdown` fires, by a client or from outside.
///
/// # Errors
/// When it cannot start.
pub async fn run(
    paths: &Paths,
    assembler: Arc<dyn Assembler>,
    secrets: Arc<Secrets>,
    shutdown: CancellationToken,
) -> Result<Ended, LifecycleError> {
    let Some((mut address, listener)) = Address::take(paths)? else {
        return Ok(Ended::AnotherRuns);
    };
    let facts = Facts { log_dir: paths.log_dir(), config_path: paths.config_file() };
    forget_outputs(paths);
    let left = temporary::leftovers(paths);
    tokio::task::spawn_blocking(move || temporary::remove(&left));
    let background = BackgroundTasks::at(&paths.state_dir, Arc::clone(&secrets));
    let archive = Archive::without(paths.sessions_file(), Arc::clone(&secrets));
    let daemon = Daemon::new(assembler, facts, archive, background, shutdown.clone());
    start_watchers(paths, secrets, &daemon, shutdown);
    tracing::info!(build = cohab_protocol::BUILD, pid = std::process::id(), "daemon started");
    let served = serve(&daemon, &mut address, listener).await;
    match &served {
        Ok(()) => tracing::info!("daemon ends"),
        // No client could find the daemon any more.
        Err(error) => tracing::error!(%error, "daemon ends: its socket is gone"),
    }
    daemon.close().await;
    // Before the lock is released, and only our file: otherwise it may be the next daemon's.
    if address.socket_id.is_some()
        && socket_id(&address.socket_path) == address.socket_id
        && let Err(error) = fs::remove_file(&address.socket_path)
    {
        tracing::warn!(%error, "the socket could not be removed");
    }
    served.map(|()| Ended::Served)
}

/// Fires `shutdown` at the first SIGTERM, SIGINT or SIGHUP.
///
/// # Errors
/// When the system refuses the signal handlers.
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
