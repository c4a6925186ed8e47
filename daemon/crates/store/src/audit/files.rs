//! The audit files: readable by their owner only, never opened through links.

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, Read, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use cohab_protocol::Paths;
use rustix::fs::{FlockOperation, OFlags};

use super::{
    pace::Pace,
    seal::{KEY_BYTES, Key, from_hex},
};

/// Ends the names of the files of records.
const SUFFIX: &str = ".jsonl";
/// Digits of their names.
const NAME_DIGITS: usize = 8;
/// A larger key or head is invalid.
const SMALL_BYTES: u64 = 4 * 1024;
/// Number of attempts to lock the head while another process writes, and the wait between them.
const LOCK_TRIES: u32 = 100;
const LOCK_PAUSE: Duration = Duration::from_millis(10);

/// The folders of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// The folder of records.
    pub folder: PathBuf,
    /// The folder of key and head.
    pub apart: PathBuf,
}

impl Places {
    /// The folders of this user.
    #[must_use]
    pub fn of(paths: &Paths) -> Self {
        Self { folder: paths.state_dir.join("audit"), apart: paths.config_dir.join("audit") }
    }

    /// The file of the key.
    #[must_use]
    pub fn key_file(&self) -> PathBuf {
        self.apart.join("key")
    }

    /// The file of the head, which every reader and writer of records holds locked.
    #[must_use]
    pub fn head_file(&self) -> PathBuf {
        self.apart.join("head")
    }

    pub(super) fn segment_file(&self, number: u64) -> PathBuf {
        self.folder.join(format!("{number:0NAME_DIGITS$}{SUFFIX}"))
    }

    /// Whether the file of this number is empty.
    pub(super) fn is_empty(&self, number: u64) -> bool {
        fs::symlink_metadata(self.segment_file(number)).is_ok_and(|found| found.is_file() && found.len() == 0)
    }

    /// Numbers of the files of records, in order.
    pub(super) fn segments(&self) -> io::Result<Vec<u64>> {
        let entries = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut numbers: Vec<u64> = entries.flatten().filter_map(|entry| number(entry.file_name().to_str()?)).collect();
        numbers.sort_unstable();
        Ok(numbers)
    }

    pub(super) fn make_folders(&self) -> io::Result<()> {
        let mut builder = DirBuilder::new();
        builder.recursive(true).mode(0o700);
        builder.create(&self.folder)?;
        builder.create(&self.apart)
    }

    /// The place of a key while it is written.
    fn unfinished_key_file(&self) -> PathBuf {
        self.apart.join("key.tmp")
    }

    /// Makes the key if there is no key yet: whole or not at all. `head` is called before the key is in its place, so that a key never
    /// exists without a head.
    pub(super) fn make_key(&self, pace: &Pace, head: impl FnOnce(&Key) -> io::Result<()>) -> io::Result<Key> {
        let mut bytes = [0; KEY_BYTES];
        aws_lc_rs::rand::fill(&mut bytes).map_err(|_| io::Error::other("no random numbers"))?;
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
        File::open(&self.apart)?.sync_all()?;
        Ok(key)
    }

    /// The key, if there is one.
    pub(super) fn existing_key(&self) -> io::Result<Option<Key>> {
        let Some(mut file) = existing(&self.key_file(), options().read(true))? else { return Ok(None) };
        let text = small(&mut file)?;
        let digits = text.strip_suffix(b"\n").and_then(|digits| std::str::from_utf8(digits).ok());
        let bytes = digits.and_then(from_hex).ok_or_else(|| io::Error::other("it does not contain a key"))?;
        Ok(Some(Key::new(&bytes)))
    }

    /// The head, locked exclusively as long as the result lives; created if `may_make`.
    pub(super) fn lock(&self, may_make: bool) -> io::Result<Option<File>> {
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

fn number(name: &str) -> Option<u64> {
    let digits = name.strip_suffix(SUFFIX).filter(|digits| digits.len() >= NAME_DIGITS)?;
    digits.parse().ok().filter(|number| format!("{number:0NAME_DIGITS$}") == digits)
}

/// Options for files that must not be links and must not block.
pub(super) fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed());
    options
}

/// The regular file at `path`, if anything is there.
pub(super) fn existing(path: &Path, options: &OpenOptions) -> io::Result<Option<File>> {
    let file = match options.open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    match file.metadata()?.is_file() {
        true => Ok(Some(file)),
        false => Err(io::Error::other("it is not a regular file")),
    }
}

/// All of a small file.
pub(super) fn small(file: &mut File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(SMALL_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}
