//! Reads texts for the model from files with untrusted authors: bounded, cleaned, without waiting.

use std::{
    ffi::OsStr,
    fs,
    io::{self, Read},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use cohab_system::files::open_regular;
use cohab_text::{
    cut::head,
    sanitize::{one_line, sanitize},
};

/// Longest path that is shown, in columns.
const PATH_COLUMNS: usize = 300;

/// The folders that a file may be in after following links.
#[derive(Clone, Copy, Debug)]
pub enum Bounds<'a> {
    /// Any: its folder is the user's own.
    Own,
    /// Only this folder, which has its links resolved; a link at most to another Markdown file (`.md`), since a repository could
    /// otherwise name a file of secrets.
    Within(&'a Path),
}

/// A text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// Cleaned and trimmed, not empty.
    pub text: String,
    /// Whether the file holds more.
    pub is_cut: bool,
}

/// A file that exists but is not used.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Skipped {
    /// Its path.
    pub path: PathBuf,
    /// The reason: a phrase that follows its name and a colon.
    pub reason: String,
}

impl std::fmt::Display for Skipped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", one_line(&self.path.to_string_lossy(), PATH_COLUMNS), self.reason)
    }
}

/// The first `max_bytes` of a file; `None` if it does not exist or is empty. Blocks.
///
/// # Errors
/// The file exists, but its text may not be used.
pub fn read(path: &Path, bounds: Bounds<'_>, max_bytes: usize) -> Result<Option<Text>, Skipped> {
    if fs::symlink_metadata(path).is_err_and(|error| is_absence(&error)) {
        return Ok(None);
    }
    read_present(path, bounds, max_bytes).map_err(|reason| Skipped { path: path.to_owned(), reason })
}

fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn read_present(path: &Path, bounds: Bounds<'_>, max_bytes: usize) -> Result<Option<Text>, String> {
    let real = path.canonicalize().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => "is a link to nowhere".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => "is a loop of links".to_owned(),
        _ => error.to_string(),
    })?;
    if let Bounds::Within(root) = bounds
        && real != path
        && (!real.starts_with(root) || real.extension() != Some(OsStr::new("md")))
    {
        return Err("is a link out of the project, or to a file that is not `.md`".to_owned());
    }
    let (file, metadata) = open_regular(&real).map_err(|error| error.to_string())?;
    if metadata.uid() != 0 && metadata.uid() != rustix::process::geteuid().as_raw() {
        return Err("belongs to another user".to_owned());
    }
    let mut bytes = Vec::new();
    // One character more than is used, so that a cut is noticed.
    file.take(max_bytes as u64 + 4).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.contains(&0) {
        return Err("is not text".to_owned());
    }
    let text = sanitize(&String::from_utf8_lossy(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes)));
    let kept = head(text.trim(), max_bytes).to_owned();
    Ok((!kept.is_empty()).then_some(Text { text: kept, is_cut: metadata.len() > max_bytes as u64 }))
}
