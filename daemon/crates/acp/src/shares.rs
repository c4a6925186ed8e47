//! The shells that their users share with programs of other terminals: a private file each, which names the socket and its token.

use std::{
    fs, io,
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
};

use cohab_protocol::{Paths, socket::secure_directory};
use cohab_system::files::{self, Expected, FileError};
use serde::{Deserialize, Serialize};

/// The reason for a call while no shell is shared.
pub(crate) const NONE_SHARED: &str =
    "No shell is shared. The user shares one by typing `? /share` at its prompt in cohab; call again then.";
/// Longest name of a shared shell.
const NAME_MAX_CHARS: usize = 40;
/// The name of a shell whose folder has none.
const UNNAMED: &str = "shell";
/// Most shells that are shared at one time.
const MAX_SHARED: usize = 64;
/// Largest file of a shared shell.
const FILE_MAX_BYTES: u64 = 64 * 1024;
/// Ending of such a file.
const ENDING: &str = "json";

/// A shell that its user shares.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedShell {
    /// What programs call it.
    pub name: String,
    /// Its kind: `bash`, `zsh` or `fish`.
    pub shell: String,
    /// Its folder when it was shared.
    pub folder: PathBuf,
    /// The socket on which it takes calls.
    pub(crate) socket: PathBuf,
    /// What a caller shows first.
    pub(crate) token: String,
}

/// The folder of the shared shells.
#[derive(Clone, Debug)]
pub struct Shares(PathBuf);

impl Shares {
    /// Those of this user.
    #[must_use]
    pub fn of(paths: &Paths) -> Self {
        Self::at(paths.runtime_dir.join("shared"))
    }

    /// Those in a folder, which need not exist.
    #[must_use]
    pub fn at(folder: PathBuf) -> Self {
        Self(folder)
    }

    /// The folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.0
    }

    /// Lets programs find a shell, under its name or that name with a number, until the result is dropped.
    ///
    /// # Errors
    /// The folder is not safely ours, too many shells are shared, or the file cannot be written.
    pub(crate) fn publish(&self, mut shared: SharedShell) -> io::Result<Published> {
        secure_directory(&self.0).map_err(io::Error::other)?;
        // Makes room where a shell ended without a word.
        let _ = self.list();
        let wanted = name_of(&shared.name, &shared.folder);
        for number in 1..=MAX_SHARED {
            shared.name = if number == 1 { wanted.clone() } else { format!("{wanted}-{number}") };
            let path = self.file(&shared.name);
            let text = serde_json::to_vec(&shared)?;
            match files::replace(&path, &text, Expected::Absent, Some(0o600)) {
                Ok(()) => return Ok(Published { shared, path }),
                Err(FileError::Io(error)) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                Err(_) => {}
            }
        }
        Err(io::Error::other(format!("{MAX_SHARED} shells are shared")))
    }

    /// Whether a shell is still shared as it was.
    pub(crate) fn has(&self, shell: &SharedShell) -> bool {
        parsed(&self.file(&shell.name)).as_ref() == Some(shell)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name).with_extension(ENDING)
    }

    /// All of them by name. The file of one that is gone is removed.
    #[must_use]
    pub fn list(&self) -> Vec<SharedShell> {
        // Without a folder none is shared; one that others can write to names nothing of the user's.
        if !self.0.is_dir() || secure_directory(&self.0).is_err() {
            return Vec::new();
        }
        let entries = fs::read_dir(&self.0).into_iter().flatten().flatten();
        let files = entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|end| end == ENDING));
        let mut shells: Vec<SharedShell> = files.take(MAX_SHARED).filter_map(|path| read(&path)).collect();
        shells.sort_by(|one, other| one.name.cmp(&other.name));
        shells
    }
}

fn parsed(path: &Path) -> Option<SharedShell> {
    let (bytes, _) = files::read_regular(path, FILE_MAX_BYTES).ok()?;
    serde_json::from_slice(&bytes).ok()
}

/// The shell of a file, if it still takes calls.
fn read(path: &Path) -> Option<SharedShell> {
    let shared = parsed(path)?;
    if UnixStream::connect(&shared.socket).is_ok() {
        return Some(shared);
    }
    // A file that stays is looked at again.
    let _ = fs::remove_file(path);
    None
}

/// A name of letters, digits, `-` and `_`: the user's own, or that of the folder.
fn name_of(wanted: &str, folder: &Path) -> String {
    let folder = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let plain = |text: &str| {
        let letters: String =
            text.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' }).collect();
        let cut: String = letters.trim_matches('-').chars().take(NAME_MAX_CHARS).collect();
        cut.trim_end_matches('-').to_owned()
    };
    let names = [plain(wanted), plain(&folder)];
    names.into_iter().find(|name| !name.is_empty()).unwrap_or_else(|| UNNAMED.to_owned())
}

/// A shell that programs find; they find it no longer once this is dropped.
#[derive(Debug)]
pub(crate) struct Published {
    pub shared: SharedShell,
    path: PathBuf,
}

impl Drop for Published {
    fn drop(&mut self) {
        // A file that stays names a socket that is gone.
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::{fs::PermissionsExt as _, net::UnixListener};

    use super::*;

    #[test]
    fn a_name_is_plain_and_falls_back_to_the_folder() {
        for (wanted, folder, name) in [
            ("web", "/home/u/api", "web"),
            ("", "/home/u/my shop.v2", "my-shop-v2"),
            (" ../x;y ", "/", "x-y"),
            ("", "/", "shell"),
            ("äöü", "/tmp/é", "shell"),
        ] {
            assert_eq!(name_of(wanted, Path::new(folder)), name, "{wanted:?} {folder}");
        }
        assert_eq!(name_of(&"a".repeat(99), Path::new("/")).len(), NAME_MAX_CHARS);
    }

    #[test]
    fn shells_of_one_name_are_told_apart_and_one_that_is_gone_is_not_listed() {
        let folder = tempfile::tempdir().expect("a folder");
        let shares = Shares::at(folder.path().join("shared"));
        assert!(shares.list().is_empty());
        let socket = folder.path().join("s");
        let listener = UnixListener::bind(&socket).expect("a socket");
        let shared = |socket: &Path| SharedShell {
            name: "web".into(),
            shell: "zsh".into(),
            folder: "/w".into(),
            socket: socket.to_owned(),
            token: "t".into(),
        };
        let first = shares.publish(shared(&socket)).expect("published");
        let second = shares.publish(shared(&socket)).expect("published");
        let names = || shares.list().into_iter().map(|shell| shell.name).collect::<Vec<_>>();
        assert_eq!(names(), ["web", "web-2"]);
        let mode = fs::metadata(&first.path).expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        drop(first);
        assert_eq!(names(), ["web-2"]);
        drop(listener);
        assert!(names().is_empty() && !second.path.exists());
        fs::write(shares.folder().join("odd.json"), "{").expect("written");
        assert!(names().is_empty());
    }
}
