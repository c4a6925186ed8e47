//! Hashes the files that a question may depend on into one number: folder, repository, and files that the question names. Only reads
//! files; runs no program.

use std::{
    fs,
    hash::{DefaultHasher, Hash, Hasher},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use cohab_system::files::read_regular;

/// Largest file of a repository that is read, in bytes.
const MAX_GIT_BYTES: u64 = 16 * 1024 * 1024;
/// Files of a repository that are checked; a larger repository has no fingerprint.
const MAX_TRACKED: usize = 10_000;
/// Largest file that is compared by content; a larger one by size and times.
const MAX_READ_BYTES: u64 = 1024 * 1024;
/// Files whose content is read.
const MAX_NAMED: usize = 16;
/// The prefix in `.git` where it is a file.
const GIT_DIR: &str = "gitdir: ";

/// The fingerprint; `None` where a change could go unnoticed. Blocks.
#[must_use]
pub fn fingerprint(cwd: &Path, home: &Path, question: &str) -> Option<u64> {
    let mut hasher = DefaultHasher::new();
    cwd.hash(&mut hasher);
    // Untracked files come and go with the folder's own time.
    stamp(cwd, &mut hasher);
    if let Some(root) = cwd.ancestors().find(|folder| fs::symlink_metadata(folder.join(".git")).is_ok()) {
        repository(root, &mut hasher)?;
    }
    named(cwd, home, question, &mut hasher)?;
    Some(hasher.finish())
}

fn stamp(path: &Path, hasher: &mut DefaultHasher) {
    let metadata = fs::symlink_metadata(path).ok();
    let stamp = |metadata: fs::Metadata| {
        (
            metadata.ino(),
            metadata.size(),
            metadata.mtime(),
            metadata.mtime_nsec(),
            metadata.ctime_nsec(),
            metadata.mode(),
        )
    };
    metadata.map(stamp).hash(hasher);
}

/// Head, branch, index, and the state of each file that the index names.
fn repository(root: &Path, hasher: &mut DefaultHasher) -> Option<()> {
    let git = git_dir(root)?;
    let common = read(&git.join("commondir")).map_or_else(|| git.clone(), |path| git.join(text(&path).trim()));
    let head = read(&git.join("HEAD"))?;
    head.hash(hasher);
    if let Some(name) = text(&head).trim().strip_prefix("ref: ") {
        match read(&git.join(name)).or_else(|| read(&common.join(name))) {
            Some(commit) => commit.hash(hasher),
            None => stamp(&common.join("packed-refs"), hasher),
        }
    }
    // Their index has another form.
    if read(&common.join("config")).is_some_and(|config| text(&config).to_ascii_lowercase().contains("sha256")) {
        return None;
    }
    let index = git.join("index");
    stamp(&index, hasher);
    if fs::symlink_metadata(&index).is_err() {
        return Some(());
    }
    for path in tracked(&read(&index)?)? {
        stamp(&root.join(&path), hasher);
    }
    Some(())
}

fn git_dir(root: &Path) -> Option<PathBuf> {
    let git = root.join(".git");
    if fs::metadata(&git).ok()?.is_dir() {
        return Some(git);
    }
    let link = read(&git)?;
    Some(root.join(text(&link).trim().strip_prefix(GIT_DIR)?))
}

fn read(path: &Path) -> Option<Vec<u8>> {
    read_regular(path, MAX_GIT_BYTES).ok().map(|(bytes, _)| bytes)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The paths in an index of version 2 to 4; `None` if it is invalid or has too many.
fn tracked(index: &[u8]) -> Option<Vec<PathBuf>> {
    const HEADER: usize = 12;
    /// Times, sizes and the id of the content.
    const FIXED: usize = 62;
    const IS_EXTENDED: u16 = 0x4000;
    let word = |at: usize| index.get(at..at + 4)?.try_into().ok().map(u32::from_be_bytes);
    let (version, count) = (word(4)?, usize::try_from(word(8)?).ok()?);
    if index.get(..4)? != b"DIRC" || !(2..=4).contains(&version) || count > MAX_TRACKED {
        return None;
    }
    let (mut at, mut name, mut paths) = (HEADER, Vec::new(), Vec::with_capacity(count));
    for _ in 0..count {
        let flags = u16::from_be_bytes(index.get(at + FIXED - 2..at + FIXED)?.try_into().ok()?);
        let mut start = at + FIXED + if flags & IS_EXTENDED == 0 { 0 } else { 2 };
        if version == 4 {
            let (dropped, length) = offset(index.get(start..)?)?;
            name.truncate(name.len().checked_sub(dropped)?);
            start += length;
        } else {
            name.clear();
        }
        let end = start + index.get(start..)?.iter().position(|byte| *byte == 0)?;
        name.extend_from_slice(index.get(start..end)?);
        // Entries of the older forms are padded with one to eight zeros.
        at = if version == 4 { end + 1 } else { at + (end - at) / 8 * 8 + 8 };
        paths.push(PathBuf::from(std::ffi::OsString::from(text(&name))));
    }
    Some(paths)
}

/// A number of seven bits a byte, the most significant first, and how many bytes it takes.
fn offset(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut value = 0_usize;
    for (index, byte) in bytes.iter().enumerate().take(5) {
        value = (value << 7) + usize::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some((value, index + 1));
        }
        value += 1;
    }
    None
}

/// The files that words of the question name.
fn named(cwd: &Path, home: &Path, question: &str, hasher: &mut DefaultHasher) -> Option<()> {
    let mut count = 0;
    for word in question.split_whitespace() {
        let word = word.trim_matches(|c: char| matches!(c, '"' | '\'' | '`' | '(' | ')' | ',' | ';' | ':' | '?' | '!'));
        let path = word.strip_prefix("~/").map_or_else(|| cwd.join(word), |rest| home.join(rest));
        let path = match fs::metadata(&path) {
            Ok(metadata) if metadata.is_file() => path,
            _ => match word.strip_suffix('.').map(|word| cwd.join(word)) {
                Some(path) if path.is_file() => path,
                _ => continue,
            },
        };
        count += 1;
        if count > MAX_NAMED {
            return None;
        }
        path.hash(hasher);
        match read_regular(&path, MAX_READ_BYTES) {
            Ok((bytes, _)) => bytes.hash(hasher),
            Err(_) => stamp(&path, hasher),
        }
    }
    Some(())
}

#[cfg(test)]
#[path = "places_tests.rs"]
mod tests;
