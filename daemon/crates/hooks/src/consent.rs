//! Stores which files of hooks the user allowed, by their exact content: a file that changed is not allowed any more.

use std::{
    collections::BTreeMap,
    fs::Metadata,
    path::{Path, PathBuf},
};

pub use cohab_system::private_file::PrivateFileError;
use cohab_system::private_file::{Others, PrivateFile};
use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};

/// Largest valid list, in bytes.
const MAX_LIST_BYTES: u64 = 1024 * 1024;
/// Most allowed files.
const MAX_FILES: usize = 1_000;
/// Digits of a fingerprint that are shown.
const SHORT_DIGITS: usize = 16;

/// Identifies the content of a file of hooks, and of the scripts of its project that it runs.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Fingerprint(String);

impl Fingerprint {
    /// Of these parts, in their order.
    #[must_use]
    pub fn of<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut all = Vec::new();
        for part in parts {
            all.extend_from_slice(&(part.len() as u64).to_le_bytes());
            all.extend_from_slice(part);
        }
        let hex = digest(&SHA256, &all).as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
        Self(hex)
    }

    /// Its beginning, for people.
    #[must_use]
    pub fn short(&self) -> &str {
        self.0.get(..SHORT_DIGITS).unwrap_or(&self.0)
    }
}

/// The files that the user allowed.
#[derive(Clone, Debug)]
pub struct AllowedFiles(PrivateFile);

/// Content of the list.
type Allowed = BTreeMap<PathBuf, Fingerprint>;

impl AllowedFiles {
    /// Kept at `file`, which need not exist.
    #[must_use]
    pub fn at(file: PathBuf) -> Self {
        Self(PrivateFile::new(file, MAX_LIST_BYTES, Others::MayNothing))
    }

    /// What the user allowed. Blocks.
    ///
    /// # Errors
    /// The list cannot be read, or other users can.
    pub fn all(&self) -> Result<Allowed, PrivateFileError> {
        self.read().map(|(allowed, _)| allowed)
    }

    /// Allows a file, whose path has no links, with this content. Blocks.
    ///
    /// # Errors
    /// The list cannot be read or written, or is full.
    pub fn allow(&self, path: PathBuf, fingerprint: Fingerprint) -> Result<(), PrivateFileError> {
        let (mut allowed, old) = self.read()?;
        // What is gone makes room.
        if allowed.len() >= MAX_FILES {
            allowed.retain(|path, _| path.exists());
        }
        allowed.insert(path, fingerprint);
        if allowed.len() > MAX_FILES {
            return Err(self.0.fault(format!("it already has {MAX_FILES} files; `cohab hooks forget` removes one")));
        }
        self.write(&allowed, old.as_ref())
    }

    /// No longer allows a file; whether it was. Blocks.
    ///
    /// # Errors
    /// The list cannot be read or written.
    pub fn forget(&self, path: &Path) -> Result<bool, PrivateFileError> {
        let (mut allowed, old) = self.read()?;
        let was_allowed = allowed.remove(path).is_some();
        if was_allowed {
            self.write(&allowed, old.as_ref())?;
        }
        Ok(was_allowed)
    }

    fn read(&self) -> Result<(Allowed, Option<Metadata>), PrivateFileError> {
        let Some((bytes, metadata)) = self.0.read()? else { return Ok((Allowed::new(), None)) };
        let allowed = serde_json::from_slice(&bytes).map_err(|error| self.0.fault(error))?;
        Ok((allowed, Some(metadata)))
    }

    fn write(&self, allowed: &Allowed, old: Option<&Metadata>) -> Result<(), PrivateFileError> {
        let text = serde_json::to_vec_pretty(allowed).map_err(|error| self.0.fault(error))?;
        self.0.replace(&text, old)
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt as _};

    use super::*;

    #[test]
    fn a_file_is_allowed_by_its_content_until_it_is_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let list = folder.path().join("state/allowed-hooks.json");
        let allowed = AllowedFiles::at(list.clone());
        assert!(allowed.all().unwrap().is_empty());
        let print = |text: &str| Fingerprint::of([text.as_bytes()]);
        allowed.allow("/p/a".into(), print("1")).unwrap();
        allowed.allow("/p/b".into(), print("1")).unwrap();
        allowed.allow("/p/a".into(), print("2")).unwrap();
        assert_eq!(allowed.all().unwrap()[Path::new("/p/a")], print("2"));
        assert!(allowed.forget(Path::new("/p/a")).unwrap() && !allowed.forget(Path::new("/p/a")).unwrap());
        assert_eq!(allowed.all().unwrap().len(), 1);
        assert_eq!(fs::metadata(&list).unwrap().permissions().mode() & 0o777, 0o600);
        fs::set_permissions(&list, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(allowed.all().unwrap_err().to_string().contains("chmod 600"));
    }

    #[test]
    fn parts_do_not_run_together() {
        let of = |parts: &[&str]| Fingerprint::of(parts.iter().map(|part| part.as_bytes()));
        assert_ne!(of(&["ab", "c"]), of(&["a", "bc"]));
        assert_eq!(of(&["ab", "c"]), of(&["ab", "c"]));
    }
}
