//! Reads the history file of bash.
//!
//! Without times each line is an entry. With `HISTTIMEFORMAT` bash writes `#1700000000` before each entry, and an entry may have several
//! lines: all lines up to the next time. A file of both kinds begins with lines that have no time.
//!
//! Bash takes `#123` that the user typed for a time when it reads the file, and so does this module: the comment is lost, and the next
//! entry has no time, since 123 is long ago. Text after the digits, as in `#1 of the list`, is never written by bash as a time; such a
//! line stays a line.

use std::{
    io::{self, BufRead},
    mem,
};

use super::{
    entry::{RawRun, SkipReason},
    lines::{FileLine, JoinedLines, LineReader},
};

/// The state of a reader.
#[derive(Debug, Default)]
pub(super) struct BashFormat {
    /// Whether a time was read; from then on an entry ends at the next time.
    has_times: bool,
    /// The time of the entry that follows, in seconds since 1970.
    seconds: Option<i64>,
}

impl BashFormat {
    /// The next entry; `None` at the end of the file.
    pub fn next_run<R: BufRead>(
        &mut self,
        lines: &mut LineReader<R>,
    ) -> io::Result<Option<Result<RawRun, SkipReason>>> {
        let mut joined = JoinedLines::default();
        while let Some(line) = lines.next_line()? {
            if let Some(mark) = TimeMark::of(&line) {
                self.has_times = true;
                let seconds = mem::replace(&mut self.seconds, mark.seconds);
                // Bash writes two times in a row after an entry that it did not write.
                if joined.count > 0 {
                    return Ok(Some(finish(joined, seconds)));
                }
                continue;
            }
            joined.add(&line, line.bytes.strip_suffix(b"\r").unwrap_or(line.bytes));
            if !self.has_times {
                break;
            }
        }
        if joined.count == 0 {
            return Ok(None);
        }
        Ok(Some(finish(joined, self.seconds.take())))
    }
}

fn finish(joined: JoinedLines, seconds: Option<i64>) -> Result<RawRun, SkipReason> {
    if joined.is_long {
        return Err(SkipReason::TooLong);
    }
    if joined.is_cut {
        return Err(SkipReason::Cut);
    }
    Ok(RawRun { line: joined.bytes, seconds, duration: None })
}

/// A line with a time.
struct TimeMark {
    /// `None` if it is no number, or if the file ends within it.
    seconds: Option<i64>,
}

impl TimeMark {
    fn of(line: &FileLine<'_>) -> Option<Self> {
        let text = line.bytes.strip_suffix(b"\r").unwrap_or(line.bytes);
        let digits = text.strip_prefix(b"#").filter(|digits| digits.iter().all(u8::is_ascii_digit))?;
        if line.is_long || digits.is_empty() && !line.is_cut {
            return None;
        }
        let seconds = str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok());
        Some(Self { seconds: seconds.filter(|_| !line.is_cut) })
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::tests::{at, lines_of, read},
        *,
    };
    use crate::past::record::RunSource;

    /// Written by bash 5.2 with `HISTTIMEFORMAT` and `lithist`.
    const TIMED: &str = "#1795957052\necho Ü ü à “x” ă\n#1795957054\nfor i in 1 2\ndo echo $i\ndone\n#1795957057\n: > f\n\
        #1795957057\necho end\\\\\n#1795957058\nprintf \"a\\nb\"\n#1795957059\n hidden\n#1795957061\necho 'x\n\ny'\n";

    #[test]
    fn lines_without_times_are_entries() {
        let (runs, counts) = read(RunSource::Bash, b"ls\ncd ..\n\n hidden\n#\n# note\n#1 of 2\necho \xc3\xbc\n");
        assert_eq!(lines_of(&runs), ["ls", "cd ..", "#", "# note", "#1 of 2", "echo ü"]);
        assert!(runs.iter().all(|run| run.at.is_none() && run.source == RunSource::Bash));
        assert_eq!((counts.skipped(SkipReason::Empty), counts.skipped(SkipReason::Hidden)), (1, 1));
    }

    #[test]
    fn entries_with_times_may_have_several_lines() {
        let (runs, counts) = read(RunSource::Bash, TIMED.as_bytes());
        let expected = [
            "echo Ü ü à “x” ă",
            "for i in 1 2\ndo echo $i\ndone",
            ": > f",
            "echo end\\\\",
            "printf \"a\\nb\"",
            "echo 'x\n\ny'",
        ];
        assert_eq!(lines_of(&runs), expected);
        assert_eq!((runs[0].at, runs[5].at), (at(1_795_957_052), at(1_795_957_061)));
        assert_eq!((counts.read, counts.all_skipped()), (6, 1));
    }

    #[test]
    fn a_file_may_begin_without_times() {
        let (runs, _) = read(RunSource::Bash, b"ls\npwd\n#1700000000\na\nb\n#1700000001\n#1700000002\nc\n");
        assert_eq!(lines_of(&runs), ["ls", "pwd", "a\nb", "c"]);
        let times: Vec<_> = runs.iter().map(|run| run.at).collect();
        assert_eq!(times, [None, None, at(1_700_000_000), at(1_700_000_002)]);
    }

    #[test]
    fn a_typed_number_comment_is_a_time_as_in_bash() {
        let (runs, _) = read(RunSource::Bash, b"#1700000000\n#123\n#1700000009\nls\n#99999999999999999999\npwd\n");
        assert_eq!(lines_of(&runs), ["ls", "pwd"]);
        assert_eq!((runs[0].at, runs[1].at), (at(1_700_000_009), None));
    }

    #[test]
    fn a_long_entry_of_many_lines_is_skipped_alone() {
        let file = format!("#1700000000\n{}#1700000001\nls\r\n", "echo a line\n".repeat(4_000));
        let (runs, counts) = read(RunSource::Bash, file.as_bytes());
        assert_eq!((lines_of(&runs), counts.skipped(SkipReason::TooLong)), (vec!["ls"], 1));
    }

    #[test]
    fn a_file_cut_anywhere_gives_no_wrong_time() {
        let whole = read(RunSource::Bash, TIMED.as_bytes()).0;
        for end in 0..TIMED.len() {
            let runs = read(RunSource::Bash, &TIMED.as_bytes()[..end]).0;
            let Some((last, before)) = runs.split_last() else { continue };
            assert_eq!(before, &whole[..before.len()], "{end}");
            // A file that ends between the lines of an entry looks like a whole one.
            let like = &whole[before.len()];
            let is_begin = like.line == last.line || like.line.starts_with(&format!("{}\n", last.line));
            assert!(is_begin && like.at == last.at, "{end}: {last:?}");
        }
    }
}
