//! Reads the history file of fish, releases 2 to 4.
//!
//! ```text
//! - cmd: for i in 1 2\necho $i\nend
//!   when: 1700000000
//!   paths:
//!     - /etc
//! ```
//!
//! The file looks like YAML and is not: a newline is written as `\n`, a backslash as `\\`, and nothing else is quoted. The paths are
//! arguments that were files, not the folder of the command, and are not read.

use std::io::{self, BufRead};

use super::{
    entry::{RawRun, SkipReason},
    lines::LineReader,
};

/// The state of a reader.
#[derive(Debug, Default)]
pub(super) struct FishFormat {
    /// The entry whose lines are being read.
    entry: Option<Result<RawRun, SkipReason>>,
}

impl FishFormat {
    /// The next entry; `None` at the end of the file.
    pub fn next_run<R: BufRead>(
        &mut self,
        lines: &mut LineReader<R>,
    ) -> io::Result<Option<Result<RawRun, SkipReason>>> {
        while let Some(line) = lines.next_line()? {
            if line.bytes.starts_with(b" ") {
                // The digits of a line that is cut are another time.
                if let Some(Ok(entry)) = &mut self.entry
                    && !line.is_cut
                    && let Some(seconds) = time(line.bytes)
                {
                    entry.seconds = Some(seconds);
                }
                continue;
            }
            if [&b"%"[..], b"---", b"..."].iter().any(|yaml| line.bytes.starts_with(yaml)) && !line.is_cut {
                continue;
            }
            let entry = match line.bytes.strip_prefix(b"- cmd:") {
                Some(_) if line.is_long => Err(SkipReason::TooLong),
                _ if line.is_cut => Err(SkipReason::Cut),
                Some(value) => {
                    let line = unescape(value.strip_prefix(b" ").unwrap_or(value));
                    Ok(RawRun { line, seconds: None, duration: None })
                }
                None => Err(SkipReason::Malformed),
            };
            if let Some(before) = self.entry.replace(entry) {
                return Ok(Some(before));
            }
        }
        Ok(self.entry.take())
    }
}

/// Reads `when: SECONDS`.
fn time(line: &[u8]) -> Option<i64> {
    str::from_utf8(line.trim_ascii().strip_prefix(b"when:")?.trim_ascii()).ok()?.parse().ok()
}

/// Replaces `\n` by a newline and `\\` by a backslash; another backslash stays.
fn unescape(value: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(value.len());
    let mut rest = value.iter();
    while let Some(byte) = rest.next() {
        let meant = match (byte, rest.as_slice().first()) {
            (b'\\', Some(b'n')) => Some(b'\n'),
            (b'\\', Some(b'\\')) => Some(b'\\'),
            _ => None,
        };
        if meant.is_some() {
            rest.next();
        }
        plain.push(meant.unwrap_or(*byte));
    }
    plain
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{
        super::tests::{at, lines_of, read},
        *,
    };
    use crate::past::record::RunSource;

    /// Written by fish 3.6 and in the same way by fish 4.
    const FILE: &str = "- cmd: echo Ü ü “x”\n  when: 1795957079\n- cmd: echo 'a\\n\\\\n'\n  when: 1795957080\n\
        - cmd: for i in 1 2\\necho $i\\nend\n  when: 1795957082\n- cmd: ls /etc /usr\n  when: 1795957084\n  paths:\n    - /etc\n\
        \x20   - /usr\n- cmd: echo \\\\\\\\\n  when: 1795957085\n- cmd: echo ab\n  when: 1795957085\n";

    #[test]
    fn entries_are_read() {
        let (runs, counts) = read(RunSource::Fish, FILE.as_bytes());
        let expected =
            ["echo Ü ü “x”", "echo 'a\n\\n'", "for i in 1 2\necho $i\nend", "ls /etc /usr", "echo \\\\", "echo ab"];
        assert_eq!(lines_of(&runs), expected);
        assert_eq!((runs[0].at, runs[3].at), (at(1_795_957_079), at(1_795_957_084)));
        assert!(runs.iter().all(|run| run.folder.is_none() && run.duration.is_none()));
        assert_eq!(counts.all_skipped(), 0);
    }

    #[test]
    fn damaged_records_are_skipped_alone() {
        let file = b"---\n\0\0\0\n  when: 5\n- cmd: a\\x\\\n    - when: 1\n  when: x\n- cmd:  hidden\n- cmd:\n- cmd:b\nls\n- cmd: \xff\n";
        let (runs, counts) = read(RunSource::Fish, file);
        assert_eq!(lines_of(&runs), ["a\\x\\", "b"]);
        assert!(runs.iter().all(|run| run.at.is_none()));
        for (reason, count) in [
            (SkipReason::Malformed, 2),
            (SkipReason::Hidden, 1),
            (SkipReason::Empty, 1),
            (SkipReason::NotText, 1),
            (SkipReason::Cut, 0),
        ] {
            assert_eq!(counts.skipped(reason), count, "{reason:?}");
        }
    }

    #[test]
    fn a_long_entry_is_skipped_alone() {
        let long = "x".repeat(40_000);
        let file = format!("- cmd: {long}\n  when: 1700000000\n  paths:\n    - {long}\n- cmd: ls\n    - {long}\n");
        let (runs, counts) = read(RunSource::Fish, file.as_bytes());
        assert_eq!((lines_of(&runs), counts.skipped(SkipReason::TooLong)), (vec!["ls"], 1));
        assert_eq!((runs[0].at, counts.all_skipped()), (None, 1));
    }

    #[test]
    fn a_file_cut_anywhere_gives_whole_entries() {
        let whole = read(RunSource::Fish, FILE.as_bytes()).0;
        for end in 0..FILE.len() {
            let (runs, counts) = read(RunSource::Fish, &FILE.as_bytes()[..end]);
            for (run, like) in runs.iter().zip(&whole) {
                assert!(run.line == like.line && (run.at == like.at || run.at.is_none()), "{end}: {run:?}");
            }
            assert!(counts.all_skipped() <= 1 && counts.skipped(SkipReason::Malformed) == 0);
        }
    }

    /// Writes a command as fish does.
    fn escape(command: &str) -> String {
        command.replace('\\', "\\\\").replace('\n', "\\n")
    }

    proptest! {
        #[test]
        fn any_command_is_read_as_it_was_written(command in "[a-zü\\\\][ a-zà-ž\\\\n\\n\\t“€😀:-]{0,60}[a-z\\\\]") {
            prop_assert_eq!(unescape(escape(&command).as_bytes()), command.as_bytes());
            let file = format!("- cmd: {}\n  when: 1700000000\n", escape(&command));
            let (runs, _) = read(RunSource::Fish, file.as_bytes());
            prop_assert_eq!(lines_of(&runs), [command]);
        }
    }
}
