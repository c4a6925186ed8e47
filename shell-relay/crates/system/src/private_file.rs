//! Files that cohab keeps for its user and that no other user may change, or read.

use std::{fmt::Display, fs::Metadata, os::unix::fs::MetadataExt as _, path::PathBuf};

use crate::files::{self, Expected, FileError};

/// Mode of the file.
const MODE: u32 = 0o600;

/// What other users may do with the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Others {
    /// Read it.
    MayRead,
    /// Nothing: it holds secrets.
    MayNothing,
}

/// A file of bounded size. It is only read if no other user can have written it.
#[derive(Clone, Debug)]
pub struct PrivateFile {
    path: PathBuf,
    limit_bytes: u64,
    others: Others,
}

/// Why the file cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[error("{}: {reason}", path.display())]
pub struct PrivateFileError {
    /// The file.
    pub path: PathBuf,
    /// A phrase.
    pub reason: String,
}

impl PrivateFile {
    /// The file at `path`, which need not exist.
    #[must_use]
    pub fn new(path: PathBuf, limit_bytes: u64, others: Others) -> Self {
        Self { path, limit_bytes, others }
    }

    /// The content, and what [`PrivateFile::replace`] compares; none if there is no file. Blocks.
    ///
    /// # Errors
    /// The file cannot be read, or others can do more with it than they may.
    pub fn read(&self) -> Result<Option<(Vec<u8>, Metadata)>, PrivateFileError> {
        let (bytes, metadata) = match files::read_regular(&self.path, self.limit_bytes) {
            Ok(read) => read,
            Err(FileError::Missing) => return Ok(None),
            Err(error) => return Err(self.fault(error)),
        };
        let (mask, verb) = match self.others {
            Others::MayRead => (0o022, "write"),
            Others::MayNothing => (0o077, "access"),
        };
        if metadata.mode() & mask != 0 || metadata.uid() != rustix::process::geteuid().as_raw() {
            return Err(self.fault(format!("other users can {verb} it; make it yours and run `chmod 600` on it")));
        }
        Ok(Some((bytes, metadata)))
    }

    /// Writes the content at once; `old` is what was read before. Makes its folder. Blocks.
    ///
    /// # Errors
    /// The file cannot be written, or is another one than the one that was read.
    pub fn replace(&self, content: &[u8], old: Option<&Metadata>) -> Result<(), PrivateFileError> {
        if let Some(folder) = self.path.parent() {
            files::make_folder(folder).map_err(|error| self.fault(error))?;
        }
        let expected = old.map_or(Expected::Absent, Expected::Same);
        files::replace(&self.path, content, expected, Some(MODE)).map_err(|error| self.fault(error))
    }

    /// The error with this reason.
    #[must_use]
    pub fn fault(&self, reason: impl Display) -> PrivateFileError {
        PrivateFileError { path: self.path.clone(), reason: reason.to_string() }
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt as _};

    use super::*;

    #[test]
    fn it_is_private_and_one_of_others_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/kept.json");
        let file = PrivateFile::new(path.clone(), 10, Others::MayRead);
        assert!(file.read().unwrap().is_none());
        file.replace(b"1", None).unwrap();
        let (content, old) = file.read().unwrap().unwrap();
        assert_eq!((content.as_slice(), old.mode() & 0o777), (b"1".as_slice(), 0o600));
        file.replace(b"22", Some(&old)).unwrap();
        assert!(file.replace(b"3", Some(&old)).is_err(), "it was changed meanwhile");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(file.read().unwrap().is_some());
        let secret = PrivateFile::new(path.clone(), 10, Others::MayNothing);
        assert!(secret.read().unwrap_err().to_string().contains("other users can access it"));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o622)).unwrap();
        assert!(file.read().unwrap_err().to_string().contains("other users can write it"));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        fs::write(&path, "x".repeat(11)).unwrap();
        assert!(file.read().unwrap_err().to_string().contains("too large"));
    }
}
