//! A folder with a key and a head that is sealed with it, and the way such files are opened: readable by their owner only, never through
//! links. The audit log and the store of remembered facts have one each.

use std::{
    fs::{self, File},
    io::{self, Read, Write},
    os::unix::fs::{FileExt, OpenOptionsExt},
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use cohab_system::files::{existing, make_folder, options};
use ring::rand::{SecureRandom as _, SystemRandom};
use rustix::fs::FlockOperation;

use super::{
    pace::Pace,
    seal::{KEY_BYTES, Key, from_hex},
};

/// A larger key or head is invalid.
const SMALL_BYTES: u64 = 4 * 1024;
/// Number of attempts to lock the head while another process writes, and the wait between them.
const LOCK_TRIES: u32 = 100;
const LOCK_PAUSE: Duration = Duration::from_millis(10);

/// The folder of a key and a head.
#[derive(Clone, Debug)]
pub(super) struct KeyFolder {
    folder: PathBuf,
}

impl KeyFolder {
    pub fn at(folder: &Path) -> Self {
        Self { folder: folder.to_owned() }
    }

    /// Makes the folder if it is missing.
    pub fn make(&self) -> io::Result<()> {
        make_folder(&self.folder)
    }

    pub fn key_file(&self) -> PathBuf {
        self.folder.join("key")
    }

    pub fn head_file(&self) -> PathBuf {
        self.folder.join("head")
    }

    /// The place of a key while it is written.
    fn unfinished_key_file(&self) -> PathBuf {
        self.folder.join("key.tmp")
    }

    /// Makes the key if there is no key yet: whole or not at all. `head` is called before the key is in its place, so that a key never
    /// exists without a head.
    pub fn make_key(&self, pace: &Pace, head: impl FnOnce(&Key) -> io::Result<()>) -> io::Result<Key> {
        let mut bytes = [0; KEY_BYTES];
        SystemRandom::new().fill(&mut bytes).map_err(|_| io::Error::other("no random numbers"))?;
        let (key, digits) = (Key::new(&bytes), bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>());
        head(&key)?;
        let path = self.unfinished_key_file();
        pace.step();
        let mut file = options().write(true).create(true).truncate(true).mode(0o600).open(&path)?;
        pace.step();
        file.write_all(format!("{digits}\n").as_bytes())?;
        pace.step();
        file.sync_all()?;
        pace.step();
        fs::rename(&path, self.key_file())?;
        pace.step();
        File::open(&self.folder)?.sync_all()?;
        Ok(key)
    }

    /// The key, if there is one.
    pub fn existing_key(&self) -> io::Result<Option<Key>> {
        let Some(mut file) = existing(&self.key_file(), options().read(true))? else { return Ok(None) };
        let text = small(&mut file)?;
        let digits = text.strip_suffix(b"\n").and_then(|digits| std::str::from_utf8(digits).ok());
        let bytes = digits.and_then(from_hex).ok_or_else(|| io::Error::other("it does not contain a key"))?;
        Ok(Some(Key::new(&bytes)))
    }

    /// The head, locked exclusively as long as the result lives; created if `may_make`.
    pub fn lock(&self, may_make: bool) -> io::Result<Option<File>> {
        let mut options = options();
        options.read(true).write(true).create(may_make).mode(0o600);
        let Some(file) = existing(&self.head_file(), &options)? else { return Ok(None) };
        lock(&file)?;
        Ok(Some(file))
    }
}

/// Locks a file exclusively, until it is closed or unlocked.
pub(super) fn lock(file: &File) -> io::Result<()> {
    for _ in 0..LOCK_TRIES {
        match rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(()),
            Err(rustix::io::Errno::WOULDBLOCK) => thread::sleep(LOCK_PAUSE),
            Err(error) => return Err(error.into()),
        }
    }
    Err(io::Error::new(io::ErrorKind::WouldBlock, "another program holds it locked"))
}

/// Replaces the content of a head. A shorter text than before is in place before the rest is cut off; readers take the first line.
pub(super) fn replace(file: &File, text: &str, pace: &Pace) -> io::Result<()> {
    pace.step();
    file.write_all_at(text.as_bytes(), 0)?;
    pace.step();
    file.set_len(text.len() as u64)
}

/// All of a small file.
pub(super) fn small(file: &mut File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(SMALL_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}
