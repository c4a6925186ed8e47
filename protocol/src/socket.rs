//! Opens the socket and checks the peer. The trust boundary is the same uid on both ends.

use std::{
    fs, io,
    os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
};

use tokio::net::{UnixListener, UnixStream};

use crate::PROTOCOL_VERSION;

/// `sun_path` holds 108 bytes on Linux and 104 on macOS, one of them the NUL.
const MAX_SOCKET_PATH_BYTES: usize = 103;

/// The reason why a socket cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SocketError {
    /// The folder is not safely ours.
    #[error("{}: {reason}; it must be a folder of yours with mode 0700", path.display())]
    UnsafeDirectory {
        /// The folder.
        path: PathBuf,
        /// The defect of the folder.
        reason: String,
    },
    /// The system refused.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Another user is at the other end.
    #[error("the process at the other end runs as uid {uid}, not as you")]
    ForeignPeer {
        /// The peer's user id.
        uid: u32,
    },
}

/// The socket's path below `runtime_dir`; the version is in its name. Too long a path becomes `/tmp/cohab-<uid>/<hash>.sock`.
#[must_use]
pub fn socket_path(runtime_dir: &Path, uid: u32) -> PathBuf {
    let path = runtime_dir.join(format!("d{PROTOCOL_VERSION}.sock"));
    if path.as_os_str().len() <= MAX_SOCKET_PATH_BYTES {
        return path;
    }
    let hash = crate::version::fnv1a(path.as_os_str().as_encoded_bytes());
    PathBuf::from(format!("/tmp/cohab-{uid}/{hash:016x}.sock"))
}

/// Makes `path` a folder that only our user can enter.
///
/// # Errors
/// `UnsafeDirectory` if it is a link, another user's, or open to others; `Io` if it cannot be made.
pub fn secure_directory(path: &Path) -> Result<(), SocketError> {
    let io = |source| SocketError::Io { path: path.to_owned(), source };
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(io)?;
    }
    match fs::DirBuilder::new().mode(0o700).create(path) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(io(error)),
    }
    let metadata = fs::symlink_metadata(path).map_err(io)?;
    let refuse = |reason: String| SocketError::UnsafeDirectory { path: path.to_owned(), reason };
    if !metadata.is_dir() {
        return Err(refuse("it is not a folder".into()));
    }
    if metadata.uid() != rustix::process::getuid().as_raw() {
        return Err(refuse(format!("it belongs to uid {}", metadata.uid())));
    }
    match metadata.permissions().mode() & 0o777 {
        0o700 => Ok(()),
        mode => Err(refuse(format!("its mode is {mode:04o}"))),
    }
}

/// Binds the socket with mode 0600. The caller holds the daemon's lock, so a file in the way is stale and is removed.
///
/// # Errors
/// As [`secure_directory`]; `Io` if binding fails.
pub fn listen(path: &Path) -> Result<UnixListener, SocketError> {
    if let Some(directory) = path.parent() {
        secure_directory(directory)?;
    }
    let io = |source| SocketError::Io { path: path.to_owned(), source };
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(io(error)),
        _ => {}
    }
    let listener = UnixListener::bind(path).map_err(io)?;
    // The folder is closed to others already, so no one can connect between these two lines.
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).map_err(io)?;
    Ok(listener)
}

/// Connects, and checks the listener.
///
/// # Errors
/// `Io` if no daemon listens, `ForeignPeer` if the listener is another user's.
pub async fn connect(path: &Path) -> Result<UnixStream, SocketError> {
    let io = |source| SocketError::Io { path: path.to_owned(), source };
    let stream = UnixStream::connect(path).await.map_err(io)?;
    check_peer(&stream)?;
    Ok(stream)
}

/// Whether the other end runs as our user.
///
/// # Errors
/// `ForeignPeer` if not; `Io` if the system cannot report the peer.
pub fn check_peer(stream: &UnixStream) -> Result<(), SocketError> {
    let peer = stream.peer_cred().map_err(|source| SocketError::Io { path: PathBuf::new(), source })?;
    if peer.uid() == rustix::process::getuid().as_raw() {
        return Ok(());
    }
    Err(SocketError::ForeignPeer { uid: peer.uid() })
}
