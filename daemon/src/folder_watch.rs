//! Notices the removal of files from a folder, without a timer.

use std::{io, path::Path};

use tokio::net::unix::pipe::Receiver;

/// Room for a good number of events; what they say is not looked at.
const EVENT_BUFFER_BYTES: usize = 4096;

/// Folders that are watched.
#[derive(Debug)]
pub struct FolderWatch(Receiver);

impl FolderWatch {
    /// Watches `folders` as they are now; one that is replaced by another of its name must be watched anew.
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
        // No pipe, but read like one.
        Ok(Self(Receiver::from_owned_fd_unchecked(events)?))
    }

    /// Other systems are not watched.
    ///
    /// # Errors
    /// Always.
    #[cfg(not(target_os = "linux"))]
    pub fn new<'a>(_folders: impl IntoIterator<Item = &'a Path>) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Completes when something went from a folder since the last call. Cancel-safe.
    ///
    /// # Errors
    /// When the system stops telling.
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
