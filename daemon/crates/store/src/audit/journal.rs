//! The journal writes records. Each batch is written under the lock of the head, so that several processes make one chain. Between two
//! batches the journal keeps its files open: as long as no other process has written, nothing has to be read again.

use cohab_system::files::{existing, options};
use std::{
    fs::{self, File},
    io::{self, Read, Seek, SeekFrom},
    os::unix::fs::OpenOptionsExt,
    time::{Duration, SystemTime},
};

use jiff::Timestamp;

use super::{
    chain::{Fault, Link, opened},
    files::Places,
    head::Head,
    open_files::OpenFiles,
    record::{Event, Note, Record},
};
use crate::{
    key_folder::{replace, small},
    pace::Pace,
    seal::{Key, Mac, Purpose},
};

/// Size of a file of records, in bytes.
const SEGMENT_BYTES: u64 = 4 * 1024 * 1024;
/// Files of records; the oldest goes first.
const MAX_SEGMENTS: usize = 16;
/// A file takes records of at most this many days, so that old ones can be deleted.
const SEGMENT_DAYS: i64 = 7;
/// Seconds of a day.
const DAY: i64 = 86_400;
/// Files stay open for this long, so that old ones are found and removed.
const OPEN_SECONDS: i64 = 3_600;
/// Largest file that is searched for its last sound record.
const MAX_READ_BYTES: u64 = 2 * SEGMENT_BYTES;

/// Writes records.
pub struct Journal {
    places: Places,
    segment_bytes: u64,
    max_segments: usize,
    pace: Pace,
    /// The files of the last batch.
    open: Option<OpenFiles>,
}

/// The state of the records, and the fault found in them.
struct JournalState {
    head: Head,
    /// The reason to begin a new file.
    broken: Option<String>,
}

impl Journal {
    /// A journal in these places.
    #[must_use]
    pub fn at(places: Places) -> Self {
        Self { places, segment_bytes: SEGMENT_BYTES, max_segments: MAX_SEGMENTS, pace: Pace::default(), open: None }
    }

    /// The same with smaller and fewer files.
    #[cfg(test)]
    pub(super) fn bounded(self, segment_bytes: u64, max_segments: usize) -> Self {
        Self { segment_bytes, max_segments, ..self }
    }

    /// The same, ended at one of its steps.
    #[cfg(test)]
    pub(super) fn paced(self, pace: Pace) -> Self {
        Self { pace, ..self }
    }

    /// Appends these notes in order. They are on disk when this returns. Blocks.
    ///
    /// # Errors
    /// The system's error. No note is added then.
    pub fn append(&mut self, notes: &[Note]) -> io::Result<()> {
        let Some(newest) = notes.last() else { return Ok(()) };
        if let Some(open) = self.open.take().map(|open| open.locked(&self.places)).transpose()?.flatten()
            && !self.is_over(&open.head, newest)
            && newest.at.as_second() - open.opened < OPEN_SECONDS
        {
            let open = self.write(open, notes.iter())?;
            self.write_head(&open.key, &open.head, &open.head_file)?;
            self.open = Some(open.unlocked()?);
            return Ok(());
        }
        self.append_anew(notes, newest)
    }

    /// Appends after looking at all files, and removes old ones.
    fn append_anew(&mut self, notes: &[Note], newest: &Note) -> io::Result<()> {
        self.places.make_folders()?;
        self.pace.step();
        let Some(mut head_file) = self.places.keys().lock(true)? else { return Ok(()) };
        let (key, JournalState { mut head, broken }) = self.find(&mut head_file)?;
        let segment = if broken.is_some() || self.is_over(&head, newest) {
            self.begin_segment(&mut head, newest.at)?
        } else {
            options().append(true).open(self.places.segment_file(head.segment))?
        };
        let remark = broken.map(|reason| Note { event: Event::Broken { reason }, ..newest.clone() });
        let open = OpenFiles::new(&self.places, newest.at.as_second(), head_file, key, head, segment);
        let mut open = self.write(open, remark.iter().chain(notes))?;
        self.prune(&mut open, newest)?;
        self.open = Some(open.unlocked()?);
        Ok(())
    }

    /// Whether the records after this head begin a new file.
    fn is_over(&self, head: &Head, newest: &Note) -> bool {
        let is_full = head.bytes >= self.segment_bytes;
        let is_old = newest.at.as_second() - head.since >= SEGMENT_DAYS.min(i64::from(newest.keep_days)) * DAY;
        head.segment == 0 || is_full || is_old
    }

    /// Writes the lines of these notes. They are on disk when this returns.
    fn write<'a>(&self, mut open: OpenFiles, notes: impl Iterator<Item = &'a Note>) -> io::Result<OpenFiles> {
        let lines = seal(&open.key, &mut open.head, notes);
        let length = open.segment.metadata()?.len();
        let written = self.pace.write(&mut open.segment, lines.as_bytes());
        if let Err(error) = written.and_then(|()| open.segment.sync_data()) {
            // An incomplete record must not stay; if this fails too, the next writer finds it.
            let _ = open.segment.set_len(length);
            return Err(error);
        }
        open.head.bytes = length + lines.len() as u64;
        Ok(open)
    }

    /// Finds the end of the chain. Afterwards there is a key, and a head that it has sealed.
    fn find(&self, head_file: &mut File) -> io::Result<(Key, JournalState)> {
        let text = small(head_file)?;
        let segments = self.places.segments()?;
        let has_records = || !segments.iter().all(|number| self.places.is_empty(*number));
        let Some(key) = self.places.keys().existing_key()? else {
            let is_begin = !Head::counts_records(&text) && !has_records();
            let key = self.places.keys().make_key(&self.pace, |key| {
                self.write_head(key, &Head::empty(), head_file)?;
                self.pace.step();
                head_file.sync_all()
            })?;
            let (head, broken) = match is_begin {
                true => (Head::empty(), None),
                false => (self.behind_records(&key, &segments)?, Some("the key was missing".to_owned())),
            };
            return Ok((key, JournalState { head, broken }));
        };
        let found = match Head::opened(&key, &text) {
            Some(head) => self.catch_up(&key, head, &segments)?,
            None => {
                let head = self.behind_records(&key, &segments)?;
                let reason = match (text.is_empty(), has_records()) {
                    // Before the head was written first, a process that died could leave this state, too. The two cannot be
                    // distinguished.
                    (true, false) => {
                        "there was a key but no record: all records were removed, or the first was not finished"
                    }
                    (true, true) => "the head was missing",
                    (false, _) => "the head was changed",
                };
                JournalState { head, broken: Some(reason.to_owned()) }
            }
        };
        Ok((key, found))
    }

    /// The corrected head: a process that died may have written records but no head, also into a new file.
    fn catch_up(&self, key: &Key, mut head: Head, segments: &[u64]) -> io::Result<JournalState> {
        let is_there = head.segment == 0 || segments.contains(&head.segment);
        let mut broken = (!is_there).then(|| "a file of records was missing".to_owned());
        let from = head.segment.max(1);
        for number in segments.iter().filter(|number| **number >= from) {
            if broken.is_none() {
                broken = self.catch_up_in(*number, key, &mut head)?;
            }
        }
        Ok(JournalState { head, broken })
    }

    /// The same in one file. Returns its fault, if there is one.
    fn catch_up_in(&self, number: u64, key: &Key, head: &mut Head) -> io::Result<Option<String>> {
        let Some(mut file) = existing(&self.places.segment_file(number), options().read(true).append(true))? else {
            return Ok(Some("a file of records was missing".into()));
        };
        let mut end = if number == head.segment { head.bytes } else { 0 };
        let length = file.metadata()?.len();
        if length < end {
            return Ok(Some("the last records were missing".into()));
        }
        file.seek(SeekFrom::Start(end))?;
        let mut rest = Vec::new();
        Read::by_ref(&mut file).take(MAX_READ_BYTES).read_to_end(&mut rest)?;
        let mut link = Link { n: head.count, mac: head.last };
        for line in rest.split_inclusive(|byte| *byte == b'\n') {
            if !line.ends_with(b"\n") {
                // A record that a dying process did not finish; it was never reported as kept.
                file.set_len(end)?;
                break;
            }
            if !matches!(link.follow(key, line), Ok(_) | Err(Fault::Noticed(_))) {
                return Ok(Some("unknown lines followed the last record".into()));
            }
            end += line.len() as u64;
            if number != head.segment {
                head.segment = number;
                head.since = opened(key, line.trim_ascii_end()).map_or(0, |(record, _)| record.at.as_second());
            }
            (head.count, head.last, head.bytes) = (link.n, link.mac, end);
        }
        Ok(None)
    }

    /// Without a head: the position behind the last sound record.
    fn behind_records(&self, key: &Key, segments: &[u64]) -> io::Result<Head> {
        let mut head = Head { segment: segments.last().copied().unwrap_or(0), ..Head::empty() };
        for number in segments.iter().rev() {
            let Some(file) = existing(&self.places.segment_file(*number), options().read(true))? else { continue };
            let mut bytes = Vec::new();
            file.take(MAX_READ_BYTES).read_to_end(&mut bytes)?;
            if let Some((record, mac)) = bytes.rsplit(|byte| *byte == b'\n').find_map(|line| opened(key, line)) {
                (head.count, head.last) = (record.n, mac);
                break;
            }
        }
        if let Some((first, _)) = segments.first().and_then(|first| self.first_record(key, *first)) {
            (head.first, head.first_prev) = (first.n, first.prev);
        }
        Ok(head)
    }

    fn first_record(&self, key: &Key, segment: u64) -> Option<(Record, Mac)> {
        let file = existing(&self.places.segment_file(segment), options().read(true)).ok()??;
        let mut bytes = Vec::new();
        file.take(MAX_READ_BYTES).read_to_end(&mut bytes).ok()?;
        opened(key, bytes.split(|byte| *byte == b'\n').next()?)
    }

    fn begin_segment(&self, head: &mut Head, at: Timestamp) -> io::Result<File> {
        let last = self.places.segments()?.last().copied().unwrap_or(0);
        // A process that died may have begun one and written nothing.
        let is_begun = last > head.segment && self.places.is_empty(last);
        head.segment = if is_begun { last } else { last.max(head.segment) + 1 };
        (head.bytes, head.since) = (0, at.as_second());
        let mut options = options();
        options.append(true).create_new(!is_begun).mode(0o600);
        self.pace.step();
        let file = options.open(self.places.segment_file(head.segment))?;
        self.pace.step();
        File::open(&self.places.folder)?.sync_all()?;
        Ok(file)
    }

    /// Replaces the head in the file.
    fn write_head(&self, key: &Key, head: &Head, file: &File) -> io::Result<()> {
        replace(file, &head.sealed(key), &self.pace)
    }

    /// Writes the head, and removes surplus and old files: the head first, so that an interrupted removal does not look like missing
    /// records.
    fn prune(&self, open: &mut OpenFiles, newest: &Note) -> io::Result<()> {
        let OpenFiles { head_file, key, head, .. } = open;
        let mut segments = self.places.segments()?;
        segments.retain(|number| *number <= head.segment);
        let too_many = segments.len().saturating_sub(self.max_segments);
        let keep = Duration::from_secs(u64::from(newest.keep_days) * DAY.unsigned_abs());
        let since = SystemTime::from(newest.at).checked_sub(keep);
        let is_old = |number: &u64| {
            let written = fs::symlink_metadata(self.places.segment_file(*number)).and_then(|found| found.modified());
            *number < head.segment && written.is_ok_and(|written| since.is_some_and(|since| written < since))
        };
        let too_old = segments.iter().take_while(|number| is_old(number)).count();
        let (gone, kept) = segments.split_at(too_many.max(too_old));
        let first = kept.first().filter(|_| !gone.is_empty()).and_then(|first| self.first_record(key, *first));
        if let Some((first, _)) = &first {
            (head.first, head.first_prev) = (first.n, first.prev);
        }
        self.write_head(key, head, head_file)?;
        // Without a sound first record the start of the rest is unknown.
        for number in gone.iter().filter(|_| first.is_some()) {
            self.pace.step();
            if let Err(error) = fs::remove_file(self.places.segment_file(*number)) {
                tracing::warn!(%error, "old audit records cannot be removed");
            }
        }
        Ok(())
    }
}

/// The lines of these notes; advances the head.
fn seal<'a>(key: &Key, head: &mut Head, notes: impl Iterator<Item = &'a Note>) -> String {
    let mut lines = String::new();
    for Note { at, session, turn, event, .. } in notes {
        let (session, turn, event) = (session.clone(), turn.clone(), event.clone());
        let record = Record { n: head.count + 1, prev: head.last, at: *at, session, turn, event };
        let (line, mac) = key.sealed(Purpose::Record, &record.json());
        lines.push_str(&line);
        (head.count, head.last) = (record.n, mac);
    }
    lines
}

#[cfg(test)]
#[path = "journal_tests.rs"]
pub(super) mod tests;
