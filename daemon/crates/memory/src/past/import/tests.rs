//! Tests of all formats.

use std::{
    io::{BufReader, Read},
    time::Duration,
};

use proptest::prelude::*;

use super::{entry::EARLIEST_SECOND, *};
use crate::past::record::MAX_LINE_BYTES;

/// The formats.
const FORMATS: [RunSource; 3] = [RunSource::Bash, RunSource::Zsh, RunSource::Fish];
/// What the formats give a meaning.
const PIECES: [&[u8]; 20] = [
    b"\n",
    b"\n",
    b"\\",
    b"\\\n",
    b"#",
    b"#17000",
    b"1700000000\n",
    b": 1700000000:1;",
    b":",
    b";",
    b"- cmd: ",
    b"  when: 1700000000\n",
    b"  paths:\n",
    b"    - ",
    b"\x83",
    b"\xa0",
    b"\0",
    b"\xff",
    "ü".as_bytes(),
    b" ls",
];

/// A second of 2026 or later, which all samples precede.
fn now() -> Timestamp {
    Timestamp::from_second(1_796_000_000).expect("a time")
}

/// The time of a sample.
pub(super) fn at(second: i64) -> Option<Timestamp> {
    Some(Timestamp::from_second(second).expect("a time"))
}

/// The lines of runs.
pub(super) fn lines_of(runs: &[NewRun]) -> Vec<&str> {
    runs.iter().map(|run| run.line.as_str()).collect()
}

/// Reads a file in chunks that no line fits in.
pub(super) fn read(source: RunSource, file: &[u8]) -> (Vec<NewRun>, ImportCounts) {
    let input = BufReader::with_capacity(7, file);
    let mut reader = HistoryReader::of_source(source, input, now()).expect("a format");
    let runs: Vec<_> = reader.by_ref().collect::<Result<_, _>>().expect("it can be read");
    assert!(reader.next().is_none(), "the end stays");
    assert_eq!(reader.counts().read, runs.len() as u64);
    (runs, reader.counts())
}

/// Checks what holds for every file.
fn check_any(file: &[u8]) -> Result<(), TestCaseError> {
    let lines = file.split(|byte| *byte == b'\n').count() as u64;
    for source in FORMATS {
        let (runs, counts) = read(source, file);
        prop_assert!(counts.read + counts.all_skipped() <= lines);
        prop_assert!(runs.iter().map(|run| run.line.len()).sum::<usize>() <= file.len());
        for run in runs {
            prop_assert!(run.line.len() <= MAX_LINE_BYTES && run.source == source && !run.line.trim().is_empty());
            prop_assert!(!run.line.starts_with([' ', '\t']) && !run.line.ends_with('\n'));
            prop_assert!(!run.line.chars().any(|c| c.is_control() && c != '\n' && c != '\t'));
            prop_assert!(run.at.is_none_or(|at| plausible_time(at, now()) == Some(at)));
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn any_bytes_are_read(file in prop::collection::vec(any::<u8>(), 0..600)) {
        check_any(&file)?;
    }

    #[test]
    fn any_order_of_the_pieces_is_read(pieces in prop::collection::vec(0..PIECES.len(), 0..120)) {
        check_any(&pieces.iter().map(|piece| PIECES[*piece]).collect::<Vec<_>>().concat())?;
    }

    #[test]
    fn a_broken_sample_is_read(place in 0_usize..60, byte: u8) {
        let mut file = b"#1700000000\n: 1700000000:1;a\\\nb\n- cmd: a\\nb\n  when: 1700000000\n".to_vec();
        file[place] = byte;
        check_any(&file)?;
    }
}

#[test]
fn a_file_without_newlines_is_one_long_entry() {
    for source in FORMATS {
        let begin = if source == RunSource::Fish { &b"- cmd: "[..] } else { b"" };
        let file = begin.chain(io::repeat(b'x').take(16 << 20));
        let mut reader = HistoryReader::of_source(source, BufReader::new(file), now()).expect("a format");
        assert!(reader.next().is_none());
        assert_eq!((reader.counts().skipped(SkipReason::TooLong), reader.counts().all_skipped()), (1, 1));
    }
}

#[test]
fn the_longest_line_is_read() {
    for (length, count) in [(MAX_LINE_BYTES, 1), (MAX_LINE_BYTES + 1, 0)] {
        // Metafied in zsh, escaped in fish.
        let plain = "\\".repeat(length);
        let files =
            [plain.clone() + "\n", ": 1700000000:1;".to_owned() + &plain + " \n", format!("- cmd: {plain}{plain}\n")];
        for (source, file) in FORMATS.into_iter().zip(files) {
            let (runs, counts) = read(source, file.as_bytes());
            assert_eq!((runs.len(), counts.skipped(SkipReason::TooLong)), (count, 1 - count as u64), "{source:?}");
        }
    }
}

#[test]
fn an_error_of_the_file_ends_it() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("a broken disk"))
        }
    }
    let mut reader = HistoryReader::bash(BufReader::new(b"ls\npwd".chain(Broken)), now());
    assert!(reader.next().is_some_and(|run| run.is_ok_and(|run| run.line == "ls")));
    assert!(reader.next().is_some_and(|run| run.is_err()));
    assert!(reader.next().is_none());
}

#[test]
fn lines_are_clean_or_skipped() {
    for (bytes, expected) in [
        (&b"ls\n\n"[..], Ok("ls")),
        ("a\n\tü\u{a0}".as_bytes(), Ok("a\n\tü\u{a0}")),
        (b"", Err(SkipReason::Empty)),
        (b" \t\n ", Err(SkipReason::Empty)),
        (b"\tls", Err(SkipReason::Hidden)),
        (b"a\0b", Err(SkipReason::Control)),
        (b"a\rb", Err(SkipReason::Control)),
        ("a\u{85}b\u{9b}".as_bytes(), Err(SkipReason::Control)),
        (b"\xc3(", Err(SkipReason::NotText)),
    ] {
        assert_eq!(clean_line(bytes), expected.map(str::to_owned), "{bytes:?}");
    }
}

#[test]
fn times_of_another_age_are_unknown() {
    let day = 24 * 3_600;
    let now_second = now().as_second();
    for (second, is_plausible) in [
        (0, false),
        (EARLIEST_SECOND - 1, false),
        (EARLIEST_SECOND, true),
        (now_second + day, true),
        (now_second + day + 1, false),
    ] {
        let at = Timestamp::from_second(second).expect("a time");
        assert_eq!(plausible_time(at, now()), is_plausible.then_some(at), "{second}");
    }
    assert_eq!(plausible_time(Timestamp::MAX, Timestamp::MAX), Some(Timestamp::MAX));
    assert_eq!(plausible_duration(Duration::MAX), None);
}

#[test]
fn counts_name_their_reasons() {
    let mut counts = ImportCounts::default();
    for (reason, _) in SkipReason::PHRASES {
        counts.skip(reason);
        counts.skip(SkipReason::ByAgent);
    }
    assert_eq!((counts.skipped(SkipReason::Cut), counts.skipped(SkipReason::ByAgent)), (1, 9));
    assert_eq!((counts.all_skipped(), counts.skips().count()), (16, 8));
    assert_eq!(ImportCounts::default().skips().count(), 0);
}
