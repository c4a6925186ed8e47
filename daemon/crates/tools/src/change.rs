//! A change to one file: shown first, made later, and only if it still matches the shown change.

use std::{
    collections::VecDeque,
    fs::{self, Metadata},
    hash::{BuildHasher, RandomState},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use cohab_agent::port::{Effect, Intent, ToolOutput};
use cohab_system::files::{self, Expected, FileError};
use similar::{ChangeTag, TextDiff};
use tokio_util::sync::CancellationToken;

use super::{blocking, render};

/// Largest file that is changed or created.
pub(super) const FILE_MAX_BYTES: u64 = 4 * 1024 * 1024;
/// Largest change shown for consent. Consent must be to the whole, so it is never cut.
const DIFF_MAX_BYTES: usize = 1024 * 1024;
/// After this time the diff is finished without minimizing it.
const DIFF_TIMEOUT: Duration = Duration::from_millis(300);
/// Lines around a change.
const DIFF_CONTEXT_LINES: usize = 3;
/// Previews that are remembered.
const PREVIEWS_MAX: usize = 256;

/// The file before a change.
pub(super) struct Original {
    pub(super) content: Vec<u8>,
    metadata: Metadata,
}

/// Reads the content of `path`; `None` if it does not exist. `path` has no links in it.
///
/// # Errors
/// A sentence for the model: no regular file, too large, may not be read or written.
pub(super) fn original(path: &Path) -> Result<Option<Original>, String> {
    let named = |error: FileError| format!("{}: {error}", render::path(path));
    match files::read_regular(path, FILE_MAX_BYTES) {
        // The file is replaced as a whole, which a folder's permissions alone would allow.
        Ok((content, metadata)) => match rustix::fs::access(path, rustix::fs::Access::WRITE_OK) {
            Ok(()) => Ok(Some(Original { content, metadata })),
            Err(error) => Err(format!(
                "{}: is not writable: {}",
                render::path(path),
                FileError::from(std::io::Error::from(error))
            )),
        },
        Err(FileError::Missing) => Ok(None),
        Err(error) => Err(named(error)),
    }
}

/// One file, before and after.
pub(super) struct Change {
    /// Absolute, without links.
    pub(super) path: PathBuf,
    /// `None` creates a new file.
    pub(super) before: Option<Original>,
    pub(super) after: String,
}

/// A change as text.
struct ChangeText {
    diff: String,
    added: usize,
    removed: usize,
}

impl Change {
    /// Whether the file has the wanted content already.
    fn is_none(&self) -> bool {
        self.before.as_ref().is_some_and(|original| original.content == self.after.as_bytes())
    }

    fn show(&self) -> Result<ChangeText, String> {
        let name = render::path(&self.path);
        let (old, old_name) = match self.before.as_ref().map(|original| &original.content) {
            None => ("", "/dev/null".into()),
            Some(content) => match std::str::from_utf8(content) {
                Ok(text) => (text, name.clone()),
                Err(_) => ("", format!("{name} ({} bytes that are not text)", content.len())),
            },
        };
        let diff = TextDiff::configure().timeout(DIFF_TIMEOUT).diff_lines(old, self.after.as_str());
        let (mut added, mut removed) = (0, 0);
        for change in diff.iter_all_changes() {
            match change.tag() {
                ChangeTag::Insert => added += 1,
                ChangeTag::Delete => removed += 1,
                ChangeTag::Equal => {}
            }
        }
        let diff = diff.unified_diff().context_radius(DIFF_CONTEXT_LINES).header(&old_name, &name).to_string();
        if diff.len() > DIFF_MAX_BYTES {
            return Err(format!("{name}: the change is too large to be shown for consent; make it in smaller parts"));
        }
        Ok(ChangeText { diff, added, removed })
    }

    /// Makes the change.
    fn apply(&self) -> Result<ToolOutput, String> {
        let ChangeText { added, removed, .. } = self.show()?;
        let name = render::path(&self.path);
        let named = |error: FileError| match error {
            FileError::Changed => changed_meanwhile(&self.path),
            other => format!("{name}: {other}"),
        };
        let (expected, mode) = match &self.before {
            Some(original) => (Expected::Same(&original.metadata), None),
            None => {
                let folder = self.path.parent().ok_or_else(|| named(FileError::Folder))?;
                fs::create_dir_all(folder)
                    .map_err(|error| format!("{}: {}", render::path(folder), FileError::from(error)))?;
                (Expected::Absent, Some(0o666))
            }
        };
        files::replace(&self.path, self.after.as_bytes(), expected, mode).map_err(named)?;
        let verb = if self.before.is_some() { "changed" } else { "created" };
        let links = self.before.as_ref().map_or(1, |original| original.metadata.nlink());
        let note = if links > 1 { "; it had other hard links, which still have the old content" } else { "" };
        Ok(ToolOutput::text(
            format!("{verb} {name}: {added} lines added, {removed} removed{note}"),
            if self.before.is_some() { format!("+{added} -{removed}") } else { format!("new, +{added}") },
        ))
    }
}

fn changed_meanwhile(path: &Path) -> String {
    format!("{}: changed meanwhile, nothing was written; read it again and repeat", render::path(path))
}

/// The shown changes. A change is made only if it equals one of them, byte for byte: then neither the file nor the meaning of its path
/// has changed since.
#[derive(Default)]
pub(super) struct Previews {
    hasher: RandomState,
    shown: Mutex<VecDeque<u64>>,
}

impl Previews {
    /// Shows a change. A file that has the wanted content already is only read.
    ///
    /// # Errors
    /// The change is too large to be shown.
    pub(super) fn intent(&self, change: &Change, given_path: &str) -> Result<Intent, String> {
        let title = render::one_line(given_path, render::TITLE_MAX_CHARS);
        if change.is_none() {
            return Ok(Intent { title, effect: Effect::Read { path: change.path.clone(), pattern: None } });
        }
        let ChangeText { diff, .. } = change.show()?;
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        if shown.len() == PREVIEWS_MAX {
            shown.pop_front();
        }
        shown.push_back(self.fingerprint(change));
        Ok(Intent { title, effect: Effect::Write { path: change.path.clone(), diff: diff.into() } })
    }

    /// Computes the change again with `plan` and makes it if it was shown before.
    ///
    /// # Errors
    /// The error of `plan`, that something changed meanwhile, or the system's error; then nothing was written.
    pub(super) async fn apply(
        &self,
        cancel: &CancellationToken,
        plan: impl FnOnce() -> Result<Change, String> + Send + 'static,
    ) -> Result<ToolOutput, String> {
        let change = blocking::reading(cancel, move |_| plan()).await?;
        if change.is_none() {
            let content = format!("{}: unchanged, it has exactly this content", render::path(&change.path));
            return Ok(ToolOutput::text(content, "unchanged".into()));
        }
        if !self.forget(self.fingerprint(&change)) {
            return Err(changed_meanwhile(&change.path));
        }
        blocking::changing(cancel, move || change.apply()).await
    }

    fn forget(&self, fingerprint: u64) -> bool {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        let at = shown.iter().position(|other| *other == fingerprint);
        at.and_then(|at| shown.remove(at)).is_some()
    }

    fn fingerprint(&self, change: &Change) -> u64 {
        self.hasher.hash_one((&change.path, change.before.as_ref().map(|original| &original.content), &change.after))
    }
}
