//! The spool keeps long tool outputs whole: files below `outputs`, in a folder per session, which the model pages through. They are
//! deleted with their session.

use std::{
    fs::{self, DirBuilder, OpenOptions},
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
    time::SystemTime,
};

use cohab_model_api::Scrubbed;
use cohab_text::cut::{cut_middle, head};

use super::{
    StoreError,
    sessions::{Found, SqliteStore, StateStore, id},
};

/// Largest file, in bytes; a longer output loses its middle.
const MAX_FILE_BYTES: usize = 4 * 1024 * 1024;
/// Most bytes of one session's files; the oldest are deleted first.
const MAX_SESSION_BYTES: u64 = 32 * 1024 * 1024;
/// Most bytes of all files; the session that was written first is deleted first.
const MAX_BYTES: u64 = 256 * 1024 * 1024;
/// Most files of one session.
const MAX_FILES: usize = 200;

/// Begins the note behind an output that was cut.
const NOTE_BEGIN: &str = "[more of it is in ";
/// Stands in that note behind the path.
const NOTE_END: &str = ", for `read` with `offset` and `limit`";

/// The folder of all outputs.
#[derive(Clone, Debug)]
pub struct Spool {
    root: PathBuf,
    max_session_bytes: u64,
    max_bytes: u64,
}

/// A file or a folder, with its age and size.
pub(super) struct StoredFile {
    pub path: PathBuf,
    pub modified: SystemTime,
    pub bytes: u64,
}

impl Spool {
    /// A spool below `state_dir`, which need not exist.
    #[must_use]
    pub fn at(state_dir: &Path) -> Self {
        // The policy judges paths with links resolved.
        let state_dir = state_dir.canonicalize().unwrap_or_else(|_| state_dir.to_owned());
        Self { root: state_dir.join("outputs"), max_session_bytes: MAX_SESSION_BYTES, max_bytes: MAX_BYTES }
    }

    /// The folder of the session of this name.
    #[must_use]
    pub fn folder(&self, key: &str) -> PathBuf {
        self.root.join(id::of_key(key))
    }

    /// Stores `text` for the session of this name, its lines in pieces of at most `line_max_bytes`, and returns its file. Blocks.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn keep(&self, key: &str, text: &Scrubbed<String>, line_max_bytes: usize) -> io::Result<PathBuf> {
        let folder = self.folder(key);
        DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        // Text beyond a limit is removed before more is added.
        let text = cut_middle(&foldable(text, line_max_bytes), MAX_FILE_BYTES);
        shrink(kept_in(&folder), MAX_FILES - 1, self.max_session_bytes.saturating_sub(text.len() as u64));
        let sessions = kept_in(&self.root).into_iter().filter(|one| one.path != folder);
        let sessions = sessions.map(|one| StoredFile { bytes: total(&kept_in(&one.path)), ..one }).collect();
        shrink(sessions, usize::MAX, self.max_bytes.saturating_sub(self.max_session_bytes));
        let path = folder.join(format!("{}.txt", uuid::Uuid::now_v7().as_simple()));
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        file.write_all(text.as_bytes())?;
        Ok(path)
    }

    /// The note behind an output that was cut, which names the file of the whole.
    #[must_use]
    pub fn note(path: &Path, details: &str) -> String {
        format!("{NOTE_BEGIN}{}{NOTE_END}{details}]", path.display())
    }

    /// The whole of an output that was cut, if a [`note`](Self::note) in it names a file that is kept for this session. Blocks.
    #[must_use]
    pub fn whole(&self, key: &str, output: &str) -> Option<String> {
        let (_, named) = output.rsplit_once(NOTE_BEGIN)?;
        let path = Path::new(named.split_once(NOTE_END)?.0);
        // Any program can write such a note.
        let is_kept = path.parent() == Some(self.folder(key).as_path());
        fs::read_to_string(path).ok().filter(|_| is_kept)
    }

    /// Removes the folders of sessions that are no longer in `store`. Blocks.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn sweep(&self, store: &SqliteStore) -> Result<(), StoreError> {
        for folder in kept_in(&self.root) {
            let name = folder.path.file_name().and_then(|name| name.to_str()).filter(|name| name.len() == id::DIGITS);
            if let Some(name) = name
                && matches!(store.find(name)?, Found::None)
            {
                remove(&folder.path);
            }
        }
        Ok(())
    }
}

/// The text with line ends inside of lines that `read` would cut: there is no other way to read their rest.
fn foldable(text: &str, line_max_bytes: usize) -> String {
    let mut folded = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let mut rest = line;
        while rest.trim_end_matches('\n').len() > line_max_bytes {
            let start = head(rest, line_max_bytes);
            folded.push_str(start);
            folded.push('\n');
            rest = &rest[start.len()..];
        }
        folded.push_str(rest);
    }
    folded
}

/// The content of a folder; empty if it cannot be read.
pub(super) fn kept_in(folder: &Path) -> Vec<StoredFile> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let kept = entries.filter_map(|entry| {
        let metadata = entry.metadata().ok()?;
        let modified = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        Some(StoredFile { path: entry.path(), modified, bytes: metadata.len() })
    });
    kept.collect()
}

pub(super) fn total(kept: &[StoredFile]) -> u64 {
    kept.iter().map(|one| one.bytes).sum()
}

/// Removes the oldest until there are at most `most`, of `max_bytes` in all.
pub(super) fn shrink(mut kept: Vec<StoredFile>, most: usize, max_bytes: u64) {
    // Names count up with time, where times are equal.
    kept.sort_by(|one, other| (one.modified, &one.path).cmp(&(other.modified, &other.path)));
    let (mut left, mut bytes) = (kept.len(), total(&kept));
    for one in kept {
        if left <= most && bytes <= max_bytes {
            return;
        }
        remove(&one.path);
        left -= 1;
        bytes -= one.bytes;
    }
}

/// Removes a file or a folder, never the target of a link.
pub(super) fn remove(path: &Path) {
    let is_folder = fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir());
    let removed = if is_folder { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    if let Err(error) = removed {
        tracing::warn!(%error, path = %path.display(), "an old output could not be removed");
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use cohab_model_api::Secrets;
    use jiff::Timestamp;

    use super::*;
    use crate::sessions::{Entry, KeepAll as _, Limits};

    fn keep(spool: &Spool, key: &str, text: &str) -> io::Result<PathBuf> {
        spool.keep(key, &Secrets::default().scrubbed(text.to_owned()), 1_000)
    }

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).expect("it is there").permissions().mode() & 0o777
    }

    #[test]
    fn an_output_is_kept_whole_for_its_user_only() {
        let folder = tempfile::tempdir().expect("a folder");
        let spool = Spool::at(folder.path());
        let path = keep(&spool, "shell:1", "all of it").expect("it can be kept");
        assert_eq!(fs::read_to_string(&path).expect("text"), "all of it");
        assert!(path.starts_with(spool.folder("shell:1")) && !path.starts_with(spool.folder("shell:2")));
        assert_eq!([mode(&path), mode(&spool.folder("shell:1"))], [0o600, 0o700]);
        let long = keep(&spool, "shell:1", &"x\n".repeat(MAX_FILE_BYTES)).expect("it can be kept");
        assert!(fs::metadata(long).expect("it is there").len() < MAX_FILE_BYTES as u64 + 100);
    }

    #[test]
    fn the_oldest_go_when_there_is_too_much() {
        let folder = tempfile::tempdir().expect("a folder");
        let spool = Spool { max_session_bytes: 25, max_bytes: 45, ..Spool::at(folder.path()) };
        let keep = |key: &str| keep(&spool, key, "0123456789").expect("it can be kept");
        let first = ["a", "a", "a"].map(keep);
        assert_eq!(first.map(|path| path.exists()), [false, true, true]);
        keep("b");
        keep("c");
        assert!(!spool.folder("a").exists() && spool.folder("b").exists() && spool.folder("c").exists());
    }

    #[test]
    fn outputs_go_with_their_session_and_nothing_else_does() {
        let folder = tempfile::tempdir().expect("a folder");
        let spool = Spool::at(folder.path());
        let mut store = SqliteStore::in_memory().expect("memory");
        let turn = Entry::Turn {
            session: "shell:1".into(),
            at: Timestamp::UNIX_EPOCH,
            title: String::new(),
            cwd: "/".into(),
            model: "m".into(),
            limits: Limits::of_days(90),
        };
        store.keep_all(&[turn]).expect("it can be written");
        let (kept, gone) = (keep(&spool, "shell:1", "1").expect("kept"), keep(&spool, "shell:2", "2").expect("kept"));
        let foreign = spool.root.join("note");
        fs::write(&foreign, "mine").expect("it can be written");
        spool.sweep(&store).expect("it can be read");
        assert_eq!([kept.exists(), gone.exists(), foreign.exists()], [true, false, true]);
    }
}
