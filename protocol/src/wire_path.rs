//! A path in a message, as bytes. Unix paths are not text: the name of a directory that is not UTF-8 must arrive unchanged.

use std::{
    ffi::OsStr,
    fmt,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

/// A path in its exact bytes, without a trailing NUL.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct WirePath(#[serde(with = "serde_bytes")] Vec<u8>);

impl WirePath {
    /// The path, borrowed.
    #[must_use]
    pub fn as_path(&self) -> &Path {
        Path::new(OsStr::from_bytes(&self.0))
    }

    /// The path, owned.
    #[must_use]
    pub fn to_path_buf(&self) -> PathBuf {
        self.as_path().to_owned()
    }
}

impl From<&Path> for WirePath {
    fn from(path: &Path) -> Self {
        Self(path.as_os_str().as_bytes().to_vec())
    }
}

impl From<PathBuf> for WirePath {
    fn from(path: PathBuf) -> Self {
        Self::from(path.as_path())
    }
}

impl fmt::Display for WirePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_path().display().fmt(f)
    }
}

impl fmt::Debug for WirePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_path().fmt(f)
    }
}
