//! Follows the audit log as records are written. A follower only reads and never makes a writer wait.

use cohab_system::files::{existing, options};
use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
};

use super::{chain::opened, files::Places, record::Record};
use crate::seal::Key;

/// Size of one read, in bytes.
const PIECE_BYTES: u64 = 1024 * 1024;

/// An event of the log.
#[derive(Clone, Debug, PartialEq)]
pub enum News {
    /// A record.
    Record(Box<Record>),
    /// An invalid or changed line: its file and its number of bytes from the beginning.
    Unsound(String),
}

/// The position of a reader.
pub struct Follower {
    places: Places,
    /// The file that is read, and the position in it.
    segment: u64,
    offset: u64,
}

impl Follower {
    /// A follower behind the last record. Blocks.
    ///
    /// # Errors
    /// The system's error when the files cannot be looked at.
    pub fn at_the_end(places: Places) -> io::Result<Self> {
        let segment = places.segments()?.last().copied().unwrap_or(0);
        let offset = match existing(&places.segment_file(segment), options().read(true))? {
            Some(file) => file.metadata()?.len(),
            None => 0,
        };
        Ok(Self { places, segment, offset })
    }

    /// The complete lines since the last call. Blocks, but waits for nothing.
    ///
    /// # Errors
    /// The system's error when a file cannot be read.
    pub fn news(&mut self) -> io::Result<Vec<News>> {
        let Some(key) = self.places.keys().existing_key()? else { return Ok(Vec::new()) };
        let mut news = self.rest(&key)?;
        // A newer file is begun only after the last write to the one before it.
        if let Some(next) = self.places.segments()?.into_iter().find(|number| *number > self.segment) {
            news.extend(self.rest(&key)?);
            (self.segment, self.offset) = (next, 0);
            news.extend(self.rest(&key)?);
        }
        Ok(news)
    }

    /// The rest of the current file behind the read position.
    fn rest(&mut self, key: &Key) -> io::Result<Vec<News>> {
        let path = self.places.segment_file(self.segment);
        let Some(mut file) = existing(&path, options().read(true))? else { return Ok(Vec::new()) };
        let length = file.metadata()?.len();
        if length < self.offset {
            self.offset = length;
            return Ok(vec![News::Unsound(format!("{}: records are missing at the end", path.display()))]);
        }
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(self.offset))?;
        File::take(file, PIECE_BYTES).read_to_end(&mut bytes)?;
        let mut news = Vec::new();
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            let Some(whole) = line.strip_suffix(b"\n") else { break };
            news.push(match opened(key, whole) {
                Some((record, _)) => News::Record(Box::new(record)),
                None => {
                    News::Unsound(format!("{}, from byte {}: this record was changed", path.display(), self.offset))
                }
            });
            self.offset += line.len() as u64;
        }
        Ok(news)
    }
}

#[cfg(test)]
#[path = "follow_tests.rs"]
mod tests;
