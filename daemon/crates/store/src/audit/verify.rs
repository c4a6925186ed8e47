//! Verifies that the audit log is complete and unchanged.

use cohab_system::files::{existing, options};
use std::{
    collections::VecDeque,
    fs::File,
    io::{self, BufRead, BufReader, Read},
    path::{Path, PathBuf},
};

use super::{
    chain::{Fault, Link, opened},
    files::Places,
    head::Head,
    record::Record,
};
use crate::{
    key_folder::small,
    seal::{Key, Mac},
};

/// Longest line that can be a record, in bytes.
const MAX_LINE_BYTES: u64 = 256 * 1024;
/// Reported faults; the search stops after them.
pub const MAX_FAULTS: usize = 20;

/// The result of a verification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Records that can be read.
    pub records: u64,
    /// Files that they are in.
    pub files: usize,
    /// The first faults, in the order of the records.
    pub faults: Vec<Found>,
}

/// A fault and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The file.
    pub file: PathBuf,
    /// Its line, from 1; `None` for the file as a whole.
    pub line: Option<u64>,
    /// The fault, as a phrase.
    pub fault: String,
}

/// Nothing was ever recorded, and nothing is there.
const NOTHING: Verdict = Verdict { records: 0, files: 0, faults: Vec::new() };

/// Records with their files, opened under the lock.
struct Opened {
    key: Option<Key>,
    head: Result<Option<Head>, ()>,
    /// Whether the head, with any seal, says that there are records.
    counts_records: bool,
    segments: Vec<(PathBuf, File)>,
}

fn open(places: &Places) -> io::Result<Opened> {
    let key = places.keys().existing_key().map_err(|error| named(&places.key_file(), &error))?;
    let lock = places.keys().lock(false).map_err(|error| named(&places.head_file(), &error))?;
    let text = lock.map(|mut file| small(&mut file)).transpose()?;
    let counts_records = text.as_deref().is_some_and(Head::counts_records);
    let head = match (&key, text) {
        (_, None) | (None, _) => Ok(None),
        (Some(key), Some(text)) => Head::opened(key, &text).map(Some).ok_or(()),
    };
    let mut segments = Vec::new();
    for number in places.segments()? {
        let path = places.segment_file(number);
        let file = existing(&path, options().read(true)).map_err(|error| named(&path, &error))?;
        segments.extend(file.map(|file| (path, file)));
    }
    Ok(Opened { key, head, counts_records, segments })
}

fn is_empty(file: &File) -> bool {
    file.metadata().is_ok_and(|found| found.len() == 0)
}

fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// Checks every byte. Blocks.
///
/// # Errors
/// The system's error when a file cannot be read.
pub fn verify(places: &Places) -> io::Result<Verdict> {
    verify_with(places, &mut |_, _| {})
}

/// As [`verify`], and reports after each record how many bytes of how many are checked.
///
/// # Errors
/// The system's error when a file cannot be read.
pub fn verify_with(places: &Places, progress: &mut dyn FnMut(u64, u64)) -> io::Result<Verdict> {
    let Opened { key, head, counts_records, segments } = open(places)?;
    let whole = |file: PathBuf, fault: &str| Found { file, line: None, fault: fault.to_owned() };
    let files = segments.len();
    let Some(key) = key else {
        // The key comes last: a process that died before has recorded nothing.
        let is_nothing = !counts_records && segments.iter().all(|(_, file)| is_empty(file));
        let fault = whole(places.key_file(), "the key is missing, so nothing can be verified");
        return Ok(if is_nothing { NOTHING } else { Verdict { records: 0, files, faults: vec![fault] } });
    };
    let mut walk = Walk::new(&key, head.as_ref().ok().and_then(Option::as_ref));
    let bytes = |file: &File| file.metadata().map_or(0, |found| found.len());
    let (mut done, total) = (0, segments.iter().map(|(_, file)| bytes(file)).sum());
    for (path, file) in segments {
        walk.file(&path, file, &mut |bytes| {
            done += bytes;
            progress(done, total);
        })?;
    }
    let Walk { mut faults, records, link, has_sound, .. } = walk;
    match &head {
        Err(()) if !has_sound && records > 0 => {
            faults.clear();
            faults.push(whole(
                places.key_file(),
                "neither the head nor any record matches the key: the key was replaced",
            ));
        }
        Err(()) => faults.insert(0, whole(places.head_file(), "it was changed")),
        Ok(None) => {
            faults.insert(0, whole(places.head_file(), "it is missing: the expected number of records is unknown"));
        }
        Ok(Some(head)) => {
            if let Some(link) = link.filter(|link| link.n < head.count) {
                let fault = format!("{} at the end", missing(link.n + 1, head.count));
                faults.push(whole(places.segment_file(head.segment), &fault));
            }
        }
    }
    faults.truncate(MAX_FAULTS);
    Ok(Verdict { records, files, faults })
}

/// The last `number` records that are sound, the oldest first. Blocks.
///
/// # Errors
/// The system's error when a file cannot be read.
pub fn last(places: &Places, number: usize) -> io::Result<Vec<Record>> {
    let Opened { key: Some(key), segments, .. } = open(places)? else { return Ok(Vec::new()) };
    let mut records = VecDeque::new();
    for (_, file) in segments.into_iter().rev() {
        let mut found = VecDeque::new();
        let mut reader = BufReader::new(file);
        while let Some(line) = next_line(&mut reader)? {
            found.extend(opened(&key, line.trim_ascii_end()).map(|(record, _)| record));
            if found.len() > number {
                found.pop_front();
            }
        }
        while records.len() < number
            && let Some(record) = found.pop_back()
        {
            records.push_front(record);
        }
    }
    Ok(records.into())
}

/// The next line with its end, cut at the maximal length of a record.
fn next_line(reader: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    reader.take(MAX_LINE_BYTES).read_until(b'\n', &mut line)?;
    Ok((!line.is_empty()).then_some(line))
}

/// Goes through the lines.
struct Walk<'a> {
    key: &'a Key,
    /// The last record; `None` where the next sound one is accepted as it is.
    link: Option<Link>,
    records: u64,
    has_sound: bool,
    faults: Vec<Found>,
}

impl<'a> Walk<'a> {
    fn new(key: &'a Key, head: Option<&Head>) -> Self {
        let link = head.map(|head| Link { n: head.first.saturating_sub(1), mac: head.first_prev });
        Self { key, link, records: 0, has_sound: false, faults: Vec::new() }
    }

    fn file(&mut self, path: &Path, file: File, checked: &mut dyn FnMut(u64)) -> io::Result<()> {
        let mut reader = BufReader::new(file);
        let mut number = 0;
        while let Some(line) = next_line(&mut reader)? {
            number += 1;
            if let Some(fault) = self.line(&line)
                && self.faults.len() < MAX_FAULTS
            {
                self.faults.push(Found { file: path.to_owned(), line: Some(number), fault: told(&fault) });
            }
            checked(line.len() as u64);
        }
        Ok(())
    }

    fn line(&mut self, line: &[u8]) -> Option<Fault> {
        let sound = opened(self.key, line.strip_suffix(b"\n").unwrap_or(line));
        let is_first = !self.has_sound && sound.is_some();
        self.records += 1;
        self.has_sound |= sound.is_some();
        let before = |record: &Record| Link { n: record.n.saturating_sub(1), mac: record.prev };
        let mut link = match (self.link, &sound) {
            // Files that should have been removed but remained.
            (Some(link), Some((record, _))) if is_first && record.n <= link.n => before(record),
            (Some(link), _) => link,
            (None, Some((record, _))) => before(record),
            (None, None) => Link { n: 0, mac: Mac::default() },
        };
        let result = link.follow(self.key, line);
        self.link = match (&result, sound) {
            (Err(Fault::OutOfOrder { .. }), _) => self.link,
            (_, Some((record, mac))) => Some(Link { n: record.n, mac }),
            (_, None) => None,
        };
        result.err()
    }
}

fn told(fault: &Fault) -> String {
    match fault {
        Fault::Changed => "this record was changed".to_owned(),
        Fault::Cut => "this record is cut off".to_owned(),
        Fault::Missing(from, to) => format!("{} before this one", missing(*from, *to)),
        Fault::OutOfOrder { found, due } => format!("found record {found} in the place of record {due}"),
        Fault::Foreign => "this record does not follow the one before it".to_owned(),
        Fault::Noticed(reason) => format!("when this was written, {reason}"),
    }
}

fn missing(from: u64, to: u64) -> String {
    if from == to { format!("record {from} is missing") } else { format!("records {from} to {to} are missing") }
}

#[cfg(test)]
#[path = "verify_tests.rs"]
mod tests;
