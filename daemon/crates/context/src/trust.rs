//! Stores the folders that the user trusts to instruct the assistant: one path per line, in a private file.
//!
//! The texts of a project are data, no matter who wrote them. Two kinds of them do more than inform: identity files describe the
//! assistant's behaviour, skills describe procedures. They are used in trusted folders only. No project can set endpoints, keys and
//! settings, trusted or not. Hooks of a trusted project run only with the user's consent to their exact content (`cohab-hooks`).

use std::{
    ffi::OsStr,
    fs::{self, DirBuilder, Metadata},
    io,
    os::unix::{
        ffi::OsStrExt as _,
        fs::{DirBuilderExt, MetadataExt},
    },
    path::{Path, PathBuf},
};

use cohab_system::files::{self, Expected, FileError};

/// Largest valid file, in bytes.
const MAX_FILE_BYTES: u64 = 256 * 1024;
/// Most trusted folders.
const MAX_FOLDERS: usize = 1_000;
/// Permissions that others must not have on the file.
const OTHERS_MODE: u32 = 0o077;
/// Write permission that others must not have on a trusted folder.
const OTHERS_WRITE: u32 = 0o022;

/// The reason why a folder is not trusted, or trust not removed. A sentence.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// It does not exist, or cannot be read.
    #[error("{}: {source}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// It would cover too much, or other users can change it.
    #[error("{} cannot be trusted: {reason}", path.display())]
    Unfit {
        /// The folder.
        path: PathBuf,
        /// A phrase.
        reason: &'static str,
    },
    /// It is trusted because a folder above it is.
    #[error("{} is trusted because {} is trusted", path.display(), by.display())]
    Covered {
        /// The folder.
        path: PathBuf,
        /// The folder above.
        by: PathBuf,
    },
    /// It was not trusted.
    #[error("{} is not trusted", .0.display())]
    Unknown(PathBuf),
    /// The list cannot be read or written, or other users can do so.
    #[error("{}: {reason}", path.display())]
    List {
        /// Its file.
        path: PathBuf,
        /// A phrase.
        reason: String,
    },
}

/// The list of trusted folders.
#[derive(Clone, Debug)]
pub struct TrustedFolders {
    file: PathBuf,
    home: PathBuf,
}

impl TrustedFolders {
    /// Kept at `file`, which need not exist, for the user whose home is `home`, its links resolved.
    #[must_use]
    pub fn new(file: PathBuf, home: PathBuf) -> Self {
        Self { file, home }
    }

    /// Whether `folder`, which has its links resolved, or one above it is trusted. An unreadable list trusts nothing. Blocks.
    #[must_use]
    pub fn covers(&self, folder: &Path) -> bool {
        self.read().is_ok_and(|(folders, _)| self.covering(&folders, folder).is_some())
    }

    /// All trusted folders, sorted. Blocks.
    ///
    /// # Errors
    /// `List`.
    pub fn list(&self) -> Result<Vec<PathBuf>, TrustError> {
        self.read().map(|(folders, _)| folders)
    }

    /// Trusts a folder and all below; returns its real path. Blocks.
    ///
    /// # Errors
    /// As [`TrustError`] says.
    pub fn add(&self, folder: &Path) -> Result<PathBuf, TrustError> {
        let real = real(folder)?;
        self.fit(&real)?;
        let (mut folders, old) = self.read()?;
        if self.covering(&folders, &real).is_some() {
            return Ok(real);
        }
        if folders.len() >= MAX_FOLDERS {
            return Err(self.fault(format!("it already has {MAX_FOLDERS} folders; `cohab trust --remove` removes one")));
        }
        folders.push(real.clone());
        self.write(folders, old.as_ref())?;
        Ok(real)
    }

    /// No longer trusts a folder, which may be gone by now; returns its path. Blocks.
    ///
    /// # Errors
    /// As [`TrustError`] says.
    pub fn remove(&self, folder: &Path) -> Result<PathBuf, TrustError> {
        let real = real(folder).unwrap_or_else(|_| folder.to_owned());
        let (mut folders, old) = self.read()?;
        match self.covering(&folders, &real).map(Path::to_owned) {
            Some(by) if by == real || folders.contains(&real) => {
                folders.retain(|one| *one != real);
                self.write(folders, old.as_ref())?;
                Ok(real)
            }
            Some(by) => Err(TrustError::Covered { path: real, by }),
            None => Err(TrustError::Unknown(real)),
        }
    }

    /// Entries that `add` would refuse are ignored, no matter who wrote them.
    fn covering<'a>(&self, folders: &'a [PathBuf], folder: &Path) -> Option<&'a Path> {
        let mut valid = folders.iter().map(PathBuf::as_path).filter(|one| self.reaches_too_far(one).is_none());
        valid.find(|one| folder.starts_with(one))
    }

    fn reaches_too_far(&self, folder: &Path) -> Option<&'static str> {
        match folder {
            _ if folder.parent().is_none() => Some("it is the root folder"),
            _ if folder == self.home => Some("it is your home folder; trust a project in it"),
            _ if self.home.starts_with(folder) => Some("it contains your home folder"),
            _ => None,
        }
    }

    fn fit(&self, folder: &Path) -> Result<(), TrustError> {
        let unfit = |reason| TrustError::Unfit { path: folder.to_owned(), reason };
        let metadata = fs::metadata(folder).map_err(|source| TrustError::Folder { path: folder.to_owned(), source })?;
        if let Some(reason) = self.reaches_too_far(folder) {
            return Err(unfit(reason));
        }
        let is_own = metadata.uid() == 0 || metadata.uid() == rustix::process::geteuid().as_raw();
        match () {
            () if !metadata.is_dir() => Err(unfit("it is not a folder")),
            () if !is_own => Err(unfit("it belongs to another user")),
            () if metadata.mode() & OTHERS_WRITE != 0 => Err(unfit("other users can write to it")),
            () if folder.as_os_str().as_bytes().iter().any(u8::is_ascii_control) => {
                Err(unfit("its name holds control characters"))
            }
            () => Ok(()),
        }
    }

    fn read(&self) -> Result<(Vec<PathBuf>, Option<Metadata>), TrustError> {
        let (bytes, metadata) = match files::read_regular(&self.file, MAX_FILE_BYTES) {
            Ok(read) => read,
            Err(FileError::Missing) => return Ok((Vec::new(), None)),
            Err(error) => return Err(self.fault(error.to_string())),
        };
        if metadata.mode() & OTHERS_MODE != 0 || metadata.uid() != rustix::process::geteuid().as_raw() {
            return Err(self.fault("other users can access it; run `chmod 600` on it".into()));
        }
        let lines = bytes.split(|byte| *byte == b'\n').filter(|line| line.starts_with(b"/"));
        let mut folders: Vec<PathBuf> = lines.map(|line| PathBuf::from(OsStr::from_bytes(line))).collect();
        folders.sort();
        Ok((folders, Some(metadata)))
    }

    fn write(&self, mut folders: Vec<PathBuf>, old: Option<&Metadata>) -> Result<(), TrustError> {
        folders.sort();
        let lines = folders.iter().flat_map(|folder| [folder.as_os_str().as_bytes(), b"\n"]);
        let text = lines.collect::<Vec<_>>().concat();
        if let Some(folder) = self.file.parent() {
            let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
            made.map_err(|error| self.fault(error.to_string()))?;
        }
        let expected = old.map_or(Expected::Absent, Expected::Same);
        files::replace(&self.file, &text, expected, Some(0o600)).map_err(|error| self.fault(error.to_string()))
    }

    fn fault(&self, reason: String) -> TrustError {
        TrustError::List { path: self.file.clone(), reason }
    }
}

fn real(folder: &Path) -> Result<PathBuf, TrustError> {
    folder.canonicalize().map_err(|source| TrustError::Folder { path: folder.to_owned(), source })
}

#[cfg(test)]
#[path = "trust_tests.rs"]
mod tests;
