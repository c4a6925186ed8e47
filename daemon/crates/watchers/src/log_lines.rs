//! Finds new lines of a log that match. A log that was replaced or cut is read from its beginning.

use std::{
    fmt,
    io::{self, Read, Seek, SeekFrom},
    str::FromStr,
};

use cohab_text::sanitize::one_line;
use regex::bytes::Regex;

/// Read in one look, in bytes.
pub const LOOK_BYTES: u64 = 1024 * 1024;
/// Of what is more than this, only the last [`LOOK_BYTES`] are looked at.
const MAX_BACKLOG_BYTES: u64 = 4 * LOOK_BYTES;
/// The beginning of a line that is looked at, in bytes.
const MAX_LINE_BYTES: usize = 8 * 1024;
/// Lines that are kept of one look; more are counted.
const MAX_KEPT_LINES: usize = 20;
/// Columns of a kept line.
const KEPT_COLUMNS: usize = 400;

/// How far a log was read. `Display` writes the text that `parse` reads back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogPosition {
    /// The file's inode; 0 before there is a file.
    pub inode: u64,
    /// Bytes that were looked at.
    pub offset: u64,
    /// Whether they end within a line that is not looked at any more.
    pub skips_line: bool,
}

impl fmt::Display for LogPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.inode, self.offset, u8::from(self.skips_line))
    }
}

impl FromStr for LogPosition {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let numbers: Vec<u64> = text.split(' ').map(str::parse).collect::<Result<_, _>>().map_err(|_| ())?;
        let [inode, offset, skips] = numbers[..] else { return Err(()) };
        Ok(Self { inode, offset, skips_line: skips != 0 })
    }
}

/// What a look has found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewLines {
    /// The first lines that match, each cut, without control characters.
    pub lines: Vec<String>,
    /// Lines that match.
    pub count: u64,
    /// How far it has looked.
    pub position: LogPosition,
    /// Whether there is more to look at.
    pub has_more: bool,
}

/// Looks at what is new in a log of this inode and length. A last line without its end is looked at once it has one.
///
/// # Errors
/// The log cannot be read.
pub fn look(
    log: &mut (impl Read + Seek),
    (inode, length): (u64, u64),
    from: LogPosition,
    pattern: &Regex,
) -> io::Result<NewLines> {
    let is_same = from.inode == inode && from.offset <= length;
    let mut position = if is_same { from } else { LogPosition { inode, ..LogPosition::default() } };
    if length - position.offset > MAX_BACKLOG_BYTES {
        position = LogPosition { offset: length - LOOK_BYTES, skips_line: true, ..position };
    }
    log.seek(SeekFrom::Start(position.offset))?;
    let mut bytes = Vec::new();
    log.take((length - position.offset).min(LOOK_BYTES)).read_to_end(&mut bytes)?;
    let end = position.offset + bytes.len() as u64;
    let mut found = NewLines { position, ..NewLines::default() };
    for part in bytes.split_inclusive(|byte| *byte == b'\n') {
        let is_whole = part.ends_with(b"\n");
        if !is_whole && part.len() <= MAX_LINE_BYTES && !found.position.skips_line {
            break;
        }
        let was_skipped = std::mem::replace(&mut found.position.skips_line, !is_whole);
        if !was_skipped {
            found.judge(&part[..part.len().min(MAX_LINE_BYTES)], pattern);
        }
        found.position.offset += part.len() as u64;
    }
    found.has_more = length > end;
    Ok(found)
}

impl NewLines {
    fn judge(&mut self, line: &[u8], pattern: &Regex) {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if !pattern.is_match(line) {
            return;
        }
        self.count += 1;
        if self.lines.len() < MAX_KEPT_LINES {
            self.lines.push(one_line(&String::from_utf8_lossy(line), KEPT_COLUMNS));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use proptest::prelude::*;

    use super::*;

    fn found(log: &[u8], inode: u64, from: LogPosition) -> NewLines {
        let pattern = Regex::new("ERROR").unwrap();
        look(&mut Cursor::new(log), (inode, log.len() as u64), from, &pattern).unwrap()
    }

    fn at(offset: u64) -> LogPosition {
        LogPosition { inode: 1, offset, skips_line: false }
    }

    #[test]
    fn only_new_whole_lines_that_match_are_found() {
        let log = b"ERROR old\nERROR new\r\nok\nERROR half";
        let first = found(log, 1, at(10));
        assert_eq!((first.lines, first.count, first.position), (vec!["ERROR new".into()], 1, at(24)));
        let whole = b"ERROR old\nERROR new\r\nok\nERROR half\n";
        let second = found(whole, 1, first.position);
        assert_eq!((second.lines, second.position), (vec!["ERROR half".into()], at(35)));
    }

    #[test]
    fn a_replaced_and_a_cut_log_are_read_from_their_beginning() {
        assert_eq!(found(b"ERROR a\n", 2, at(4)).count, 1, "another file");
        assert_eq!(found(b"ERROR a\n", 1, at(100)).count, 1, "a shorter file");
        assert_eq!(found(b"ERROR a\n", 1, at(8)).count, 0);
    }

    #[test]
    fn long_lines_are_looked_at_once_and_in_their_beginning() {
        let long = [b"ERROR".as_slice(), &vec![b'x'; 3 * MAX_LINE_BYTES]].concat();
        let first = found(&long, 1, at(0));
        assert_eq!((first.count, first.position.skips_line), (1, true));
        assert!(first.lines[0].len() < 2 * KEPT_COLUMNS);
        let more = [long.as_slice(), b" ERROR\nERROR b\n"].concat();
        assert_eq!(found(&more, 1, first.position).lines, ["ERROR b"]);
        let late = [&vec![b'x'; 3 * MAX_LINE_BYTES], b" ERROR\n".as_slice()].concat();
        assert_eq!(found(&late, 1, at(0)).count, 0);
    }

    #[test]
    fn many_lines_are_counted_and_a_flood_is_looked_at_in_its_end() {
        let many = b"ERROR\n".repeat(100);
        let all = found(&many, 1, at(0));
        assert_eq!((all.lines.len(), all.count, all.has_more), (MAX_KEPT_LINES, 100, false));
        let flood = [b"ERROR\n".repeat(100), b"fine\n".repeat(1_000_000), b"ERROR last\n".to_vec()].concat();
        let end = found(&flood, 1, at(0));
        assert_eq!((end.count, end.has_more), (1, false));
        let part = found(&flood[..3 * 1024 * 1024], 1, at(0));
        assert_eq!((part.count, part.has_more), (100, true));
    }

    proptest! {
        #[test]
        fn lines_are_found_once_in_whatever_pieces_they_come(
            lines in prop::collection::vec("(ERROR )?[a-z]{0,20}", 0..30),
            cuts in prop::collection::vec(0_usize..600, 0..8),
        ) {
            let log = lines.iter().map(|line| format!("{line}\n")).collect::<String>().into_bytes();
            let mut ends: Vec<usize> = cuts.into_iter().filter(|cut| *cut < log.len()).collect();
            ends.push(log.len());
            ends.sort_unstable();
            let (mut position, mut count) = (at(0), 0);
            for end in ends {
                let news = found(&log[..end], 1, position);
                position = news.position.to_string().parse().unwrap();
                prop_assert_eq!(position, news.position);
                count += news.count;
            }
            prop_assert_eq!(count, lines.iter().filter(|line| line.contains("ERROR")).count() as u64);
        }
    }
}
