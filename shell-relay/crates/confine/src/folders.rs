//! Lists folders, each once.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    fs,
    os::unix::ffi::OsStrExt,
    path::Path,
    rc::Rc,
};

use rustix::fs::{Dir, FileType, Mode, OFlags, open};

/// The kind of an entry, links not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Folder,
    Link,
    Other,
}

#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) name: OsString,
    pub(crate) kind: Kind,
}

/// Folders that were listed.
#[derive(Debug, Default)]
pub struct Folders {
    listed: BTreeMap<OsString, Option<Rc<[Entry]>>>,
}

impl Folders {
    /// The folder's entries; `None` if it cannot be listed.
    pub(crate) fn entries(&mut self, folder: &Path) -> Option<Rc<[Entry]>> {
        if let Some(known) = self.listed.get(folder.as_os_str()) {
            return known.clone();
        }
        let entries = list(folder);
        self.listed.insert(folder.into(), entries.clone());
        entries
    }
}

fn list(folder: &Path) -> Option<Rc<[Entry]>> {
    let opened = open(folder, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let mut entries = Vec::new();
    for entry in Dir::new(opened).ok()? {
        let entry = entry.ok()?;
        let name = entry.file_name().to_bytes();
        if matches!(name, b"." | b"..") {
            continue;
        }
        let name = OsStr::from_bytes(name).to_owned();
        let kind = match entry.file_type() {
            FileType::Directory => Kind::Folder,
            FileType::Symlink => Kind::Link,
            // Some file systems do not report the kind.
            FileType::Unknown => kind(&folder.join(&name)).unwrap_or(Kind::Other),
            _ => Kind::Other,
        };
        entries.push(Entry { name, kind });
    }
    Some(entries.into())
}

/// The kind of one path.
pub(crate) fn kind(path: &Path) -> Option<Kind> {
    fs::symlink_metadata(path).ok().map(|found| kind_of(found.file_type()))
}

fn kind_of(found: fs::FileType) -> Kind {
    match found {
        found if found.is_dir() => Kind::Folder,
        found if found.is_symlink() => Kind::Link,
        _ => Kind::Other,
    }
}
