//! Opens and replaces files in untrusted places.
//!
//! A file that a user names may be a pipe, a device, a folder, a link or huge. [`open_regular`] and [`read_regular`] never wait for one
//! and take only regular files within a limit. [`replace`] writes a new file next to the old one and renames it, so that a reader sees
//! the old or the new content and nothing between.
//!
//! This module does not interpret the content of files.

use std::{
    fs::{self, DirBuilder, File, Metadata, OpenOptions, Permissions},
    io::{self, Read, Write},
    os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt},
    path::Path,
};

use rustix::fs::OFlags;

/// The reason why a file cannot be used. `Display` is a phrase that follows the file's name and a colon.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// No file has this name.
    #[error("no such file")]
    Missing,
    /// The system denies access.
    #[error("permission denied")]
    Denied,
    /// It is a folder.
    #[error("is a folder, not a file")]
    Folder,
    /// A pipe, a socket, a device or a link.
    #[error("is {0}, not a regular file")]
    Special(&'static str),
    /// Larger than the caller's limit.
    #[error("is too large: more than {limit_bytes} bytes")]
    TooLarge {
        /// The caller's limit.
        limit_bytes: u64,
    },
    /// Another program changed the file since it was last checked.
    #[error("changed meanwhile")]
    Changed,
    /// Any other error.
    #[error("{0}")]
    Io(io::Error),
}

impl From<io::Error> for FileError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::Missing,
            io::ErrorKind::PermissionDenied => Self::Denied,
            io::ErrorKind::IsADirectory => Self::Folder,
            _ => Self::Io(error),
        }
    }
}

/// Opens a regular file for reading. The last component of `path` must not be a link: resolve it before. Anything but a regular file is
/// not even opened, since opening alone wakes the writer of a pipe or rewinds a tape.
///
/// # Errors
/// The file is missing, not readable, or not a regular file.
pub fn open_regular(path: &Path) -> Result<(File, Metadata), FileError> {
    refuse_irregular(&fs::symlink_metadata(path)?)?;
    // Another program may swap the file after the check above; these flags keep the open from waiting or following.
    let flags = OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::NOCTTY;
    let file = OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)?;
    let metadata = file.metadata()?;
    refuse_irregular(&metadata)?;
    Ok((file, metadata))
}

/// Reads a regular file of at most `limit_bytes`; the metadata belongs to the bytes that were read. Links are handled as in
/// [`open_regular`].
///
/// # Errors
/// As [`open_regular`], and `TooLarge`.
pub fn read_regular(path: &Path, limit_bytes: u64) -> Result<(Vec<u8>, Metadata), FileError> {
    let (file, metadata) = open_regular(path)?;
    if metadata.len() > limit_bytes {
        return Err(FileError::TooLarge { limit_bytes });
    }
    let mut content = Vec::new();
    // The size in the metadata is 0 for files of /proc and old for files that grow.
    file.take(limit_bytes + 1).read_to_end(&mut content)?;
    if content.len() as u64 > limit_bytes {
        return Err(FileError::TooLarge { limit_bytes });
    }
    Ok((content, metadata))
}

fn refuse_irregular(metadata: &Metadata) -> Result<(), FileError> {
    let kind = metadata.file_type();
    match kind {
        _ if kind.is_file() => Ok(()),
        _ if kind.is_dir() => Err(FileError::Folder),
        _ if kind.is_fifo() => Err(FileError::Special("a named pipe")),
        _ if kind.is_socket() => Err(FileError::Special("a socket")),
        _ if kind.is_symlink() => Err(FileError::Special("a symbolic link")),
        _ => Err(FileError::Special("a device")),
    }
}

/// Makes a folder for its owner only, with the folders above it.
///
/// # Errors
/// The system's.
pub fn make_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Options for files that must not be links and must not block.
#[must_use]
pub fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed());
    options
}

/// The regular file at `path`, if anything is there.
///
/// # Errors
/// It is another kind of file, or the system's error.
pub fn existing(path: &Path, options: &OpenOptions) -> io::Result<Option<File>> {
    let file = match options.open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    match file.metadata()?.is_file() {
        true => Ok(Some(file)),
        false => Err(io::Error::other("it is not a regular file")),
    }
}

/// The expected state of a path that is about to be replaced.
#[derive(Clone, Copy, Debug)]
pub enum Expected<'a> {
    /// No file.
    Absent,
    /// The file with this metadata, untouched. The new file gets its mode and, where allowed, its owner.
    Same(&'a Metadata),
}

/// Writes `content` to `path` so that at every moment, also after a crash, either the whole old file or the whole new file is there.
/// Permissions are `mode` if given (less the umask for a new file), else those of the old file.
///
/// # Errors
/// `Changed` when something other than `expected` is there; else the system's error. The old file is then untouched.
pub fn replace(path: &Path, content: &[u8], expected: Expected<'_>, mode: Option<u32>) -> Result<(), FileError> {
    let folder = path.parent().ok_or(FileError::Folder)?;
    let mut temporary = tempfile::Builder::new()
        .prefix(".cohab-")
        .permissions(Permissions::from_mode(mode.unwrap_or(0o600)))
        .tempfile_in(folder)
        .map_err(|error| FileError::from(io::Error::from(error.kind())))?;
    temporary.write_all(content)?;
    if let Expected::Same(old) = expected {
        keep_owner_and_mode(temporary.as_file(), old, mode)?;
    }
    temporary.as_file().sync_all()?;
    match expected {
        Expected::Absent => temporary.persist_noclobber(path),
        Expected::Same(old) => {
            let now = fs::symlink_metadata(path).map_err(|_| FileError::Changed)?;
            if identity(&now) != identity(old) {
                return Err(FileError::Changed);
            }
            temporary.persist(path)
        }
    }
    .map_err(|error| match error.error.kind() {
        io::ErrorKind::AlreadyExists => FileError::Changed,
        _ => FileError::from(error.error),
    })?;
    // The name is durable only once its folder is; not every file system can do this, and the content is safe either way.
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
    Ok(())
}

fn keep_owner_and_mode(file: &File, old: &Metadata, mode: Option<u32>) -> io::Result<()> {
    let new = file.metadata()?;
    let is_same_owner = (new.uid(), new.gid()) == (old.uid(), old.gid())
        || std::os::unix::fs::fchown(file, Some(old.uid()), Some(old.gid())).is_ok();
    // A file of another owner must not inherit set-uid and set-gid.
    let kept_bits = if is_same_owner { 0o7777 } else { 0o777 };
    file.set_permissions(Permissions::from_mode(mode.unwrap_or(old.mode() & kept_bits)))
}

fn identity(metadata: &Metadata) -> (u64, u64, u64, i64, i64) {
    (metadata.dev(), metadata.ino(), metadata.len(), metadata.mtime(), metadata.mtime_nsec())
}

#[cfg(test)]
mod tests {
    use std::os::unix::{fs::symlink, net::UnixListener};

    use super::*;

    fn text_of(result: Result<(Vec<u8>, Metadata), FileError>) -> String {
        result.expect_err("must be refused").to_string()
    }

    #[test]
    fn pipes_devices_sockets_links_and_folders_are_refused_without_waiting() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        rustix::fs::mknodat(
            rustix::fs::CWD,
            path("pipe"),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
            0,
        )
        .unwrap();
        let _listener = UnixListener::bind(path("socket")).unwrap();
        symlink("pipe", path("link")).unwrap();

        assert_eq!(text_of(read_regular(&path("pipe"), 10)), "is a named pipe, not a regular file");
        assert_eq!(text_of(read_regular(&path("socket"), 10)), "is a socket, not a regular file");
        assert_eq!(text_of(read_regular(&path("link"), 10)), "is a symbolic link, not a regular file");
        assert_eq!(text_of(read_regular(dir.path(), 10)), "is a folder, not a file");
        assert_eq!(text_of(read_regular(&path("gone"), 10)), "no such file");
        assert_eq!(text_of(read_regular(Path::new("/dev/zero"), 10)), "is a device, not a regular file");
    }

    #[test]
    fn a_file_is_read_up_to_the_limit_and_not_beyond() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        fs::write(&path, b"12345").unwrap();
        assert_eq!(read_regular(&path, 5).unwrap().0, b"12345");
        assert_eq!(text_of(read_regular(&path, 4)), "is too large: more than 4 bytes");
        assert!(!read_regular(Path::new("/proc/self/status"), 65_536).unwrap().0.is_empty());
    }

    #[test]
    fn replacing_keeps_the_mode_and_leaves_no_temporary_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run.sh");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o751)).unwrap();
        let old = fs::metadata(&path).unwrap();
        replace(&path, b"new", Expected::Same(&old), None).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, 0o751);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_file_that_changed_appeared_or_vanished_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        fs::write(&path, "first").unwrap();
        let seen = fs::metadata(&path).unwrap();
        fs::write(&path, "second").unwrap();
        let changed = |expected| matches!(replace(&path, b"mine", expected, None), Err(FileError::Changed));
        assert!(changed(Expected::Same(&seen)));
        assert!(changed(Expected::Absent));
        assert_eq!(fs::read(&path).unwrap(), b"second");
        fs::remove_file(&path).unwrap();
        assert!(changed(Expected::Same(&seen)));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}
