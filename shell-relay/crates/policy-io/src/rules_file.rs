//! Reads files of rules when they have changed, and writes the user's file as a whole.

mod book;

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read, Write},
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::{SystemTime, UNIX_EPOCH},
};

use cohab_policy::user_rules::{self, DocumentError, Loaded, Origin, Rule};
use rustix::fs::{FlockOperation, OFlags};

pub use book::RuleBook;

/// Largest file that is read, in bytes.
const MAX_FILE_BYTES: u64 = 512 * 1024;

/// The reason why a rule was not stored or removed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The system refused.
    #[error("it cannot be written: {0}")]
    Io(#[from] io::Error),
    /// The text is not sound.
    #[error(transparent)]
    Document(#[from] DocumentError),
    /// Another user could change the rules for commands that run unasked.
    #[error("{0}")]
    NotOurs(&'static str),
}

/// The rules of one file. It need not exist.
#[derive(Debug)]
pub struct RulesFile {
    path: PathBuf,
    origin: Origin,
    /// The rules as read, with the stamp of the file and the day.
    kept: Mutex<Option<(Stamp, String, Arc<Loaded>)>>,
}

/// The identity of a file's state: inode, size, time of change in seconds and nanoseconds.
type Stamp = (u64, u64, i64, i64);

impl RulesFile {
    /// The file at `path`. Nothing is read yet.
    #[must_use]
    pub fn new(path: PathBuf) -> Self {
        Self { path, origin: Origin::Own, kept: Mutex::default() }
    }

    /// The file of a project at `path`, which may only tighten.
    #[must_use]
    pub fn of_project(path: PathBuf) -> Self {
        Self { origin: Origin::Project, ..Self::new(path) }
    }

    /// The file's path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Adds a rule at the end, unless it exists.
    ///
    /// # Errors
    /// If the file is not sound, not only ours, or cannot be written. It is unchanged then.
    pub fn add(&self, rules: &[Rule]) -> Result<(), StoreError> {
        self.change(|text| {
            let add = |text: String, rule| user_rules::with_rule(&text, rule);
            Ok((rules.iter().try_fold(text.to_owned(), add)?, ()))
        })
    }

    /// Removes the rule with this number, from 1 in the order of those in force.
    ///
    /// # Errors
    /// As [`add`](Self::add), and if there is no such rule.
    pub fn remove(&self, number: usize) -> Result<Rule, StoreError> {
        self.change(|text| Ok(user_rules::without_rule(text, number)?))
    }

    fn change<T>(&self, edit: impl FnOnce(&str) -> Result<(String, T), StoreError>) -> Result<T, StoreError> {
        // A link stays a link: its target is replaced.
        let path = fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        let folder = path.parent().unwrap_or(Path::new("/"));
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let lock = File::open(folder)?;
        // A holder of the lock writes a few kilobytes; the system frees the lock when the holder dies.
        rustix::fs::flock(&lock, FlockOperation::LockExclusive).map_err(io::Error::from)?;
        let text = read(&path, Origin::Own)?.map(|(_, text)| text).unwrap_or_default();
        let (changed, told) = edit(&text)?;
        if changed != text {
            replace(&path, folder, changed.as_bytes())?;
        }
        Ok(told)
    }
}

impl RulesFile {
    /// Its current rules. A file that cannot be read holds no rules, and is reported.
    #[must_use]
    pub fn loaded(&self) -> Arc<Loaded> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let today = day_of(days_since_1970());
        let stamp = match fs::metadata(&self.path) {
            Ok(metadata) => stamp(&metadata),
            Err(error) => {
                *kept = None;
                // A file that exists and cannot be read may have made something stricter.
                return if is_absent(&error) {
                    Arc::default()
                } else {
                    Arc::new(Loaded::broken((0, 0), error.to_string()))
                };
            }
        };
        if let Some((_, _, loaded)) = kept.as_ref().filter(|(known, day, _)| *known == stamp && *day == today) {
            return Arc::clone(loaded);
        }
        match read(&self.path, self.origin) {
            Ok(Some((stamp, text))) => {
                let loaded = Arc::new(user_rules::parse_on(&text, self.origin, &today));
                *kept = Some((stamp, today, Arc::clone(&loaded)));
                loaded
            }
            Ok(None) => Arc::default(),
            Err(error) => Arc::new(Loaded::broken((0, 0), error.to_string())),
        }
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// The text, if there is a file. Only the user, or root, may have write permission; a project's file, which only tightens, may be
/// writable by any user.
fn read(path: &Path, origin: Origin) -> Result<Option<(Stamp, String)>, StoreError> {
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
    let file = match OpenOptions::new().read(true).custom_flags(flags).open(path) {
        Ok(file) => file,
        Err(error) if is_absent(&error) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(StoreError::NotOurs("it is no regular file"));
    }
    let me = rustix::process::geteuid().as_raw();
    let is_own = origin == Origin::Own;
    if is_own && metadata.uid() != me && metadata.uid() != 0 {
        return Err(StoreError::NotOurs("it belongs to somebody else"));
    }
    if is_own && metadata.mode() & 0o022 != 0 {
        return Err(StoreError::NotOurs("others can write it (chmod go-w would do)"));
    }
    if metadata.len() > MAX_FILE_BYTES {
        return Err(StoreError::NotOurs("it is too large"));
    }
    let mut text = String::new();
    file.take(MAX_FILE_BYTES).read_to_string(&mut text)?;
    Ok(Some((stamp(&metadata), text)))
}

/// Whole days of UTC.
fn days_since_1970() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    now.as_secs() / 86_400
}

/// The day as `2026-12-31`, counted from a first of March so that a leap day is the last of its year.
fn day_of(days_since_1970: u64) -> String {
    let days = days_since_1970 + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

fn stamp(metadata: &fs::Metadata) -> Stamp {
    (metadata.ino(), metadata.len(), metadata.ctime(), metadata.ctime_nsec())
}

/// Replaces a file atomically: at every moment the old or the new file exists as a whole.
fn replace(path: &Path, folder: &Path, content: &[u8]) -> io::Result<()> {
    let temporary = folder.join(format!(".rules-{}", uuid::Uuid::now_v7().as_simple()));
    let write = || {
        let mut options = OpenOptions::new();
        let mut file = options.write(true).create_new(true).mode(0o600).open(&temporary)?;
        file.write_all(content)?;
        file.sync_all()?;
        fs::rename(&temporary, path)
    };
    let written = write();
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}

#[cfg(test)]
mod tests;
