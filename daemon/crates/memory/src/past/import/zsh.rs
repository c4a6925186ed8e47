//! Reads the history file of zsh.
//!
//! An entry is a line: the command alone, or `: 1700000000:12;command` with its time and duration in seconds (`EXTENDED_HISTORY`). A
//! backslash at the end of a line stands for a newline within the command. A command that ends with a backslash gets a blank behind it, and
//! one without a time that begins with a colon gets a backslash before it. Zsh *metafies* some bytes, of many letters, too: `0x83`
//! followed by the byte with bit 5 flipped.

use std::{
    io::{self, BufRead},
    time::Duration,
};

use super::{
    entry::{RawRun, SkipReason, plausible_duration},
    lines::{JoinedLines, LineReader},
};

/// The byte before a metafied one.
const META: u8 = 0x83;
/// The bit that is flipped in a metafied byte.
const META_BIT: u8 = 0x20;

/// The next entry; `None` at the end of the file.
pub(super) fn next_run<R: BufRead>(lines: &mut LineReader<R>) -> io::Result<Option<Result<RawRun, SkipReason>>> {
    let mut joined = JoinedLines::default();
    // A file that ends behind a backslash ends within an entry.
    let mut is_cut = true;
    while let Some(line) = lines.next_line()? {
        let continues = line.last == Some(b'\\') && !line.is_cut;
        let bytes = line.bytes.strip_suffix(b"\\").filter(|_| continues).unwrap_or(line.bytes);
        joined.add(&line, bytes);
        if !continues {
            is_cut = line.is_cut;
            break;
        }
    }
    Ok(match joined {
        JoinedLines { count: 0, .. } => None,
        JoinedLines { is_long: true, .. } => Some(Err(SkipReason::TooLong)),
        _ if is_cut => Some(Err(SkipReason::Cut)),
        JoinedLines { bytes, .. } => Some(Ok(run_of(&bytes))),
    })
}

/// Reads an entry.
fn run_of(entry: &[u8]) -> RawRun {
    let entry = without_guard(entry);
    let (seconds, duration, command) = match header(entry) {
        Some((seconds, length, command)) => (seconds, length.and_then(known_duration), command),
        None if entry.starts_with(b"\\:") => (None, None, &entry[1..]),
        None => (None, None, entry),
    };
    RawRun { line: unmetafy(command), seconds, duration }
}

/// Zsh writes 0 if it does not know the end yet, as with `INC_APPEND_HISTORY`.
fn known_duration(seconds: u64) -> Option<Duration> {
    plausible_duration(Duration::from_secs(seconds)).filter(|duration| !duration.is_zero())
}

/// Takes away the blank that zsh writes behind a command that ends with a backslash, or with a backslash and blanks.
fn without_guard(entry: &[u8]) -> &[u8] {
    let end = entry.iter().rposition(|byte| *byte != b' ').map_or(0, |last| last + 1);
    let is_guarded = end < entry.len() && entry[..end].ends_with(b"\\");
    if is_guarded { &entry[..entry.len() - 1] } else { entry }
}

/// Splits `: SECONDS:DURATION;COMMAND`. A command without a time may begin with a colon, too, in files of older releases.
fn header(entry: &[u8]) -> Option<(Option<i64>, Option<u64>, &[u8])> {
    let (seconds, rest) = digits(entry.strip_prefix(b":")?.trim_ascii_start())?;
    let (duration, rest) = digits(rest.strip_prefix(b":")?)?;
    Some((seconds.parse().ok(), duration.parse().ok(), rest.strip_prefix(b";")?))
}

/// Splits off the digits at the beginning, at least one.
fn digits(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let count = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = bytes.split_at(count);
    str::from_utf8(digits).ok().filter(|digits| !digits.is_empty()).map(|digits| (digits, rest))
}

/// Restores metafied bytes. In UTF-8 zsh metafies only continuation bytes, `0x83` to `0xa2`, and writes two continuation bytes for each:
/// the result is never valid UTF-8. Valid text was written by another program and stays as it is.
fn unmetafy(bytes: &[u8]) -> Vec<u8> {
    if str::from_utf8(bytes).is_ok() {
        return bytes.to_vec();
    }
    let mut plain = Vec::with_capacity(bytes.len());
    let mut rest = bytes.iter();
    while let Some(byte) = rest.next() {
        match rest.as_slice().first() {
            Some(next) if *byte == META => {
                plain.push(next ^ META_BIT);
                rest.next();
            }
            _ => plain.push(*byte),
        }
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

    /// Written by zsh 5.9 with `EXTENDED_HISTORY`; the first line is `echo Ü ü à ß “x” ă`.
    const EXTENDED: &[u8] = b": 1795957028:0;echo \xc3\x83\xbc \xc3\xbc \xc3\x83\x80 \xc3\x83\xbf \xe2\x80\x83\xbcx\xe2\x80\x83\xbd \
        \xc4\x83\xa3\n: 1795957030:0;echo a \\\\\nb\n: 1795957032:0;for i in 1 2\\\ndo echo $i\\\ndone\n: 1795957033:0;: > f\n\
        : 1795957033:0;echo end\\\\ \n: 1795957034:0;printf \"a\\nb\"\n: 1795957035:0; hidden\n: 1795957035:2;sleep 1.2\n\
        : 1795957038:0;echo 'x\\\n\\\ny'\n";
    /// The same without times.
    const PLAIN: &[u8] = b"echo \xc3\x83\xbc \xc3\xbc \xc3\x83\x80 \xc3\x83\xbf \xe2\x80\x83\xbcx\xe2\x80\x83\xbd \xc4\x83\xa3\n\
        echo a \\\\\nb\nfor i in 1 2\\\ndo echo $i\\\ndone\n\\: > f\necho end\\\\ \nprintf \"a\\nb\"\n hidden\nsleep 1.2\n\
        echo 'x\\\n\\\ny'\n";
    const COMMANDS: [&str; 8] = [
        "echo Ü ü à ß “x” ă",
        "echo a \\\nb",
        "for i in 1 2\ndo echo $i\ndone",
        ": > f",
        "echo end\\\\",
        "printf \"a\\nb\"",
        "sleep 1.2",
        "echo 'x\n\ny'",
    ];

    #[test]
    fn entries_with_times_are_read() {
        let (runs, counts) = read(RunSource::Zsh, EXTENDED);
        assert_eq!(lines_of(&runs), COMMANDS);
        assert_eq!((runs[0].at, runs[0].duration), (at(1_795_957_028), None));
        assert_eq!((runs[6].at, runs[6].duration), (at(1_795_957_035), Some(Duration::from_secs(2))));
        assert_eq!((counts.skipped(SkipReason::Hidden), counts.all_skipped()), (1, 1));
    }

    #[test]
    fn entries_without_times_are_read() {
        let (runs, counts) = read(RunSource::Zsh, PLAIN);
        assert_eq!(lines_of(&runs), COMMANDS);
        assert!(runs.iter().all(|run| run.at.is_none() && run.duration.is_none()));
        assert_eq!(counts.all_skipped(), 1);
    }

    #[test]
    fn a_colon_without_a_time_begins_a_command() {
        let file = b": > f\n: 12;ls\n: x:0;ls\n:17:0;pwd\n: 1700000000:99999999999999999999;id\n";
        let (runs, _) = read(RunSource::Zsh, file);
        assert_eq!(lines_of(&runs), [": > f", ": 12;ls", ": x:0;ls", "pwd", "id"]);
        assert_eq!((runs[3].at, runs[4].at, runs[4].duration), (None, at(1_700_000_000), None));
    }

    #[test]
    fn text_of_another_program_is_read_as_it_is() {
        let (runs, counts) = read(RunSource::Zsh, "echo ă à\n".as_bytes());
        assert_eq!(lines_of(&runs), ["echo ă à"]);
        assert_eq!(counts.all_skipped(), 0);
        let (runs, counts) = read(RunSource::Zsh, b"echo \xff\xfe\necho \x83\n");
        assert_eq!((runs.len(), counts.skipped(SkipReason::NotText)), (0, 2));
    }

    #[test]
    fn a_long_entry_is_skipped_with_all_its_lines() {
        let file = format!("{}\\\nrest\nls\n{}end\npwd\n", "x".repeat(20_000), "line\\\n".repeat(5_000));
        let (runs, counts) = read(RunSource::Zsh, file.as_bytes());
        assert_eq!((lines_of(&runs), counts.skipped(SkipReason::TooLong)), (vec!["ls", "pwd"], 2));
    }

    #[test]
    fn a_file_cut_anywhere_gives_whole_entries() {
        for file in [EXTENDED, PLAIN] {
            let whole = read(RunSource::Zsh, file).0;
            for end in 0..file.len() {
                let (runs, counts) = read(RunSource::Zsh, &file[..end]);
                assert_eq!(runs, &whole[..runs.len()], "{end}");
                assert!(counts.skipped(SkipReason::Cut) <= 1);
            }
        }
    }

    /// Writes an entry as zsh 5.9 does.
    fn write(command: &str) -> Vec<u8> {
        let mut entry = Vec::new();
        for byte in command.bytes() {
            match byte {
                b'\n' => entry.extend(b"\\\n"),
                0 | 0x83..=0xa2 => entry.extend([META, byte ^ META_BIT]),
                _ => entry.push(byte),
            }
        }
        if command.trim_end_matches(' ').ends_with('\\') {
            entry.push(b' ');
        }
        entry.push(b'\n');
        entry
    }

    proptest! {
        #[test]
        fn any_command_is_read_as_it_was_written(command in "[a-zà-žÀ-Ỹ“€😀\\\\][ a-zà-ž0-9\\\\\n\t“€]{0,60}[a-z\\\\ ]?") {
            let entry = [b": 1700000000:3;", &write(&command)[..]].concat();
            let (runs, _) = read(RunSource::Zsh, &entry);
            prop_assert_eq!(lines_of(&runs), [command.trim_end_matches('\n')]);
        }
    }
}
