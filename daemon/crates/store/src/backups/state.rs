//! What is at a path: as it was before a change, and as the change left it.

use std::{
    ffi::OsString,
    fs::{self, DirBuilder, File, Metadata, OpenOptions, Permissions},
    io::{self, Read, Write},
    os::unix::{
        ffi::{OsStrExt, OsStringExt},
        fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt, symlink},
    },
    path::{Path, PathBuf},
    time::SystemTime,
};

use cohab_system::files::{self, Expected, FileError};
use ring::digest;
use serde::{Deserialize, Serialize};

use super::git_index;

/// Most changes of one turn.
pub const MAX_CHANGES: usize = 4_000;
/// Bytes that are hashed at a time.
const CHUNK_BYTES: usize = 64 * 1024;
/// Permissions in a file's mode.
const PERMISSIONS: u32 = 0o7777;

/// What was at a path before a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Kept {
    /// Nothing.
    Nothing,
    /// A regular file: the name of its copy, and its permissions.
    File { copy: String, mode: u32 },
    /// A symbolic link, and the bytes of its target.
    Link { target: Vec<u8> },
    /// A folder, without what is in it.
    Folder { mode: u32 },
    /// Nothing: what is there now was at this path.
    MovedFrom { path: Vec<u8> },
    /// The permissions and the time of a file or folder, whose content stays.
    Attributes(Attributes),
}

/// Permissions and time of a file or folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Attributes {
    pub(super) mode: u32,
    /// The time of the last change of its content.
    pub(super) modified: Option<SystemTime>,
}

impl Attributes {
    fn of(metadata: &Metadata) -> Self {
        Self { mode: mode_of(metadata), modified: metadata.modified().ok() }
    }
}

/// What a change left at a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Left {
    /// Nothing.
    Nothing,
    /// A regular file: the SHA-256 of its content in hexadecimal digits, and its permissions.
    File {
        hash: String,
        #[serde(default)]
        mode: Option<u32>,
    },
    /// A symbolic link, and the bytes of its target.
    Link { target: Vec<u8> },
    /// A folder, and its permissions.
    Folder { mode: u32 },
    /// A file or folder with these permissions and this time; its content does not matter.
    Attributes(Attributes),
    /// What was moved there.
    Moved(MovedIdentity),
}

/// What tells a moved file or folder from another one that took its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct MovedIdentity {
    inode: u64,
    /// When it was created, where the file system says so: an inode can be used again at once.
    #[serde(default)]
    created: Option<SystemTime>,
    /// The SHA-256 of a regular file, or of the names and sizes below a folder, in hexadecimal digits, unless it is large.
    #[serde(default)]
    hash: Option<String>,
}

impl MovedIdentity {
    /// Of what is at `path` now. The content counts up to `limit_bytes`.
    pub(super) fn of(path: &Path, metadata: &Metadata, limit_bytes: u64) -> Self {
        let hash = match metadata.file_type() {
            kind if kind.is_file() && metadata.len() <= limit_bytes => hash_of_file(path).ok(),
            kind if kind.is_dir() => hash_of_names(path),
            _ => None,
        };
        Self { inode: metadata.ino(), created: metadata.created().ok(), hash }
    }

    /// Whether this is what was moved, changed in place or not, or a file with the same content, or a folder with the same names and sizes.
    fn is(&self, path: &Path, metadata: &Metadata) -> io::Result<bool> {
        if self.inode == metadata.ino() && self.created == metadata.created().ok() {
            return Ok(true);
        }
        match &self.hash {
            Some(hash) if metadata.is_file() => Ok(hash_of_file(path)? == *hash),
            Some(hash) if metadata.is_dir() => Ok(hash_of_names(path).as_ref() == Some(hash)),
            _ => Ok(false),
        }
    }
}

/// What is at a path now.
#[derive(Debug)]
pub(super) enum Now {
    Nothing,
    File(Metadata),
    Link(Vec<u8>),
    Folder(Metadata),
    /// A device, a socket, a pipe.
    Other,
}

impl Now {
    /// Looks without following a link at the end of `path`.
    ///
    /// # Errors
    /// The system refuses.
    pub(super) fn at(path: &Path) -> io::Result<Self> {
        let metadata = match fs::symlink_metadata(path) {
            Ok(metadata) => metadata,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Ok(Self::Nothing);
            }
            Err(error) => return Err(error),
        };
        Ok(match metadata.file_type() {
            kind if kind.is_file() => Self::File(metadata),
            kind if kind.is_symlink() => Self::Link(fs::read_link(path)?.into_os_string().into_vec()),
            kind if kind.is_dir() => Self::Folder(metadata),
            _ => Self::Other,
        })
    }

    /// What a change left here. `None` for what is not kept, such as a device.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(super) fn left(&self, path: &Path) -> io::Result<Option<Left>> {
        Ok(Some(match self {
            Self::Nothing => Left::Nothing,
            Self::File(metadata) => Left::File { hash: hash_of_file(path)?, mode: Some(mode_of(metadata)) },
            Self::Link(target) => Left::Link { target: target.clone() },
            Self::Folder(metadata) => Left::Folder { mode: mode_of(metadata) },
            Self::Other => return Ok(None),
        }))
    }

    /// Keeps it before a change: a file as a copy in the folder `copies`, of at most `limit_bytes`.
    ///
    /// # Errors
    /// The reason, as a phrase.
    pub(super) fn keep(&self, path: &Path, copies: &Path, limit_bytes: u64) -> Result<Kept, String> {
        Ok(match self {
            Self::Nothing => Kept::Nothing,
            Self::Link(target) => Kept::Link { target: target.clone() },
            Self::Folder(metadata) => Kept::Folder { mode: mode_of(metadata) },
            Self::Other => return Err("no regular file".to_owned()),
            Self::File(metadata) => {
                let copy = new_copy();
                copy_file(path, &copies.join(&copy), limit_bytes).map_err(|error| error.to_string())?;
                Kept::File { copy, mode: mode_of(metadata) }
            }
        })
    }

    /// Permissions and time of a file or folder.
    pub(super) fn attributes(&self) -> Option<Attributes> {
        match self {
            Self::File(metadata) | Self::Folder(metadata) => Some(Attributes::of(metadata)),
            _ => None,
        }
    }

    /// Whether it is what a change left at `path`. Permissions that the user changed since do not count.
    pub(super) fn is_left(&self, left: &Left, path: &Path) -> io::Result<bool> {
        Ok(match (self, left) {
            (Self::File(metadata) | Self::Folder(metadata), Left::Moved(moved)) => moved.is(path, metadata)?,
            (Self::Link(_), Left::Moved(moved)) => moved.is(path, &fs::symlink_metadata(path)?)?,
            (Self::File(_), Left::File { hash, .. }) => hash_of_file(path)? == *hash,
            (Self::Nothing, Left::Nothing) | (Self::Folder(_), Left::Folder { .. }) => true,
            (Self::File(metadata) | Self::Folder(metadata), Left::Attributes(left)) => mode_of(metadata) == left.mode,
            (Self::Link(target), Left::Link { target: left }) => target == left,
            _ => false,
        })
    }

    /// Whether it is at `path` as it was before the change that left `left` there. `copies` is the folder of copies.
    pub(super) fn is_kept(&self, kept: &Kept, left: Option<&Left>, path: &Path, copies: &Path) -> io::Result<bool> {
        Ok(match (self, kept) {
            (Self::File(metadata), Kept::File { copy, .. }) => {
                let copy = copies.join(copy);
                let is_long_as_kept = metadata.len() == fs::symlink_metadata(&copy)?.len() || git_index::is_at(path);
                is_long_as_kept
                    && self.mode_to_restore(kept, left).is_none()
                    && hash_of_file(path)? == hash_of_copy(&copy, path)?
            }
            (Self::Nothing, Kept::Nothing | Kept::MovedFrom { .. }) => true,
            (Self::Folder(_), Kept::Folder { .. }) => self.mode_to_restore(kept, left).is_none(),
            (Self::Link(target), Kept::Link { target: kept }) => target == kept,
            _ => false,
        })
    }

    /// The permissions to give back, if the change took them and the user has not set others since.
    fn mode_to_restore(&self, kept: &Kept, left: Option<&Left>) -> Option<u32> {
        let now = self.attributes()?.mode;
        let (Kept::File { mode: before, .. } | Kept::Folder { mode: before }) = kept else { return None };
        let (Left::File { mode: Some(after), .. } | Left::Folder { mode: after }) = left? else { return None };
        (now == *after && now != *before).then_some(*before)
    }

    /// Whether this state cannot have changed since `before` was looked at.
    pub(super) fn is_untouched_since(&self, before: &Self) -> bool {
        let stamp =
            |of: &Metadata| (of.dev(), of.ino(), of.len(), of.mtime(), of.mtime_nsec(), of.ctime(), of.ctime_nsec());
        match (self, before) {
            (Self::File(now), Self::File(before)) => stamp(now) == stamp(before),
            (Self::Nothing, Self::Nothing) => true,
            (Self::Folder(now), Self::Folder(before)) => mode_of(now) == mode_of(before),
            (Self::Link(now), Self::Link(before)) => now == before,
            _ => false,
        }
    }
}

/// The permissions in `metadata`.
pub(super) fn mode_of(metadata: &Metadata) -> u32 {
    metadata.mode() & PERMISSIONS
}

/// A path from its bytes.
pub(super) fn path_from(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsString::from_vec(bytes.to_vec()))
}

/// The bytes of a path.
pub(super) fn bytes_of(path: &Path) -> Vec<u8> {
    path.as_os_str().as_bytes().to_vec()
}

/// The SHA-256 of the names below a folder with the sizes of files, in hexadecimal digits. `None` if there are too many.
fn hash_of_names(folder: &Path) -> Option<String> {
    let mut found = Vec::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(path) = waiting.pop() {
        let metadata = fs::symlink_metadata(&path).ok()?;
        if metadata.is_dir() {
            waiting.extend(fs::read_dir(&path).ok()?.flatten().map(|entry| entry.path()));
        }
        let bytes = metadata.is_file().then_some(metadata.len());
        found.push((bytes_of(path.strip_prefix(folder).ok()?), metadata.is_dir(), bytes));
        if found.len() > MAX_CHANGES {
            return None;
        }
    }
    found.sort();
    Some(hash_of(format!("{found:?}").as_bytes()))
}

/// The SHA-256 of a regular file, in hexadecimal digits. Of git's index only what counts is hashed.
fn hash_of_file(path: &Path) -> io::Result<String> {
    hash_of_copy(path, path)
}

/// The same, of a copy of what is at `path`.
fn hash_of_copy(copy: &Path, path: &Path) -> io::Result<String> {
    let (mut file, metadata) = files::open_regular(copy).map_err(|error| io::Error::other(error.to_string()))?;
    if git_index::is_at(path) && metadata.len() <= git_index::MAX_BYTES {
        let mut content = Vec::new();
        file.take(git_index::MAX_BYTES).read_to_end(&mut content)?;
        return Ok(hash_of(&git_index::entries(&content).unwrap_or(content)));
    }
    let mut context = digest::Context::new(&digest::SHA256);
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        match file.read(&mut chunk)? {
            0 => return Ok(hex(context.finish().as_ref())),
            read => context.update(&chunk[..read]),
        }
    }
}

/// The SHA-256 of these bytes, in hexadecimal digits.
pub(super) fn hash_of(content: &[u8]) -> String {
    hex(digest::digest(&digest::SHA256, content).as_ref())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A name for a copy.
pub(super) fn new_copy() -> String {
    uuid::Uuid::now_v7().as_simple().to_string()
}

/// Creates a file of ours with this content.
pub(super) fn write_new(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = new_file(path)?;
    file.write_all(content)?;
    file.sync_data()
}

/// Copies a regular file of at most `limit_bytes` into a new file of ours. Where the file system can, both share their blocks.
///
/// # Errors
/// It cannot be read, has grown too large, or the copy cannot be written.
fn copy_file(from: &Path, to: &Path, limit_bytes: u64) -> Result<(), FileError> {
    let (from, metadata) = files::open_regular(from)?;
    if metadata.len() > limit_bytes {
        return Err(FileError::TooLarge { limit_bytes });
    }
    let mut file = new_file(to).map_err(FileError::Io)?;
    io::copy(&mut from.take(limit_bytes), &mut file).map_err(FileError::Io)?;
    Ok(())
}

fn new_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

/// Puts back at `path` what was there, where a change left `left`, which is something else or nothing.
///
/// # Errors
/// The reason, as a phrase. Nothing of the user's is lost then.
pub(super) fn put_back(
    now: &Now,
    (kept, left): (&Kept, &Left),
    path: &Path,
    copies: &Path,
    limit_bytes: u64,
) -> Result<(), String> {
    let told = |error: io::Error| error.to_string();
    let mode = now.mode_to_restore(kept, Some(left));
    let restore_mode = || match mode {
        Some(mode) => fs::set_permissions(path, Permissions::from_mode(mode)).map_err(told),
        None => Ok(()),
    };
    if let Kept::MovedFrom { path: from } = kept {
        return move_back(path, &path_from(from));
    }
    if let (Now::File(metadata), Kept::File { copy, .. }) = (now, kept) {
        let content = copied(&copies.join(copy), limit_bytes)?;
        files::replace(path, &content, Expected::Same(metadata), None).map_err(|error| error.to_string())?;
        return restore_mode();
    }
    if let (Now::Folder(_), Kept::Folder { .. }) = (now, kept) {
        return restore_mode();
    }
    // Read first: what is there goes only when its successor is at hand.
    let content = match kept {
        Kept::File { copy, .. } => Some(copied(&copies.join(copy), limit_bytes)?),
        _ => None,
    };
    match now {
        Now::Nothing => {}
        Now::File(_) | Now::Link(_) => fs::remove_file(path).map_err(told)?,
        Now::Folder(_) => fs::remove_dir(path).map_err(|error| match error.kind() {
            io::ErrorKind::DirectoryNotEmpty => "the folder is not empty".to_owned(),
            _ => error.to_string(),
        })?,
        Now::Other => return Err("it is no regular file".to_owned()),
    }
    match kept {
        Kept::Nothing | Kept::MovedFrom { .. } | Kept::Attributes(_) => Ok(()),
        Kept::Link { target } => symlink(path_from(target), path).map_err(told),
        Kept::Folder { mode } => {
            DirBuilder::new().mode(0o700).create(path).map_err(told)?;
            fs::set_permissions(path, Permissions::from_mode(*mode)).map_err(told)
        }
        Kept::File { mode, .. } => {
            write_new(path, &content.unwrap_or_default()).map_err(told)?;
            fs::set_permissions(path, Permissions::from_mode(*mode)).map_err(told)
        }
    }
}

/// Gives a file or folder the permissions and the time back that a change took, unless they were changed since. False if nothing is left
/// to do.
///
/// # Errors
/// The reason, as a phrase.
pub(super) fn put_attributes_back(
    now: &Attributes,
    (kept, left): (&Attributes, &Attributes),
    path: &Path,
) -> Result<bool, String> {
    if now.mode != left.mode && now.mode != kept.mode {
        return Err("its permissions were changed since".to_owned());
    }
    let time = kept.modified.filter(|time| now.modified == left.modified && now.modified != Some(*time));
    if now.mode == kept.mode && time.is_none() {
        return Ok(false);
    }
    let told = |error: io::Error| error.to_string();
    // Only a real file or folder, never what a link leads to.
    let flags = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
    if let Some(time) = time {
        let file = OpenOptions::new().read(true).custom_flags(flags).open(path).map_err(told)?;
        file.set_modified(time).map_err(told)?;
    }
    if now.mode != kept.mode {
        fs::set_permissions(path, Permissions::from_mode(kept.mode)).map_err(told)?;
    }
    Ok(true)
}

fn copied(copy: &Path, limit_bytes: u64) -> Result<Vec<u8>, String> {
    let read = files::read_regular(copy, limit_bytes);
    read.map(|(content, _)| content).map_err(|error| format!("its copy cannot be read: {error}"))
}

fn move_back(path: &Path, from: &Path) -> Result<(), String> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    match renameat_with(CWD, path, CWD, from, RenameFlags::NOREPLACE) {
        Ok(()) => Ok(()),
        Err(rustix::io::Errno::EXIST) => Err(format!("something else is at {} now", from.display())),
        Err(error) => Err(io::Error::from(error).to_string()),
    }
}
