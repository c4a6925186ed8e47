//! Reads the user's documents into a store, and reads again what changed.
//!
//! A folder is walked as by `glob`: without hidden files, without those that ignore files exclude or that the user keeps from the assistant,
//! and never through a link. Files that the
//! policy calls secret are not opened. Secrets are taken out of the texts of others.

use std::{
    collections::BTreeMap,
    fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use cohab_context::ignore_rules::IgnoreRules;
use cohab_memory::knowledge::{
    record::{self, FileStamp, LearnedFile, LeftOut, Passage},
    split,
    store::{KnowledgeStore, MAX_FILE_BYTES, MAX_FILES},
};
use cohab_model_api::Secrets;
use cohab_policy::Level;
use cohab_system::files::{self, FileError};
use jiff::{SignedDuration, Timestamp};
use tokio_util::sync::CancellationToken;

use super::{path, walk};

/// Texts of so many bytes, or so many files, are stored at once: an end in between loses no more.
const BATCH_BYTES: u64 = 2 * 1024 * 1024;
const BATCH_FILES: usize = 500;
/// Most bytes that are read before a search.
const BYTES_BEFORE_SEARCH: u64 = 8 * 1024 * 1024;
/// Places with more files are not compared before a search, but after it.
const FILES_BEFORE_SEARCH: u64 = 2_000;
/// A place that was compared so recently is not compared again before a search.
const LOOKS_AGAIN: SignedDuration = SignedDuration::from_secs(5);

/// Why a place could not be read into a store.
#[derive(Debug)]
pub enum LearnFault<E> {
    /// The place cannot be read. A sentence without its end.
    Place(String),
    /// The store cannot be read or written.
    Store(E),
}

/// What became of a place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LearnReport {
    /// Number of files that were new or changed.
    pub read: usize,
    /// Number of files that are gone.
    pub gone: usize,
    /// Number of folders and files that could not be read.
    pub unreadable: usize,
    /// Number of files beyond [`MAX_FILES`].
    pub beyond: usize,
    /// Everything was compared and read.
    pub is_complete: bool,
}

/// Reads documents.
pub struct Learner<'a> {
    /// Takes secrets out.
    pub secrets: &'a Secrets,
    /// What `~` stands for, with links resolved.
    pub home: &'a Path,
    /// The files that the user keeps from the assistant.
    pub ignore: &'a IgnoreRules,
    /// Called with the number of bytes that are read and that are to be read.
    pub progress: &'a mut dyn FnMut(u64, u64),
}

/// A file that is to be read.
struct Unread {
    /// Below the place.
    path: PathBuf,
    stamp: FileStamp,
}

impl Learner<'_> {
    /// Reads what is new or changed in a place of the store, and removes what is gone. Stops before the end after `most_bytes`. Blocks.
    ///
    /// # Errors
    /// The place cannot be read, or the store not be used. What was stored until then stays.
    pub fn refresh<S: KnowledgeStore>(
        &mut self,
        store: &mut S,
        root: &Path,
        now: Timestamp,
        most_bytes: u64,
    ) -> Result<LearnReport, LearnFault<S::Error>> {
        let mut known = store.files(root).map_err(LearnFault::Store)?;
        let mut report = LearnReport::default();
        let unread = self.compare(store, root, &mut known, &mut report)?;
        let mut gone: Vec<PathBuf> = known.into_keys().collect();
        report.gone = gone.len();
        let total: u64 = unread.iter().map(|file| file.stamp.bytes.min(MAX_FILE_BYTES)).sum();
        let (mut batch, mut batch_bytes, mut done) = (Vec::new(), 0, 0);
        let mut unread = unread.into_iter();
        while done < most_bytes
            && let Some(file) = unread.next()
        {
            let bytes = file.stamp.bytes.min(MAX_FILE_BYTES);
            match self.read(root, file) {
                Ok(file) => {
                    batch.push(file);
                    report.read += 1;
                }
                Err((file, error)) => {
                    report.unreadable += usize::from(!matches!(error, FileError::Missing));
                    gone.push(file.path);
                }
            }
            (done, batch_bytes) = (done + bytes, batch_bytes + bytes);
            if batch_bytes >= BATCH_BYTES || batch.len() >= BATCH_FILES {
                keep(store, root, &mut batch, &mut gone)?;
                batch_bytes = 0;
            }
            (self.progress)(done, total);
        }
        if !batch.is_empty() || !gone.is_empty() {
            keep(store, root, &mut batch, &mut gone)?;
        }
        report.is_complete = unread.next().is_none();
        if report.is_complete {
            store.looked(root, now).map_err(LearnFault::Store)?;
        }
        Ok(report)
    }

    /// The files that are new or changed. Those that are there are taken out of `known`; what is left is gone.
    fn compare<S: KnowledgeStore>(
        &self,
        store: &S,
        root: &Path,
        known: &mut BTreeMap<PathBuf, FileStamp>,
        report: &mut LearnReport,
    ) -> Result<Vec<Unread>, LearnFault<S::Error>> {
        if fs::symlink_metadata(root).is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
            return Ok(Vec::new());
        }
        // The walk asks this of what is below.
        if self.ignore.kept_by(root).is_some() {
            return Ok(Vec::new());
        }
        let found = walk::files(root, None, self.ignore, &CancellationToken::new()).map_err(LearnFault::Place)?;
        report.unreadable = found.unreadable;
        let others = store.places().map_err(LearnFault::Store)?;
        let others = others.iter().filter(|summary| summary.place.root != root);
        let count = |left_out: &[(LeftOut, u64)]| left_out.iter().map(|(_, files)| files).sum::<u64>();
        let taken: u64 = others.map(|summary| summary.files + count(&summary.left_out)).sum();
        let room = MAX_FILES.saturating_sub(usize::try_from(taken).unwrap_or(usize::MAX));
        let (mut unread, mut present) = (Vec::new(), 0);
        for file in found.files {
            let Some(stamp) = stamp_of(&file) else { continue };
            if present == room {
                report.beyond += 1;
                continue;
            }
            present += 1;
            let path = file.strip_prefix(root).unwrap_or(&file).to_owned();
            if known.remove(&path) != Some(stamp) {
                unread.push(Unread { path, stamp });
            }
        }
        if found.unreadable > 0 || found.is_cut {
            // What lies in a folder that cannot be read now may still be there.
            known.retain(|path, _| {
                fs::symlink_metadata(record::file(root, path))
                    .is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
            });
        }
        Ok(unread)
    }

    /// Reads a file.
    fn read(&self, root: &Path, Unread { path, stamp }: Unread) -> Result<LearnedFile, (Unread, FileError)> {
        let file = record::file(root, &path);
        if path::read_level(&file, root, self.home) >= Level::Danger {
            return Ok(LearnedFile { path, stamp, content: Err(LeftOut::Secret) });
        }
        let (bytes, metadata) = match files::read_regular(&file, MAX_FILE_BYTES) {
            Err(FileError::TooLarge { .. }) => return Ok(LearnedFile { path, stamp, content: Err(LeftOut::Large) }),
            Err(error) => return Err((Unread { path, stamp }, error)),
            Ok(read) => read,
        };
        // That of the bytes that were read: a later change is noticed by it.
        let stamp = of_metadata(&metadata);
        let content = self.passages(&path, &bytes);
        Ok(LearnedFile { path, stamp, content })
    }

    fn passages(&self, path: &Path, bytes: &[u8]) -> Result<Vec<Passage>, LeftOut> {
        if bytes.contains(&0) {
            return Err(LeftOut::Binary);
        }
        let mut text = String::from_utf8_lossy(bytes).into_owned();
        let lines = text.matches('\n').count();
        self.secrets.text(&mut text);
        // Otherwise the lines behind it would have other numbers.
        if text.matches('\n').count() == lines { Ok(split::passages(path, &text)) } else { Err(LeftOut::Secret) }
    }
}

/// Compares the places that are searched from a folder, and reads what changed. Returns those for which it would take too long; the caller
/// may refresh them later. A place that cannot be read stays as it is. Blocks.
///
/// # Errors
/// The store cannot be read.
pub fn refresh_before_search<S: KnowledgeStore>(
    learner: &mut Learner<'_>,
    store: &mut S,
    folder: Option<&Path>,
    now: Timestamp,
) -> Result<Vec<PathBuf>, S::Error> {
    let mut later = Vec::new();
    for summary in store.places()? {
        let place = summary.place;
        let is_recent = |looked| (SignedDuration::ZERO..LOOKS_AGAIN).contains(&now.duration_since(looked));
        if place.looked.is_some_and(is_recent) || folder.is_some_and(|folder| !place.scope.holds_in(folder)) {
            continue;
        }
        let is_small = place.looked.is_some() && summary.files <= FILES_BEFORE_SEARCH;
        let is_done = is_small
            && match learner.refresh(store, &place.root, now, BYTES_BEFORE_SEARCH) {
                Ok(report) => report.is_complete,
                Err(LearnFault::Place(_)) => true,
                Err(LearnFault::Store(error)) => {
                    tracing::warn!(%error, "documents could not be read again");
                    true
                }
            };
        if !is_done {
            later.push(place.root);
        }
    }
    Ok(later)
}

fn keep<S: KnowledgeStore>(
    store: &mut S,
    root: &Path,
    files: &mut Vec<LearnedFile>,
    gone: &mut Vec<PathBuf>,
) -> Result<(), LearnFault<S::Error>> {
    let is_there = store.replace(root, files, gone).map_err(LearnFault::Store)?;
    files.clear();
    gone.clear();
    if is_there { Ok(()) } else { Err(LearnFault::Place("it was unlearned meanwhile".to_owned())) }
}

/// What a regular file is recognized by; `None` for anything else.
fn stamp_of(file: &Path) -> Option<FileStamp> {
    fs::symlink_metadata(file).ok().filter(fs::Metadata::is_file).map(|metadata| of_metadata(&metadata))
}

fn of_metadata(metadata: &fs::Metadata) -> FileStamp {
    let modified_ns = metadata.mtime().saturating_mul(1_000_000_000).saturating_add(metadata.mtime_nsec());
    FileStamp { bytes: metadata.len(), modified_ns, inode: metadata.ino() }
}

#[cfg(test)]
#[path = "learn_tests.rs"]
mod tests;
