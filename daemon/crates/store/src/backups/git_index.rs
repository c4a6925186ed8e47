//! Reads the entries of git's index. Git writes the file anew when it looks at the times of files, without a change that counts. Pure.

use std::path::Path;

/// Longest index that is read, in bytes.
pub(super) const MAX_BYTES: u64 = 32 * 1024 * 1024;
/// Bytes of an entry before the name of its object: times, numbers and size of the file.
const STAT_BYTES: usize = 40;
/// Bytes of the name of an object, a SHA-1.
const OBJECT_BYTES: usize = 20;
/// Bytes of the mode within those about the file.
const MODE: std::ops::Range<usize> = 24..28;
/// The flag of an entry that has more flags.
const EXTENDED: u16 = 0x4000;
/// Flags that count: whether the file is taken as unchanged, and the stage of a conflict.
const COUNTED: u16 = 0xb000;

/// Whether an index is at this path, by its name.
pub(super) fn is_at(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == "index")
}

/// The entries with mode, object, flags and path each; without what is known about the files. `None` if the file is no such index.
pub(super) fn entries(index: &[u8]) -> Option<Vec<u8>> {
    let number = |at: usize| Some(u32::from_be_bytes(index.get(at..at + 4)?.try_into().ok()?));
    let version = number(4)?;
    if !index.starts_with(b"DIRC") || !(2..=4).contains(&version) {
        return None;
    }
    let mut entries = Vec::new();
    let mut path: Vec<u8> = Vec::new();
    let mut at = 12;
    for _ in 0..number(8)? {
        let begin = at;
        let stat = index.get(at..at + STAT_BYTES)?;
        let object = index.get(at + STAT_BYTES..at + STAT_BYTES + OBJECT_BYTES)?;
        at += STAT_BYTES + OBJECT_BYTES;
        let flags = u16::from_be_bytes(index.get(at..at + 2)?.try_into().ok()?);
        at += 2;
        let more = if flags & EXTENDED == 0 { &[][..] } else { index.get(at..at + 2)? };
        at += more.len();
        if version == 4 {
            let (cut, length) = variable_number(&index[at..])?;
            at += length;
            path.truncate(path.len().checked_sub(cut)?);
        } else {
            path.clear();
        }
        let length = index.get(at..)?.iter().position(|byte| *byte == 0)?;
        path.extend_from_slice(&index[at..at + length]);
        at += length + 1;
        if version < 4 {
            // Entries are padded to eight bytes with one to eight zeros.
            at = begin + (at - begin).next_multiple_of(8);
        }
        entries.extend_from_slice(&stat[MODE]);
        entries.extend_from_slice(object);
        entries.extend_from_slice(&(flags & COUNTED).to_be_bytes());
        entries.extend_from_slice(more);
        entries.extend_from_slice(&path);
        entries.push(0);
    }
    // A part of the entries in another file is not read.
    (!index[at.min(index.len())..].windows(4).any(|name| name == b"link")).then_some(entries)
}

/// A number of git's with seven bits a byte, and its length.
fn variable_number(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut value = usize::from(bytes.first()? & 0x7f);
    let mut length = 1;
    while bytes.get(length - 1)? & 0x80 != 0 {
        value = value.checked_add(1)?.checked_mul(128)? | usize::from(bytes.get(length)? & 0x7f);
        length += 1;
    }
    Some((value, length))
}

#[cfg(test)]
mod tests {
    use std::{fs, process::Command};

    use super::*;

    #[test]
    fn only_what_counts_makes_an_index_another_one() {
        for version in ["2", "4"] {
            let folder = tempfile::tempdir().expect("a folder");
            let git = |line: &str| {
                let done = Command::new("git").args(line.split(' ')).current_dir(folder.path()).status();
                assert!(done.expect("it runs").success(), "{line}");
            };
            let read = || entries(&fs::read(folder.path().join(".git/index")).expect("an index")).expect("entries");
            let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("written");
            git("init -q");
            git(&format!("config index.version {version}"));
            ["a", "ab/c", "ab/cd", "b"].iter().for_each(|name| {
                fs::create_dir_all(folder.path().join("ab")).expect("made");
                write(name, name);
            });
            git("add -A");
            let before = read();
            assert_eq!(before.split(|byte| *byte == 0).filter(|part| part.ends_with(b"ab/cd")).count(), 1);
            write("a", "a");
            git("update-index --refresh");
            assert_eq!(read(), before, "times do not count");
            write("a", "changed");
            git("add -A");
            assert_ne!(read(), before);
        }
        assert_eq!(entries(b"some other file"), None);
        assert_eq!(entries(b"DIRC\0\0\0\x02\0\0\0\x09short"), None);
    }
}
