//! Notices the removal of files from a folder, without a timer.

use std::{io, path::Path};

use tokio::net::unix::pipe::Receiver;

/// Room for a good number of events; their content is ignored.
const EVENT_BUFFER_BYTES: usize = 4096;

/// Folders that are watched.
#[derive(Debug)]
pub struct FolderWatch(Receiver);

impl FolderWatch {
    /// Watches the current `folders`; after one is replaced by another of the same name, a new watch is needed.
    ///
    /// # Errors
    /// When the system cannot watch them (any more).
    #[cfg(target_os = "linux")]
    pub fn new<'a>(folders: impl IntoIterator<Item = &'a Path>) -> io::Result<Self> {
        use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
        let events = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?;
        let flags = WatchFlags::DELETE | WatchFlags::MOVED_FROM | WatchFlags::DELETE_SELF | WatchFlags::MOVE_SELF;
        for folder in folders {
            inotify::add_watch(&events, folder, flags)?;
        }
        // Not a pipe, but read like one.
        Ok(Self(Receiver::from_owned_fd_unchecked(events)?))
    }

    /// Folders of other systems cannot be watched.
    ///
    /// # Errors
    /// Always.
    #[cfg(not(target_os = "linux"))]
    pub fn new<'a>(_folders: impl IntoIterator<Item = &'a Path>) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Completes when a file was removed from a folder since the last call. Cancel-safe.
    ///
    /// # Errors
    /// When the system stops reporting.
    pub async fn changed(&self) -> io::Result<()> {
        let mut buffer = [0; EVENT_BUFFER_BYTES];
        loop {
            self.0.readable().await?;
            match self.0.try_read(&mut buffer) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(_) => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs;

    use futures::FutureExt;

    use super::*;

    #[tokio::test]
    async fn what_goes_is_noticed_and_what_comes_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let watch = FolderWatch::new([folder.path()]).unwrap();
        fs::write(&path, "x").unwrap();
        assert!(watch.changed().now_or_never().is_none());
        fs::remove_file(&path).unwrap();
        watch.changed().await.unwrap();
        assert!(watch.changed().now_or_never().is_none(), "the event is used up");
    }

    #[test]
    fn a_folder_that_is_not_there_is_an_error() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let _context = runtime.enter();
        assert!(FolderWatch::new([Path::new("/no/such/folder")]).is_err());
    }
}
