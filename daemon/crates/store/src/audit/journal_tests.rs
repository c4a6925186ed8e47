use std::{
    io::Write as _,
    os::unix::fs::{PermissionsExt, symlink},
};

use super::{
    super::{
        record::Answer,
        verify::{self, verify},
    },
    *,
};
use crate::pace::Killed;

pub(crate) struct Home {
    _folder: tempfile::TempDir,
    pub places: Places,
}

pub(crate) fn home() -> Home {
    let folder = tempfile::tempdir().expect("a folder");
    let places = Places { folder: folder.path().join("state/audit"), apart: folder.path().join("config/audit") };
    Home { _folder: folder, places }
}

pub(crate) fn note(day: i64, subject: &str) -> Note {
    let event = Event::Asked {
        subject: subject.into(),
        is_dangerous: false,
        reasons: vec!["writes".into()],
        answer: Answer::Once,
        note: String::new(),
    };
    let at = Timestamp::from_second(1_772_000_000 + day * DAY).expect("a time");
    Note { at, session: "shell:1".into(), turn: "t".into(), keep_days: 90, event }
}

fn faults(home: &Home) -> Vec<String> {
    let verdict = verify(&home.places).expect("it can be read");
    let name = |file: &std::path::Path| file.file_name().expect("a name").to_string_lossy().into_owned();
    let told = |found: &verify::Found| {
        let line = found.line.map(|line| format!(":{line}")).unwrap_or_default();
        format!("{}{line}: {}", name(&found.file), found.fault)
    };
    verdict.faults.iter().map(told).collect()
}

fn append(home: &Home, subjects: &[&str]) {
    let notes: Vec<Note> = subjects.iter().map(|subject| note(0, subject)).collect();
    Journal::at(home.places.clone()).append(&notes).expect("they are kept");
}

fn numbers(home: &Home) -> Vec<u64> {
    verify::last(&home.places, 1_000).expect("it can be read").iter().map(|record| record.n).collect()
}

#[test]
fn records_are_for_their_owner_only_and_go_on_over_the_ends_of_writers() {
    let home = home();
    append(&home, &["one", "two"]);
    append(&home, &["three"]);
    assert_eq!(numbers(&home), [1, 2, 3]);
    assert_eq!(faults(&home), [""; 0]);
    for file in [home.places.segment_file(1), home.places.key_file(), home.places.head_file()] {
        assert_eq!(fs::metadata(&file).expect("it is there").permissions().mode() & 0o777, 0o600, "{file:?}");
    }
    assert_eq!(fs::metadata(&home.places.folder).expect("it is there").permissions().mode() & 0o777, 0o700);
}

#[test]
fn many_writers_make_one_chain() {
    let home = home();
    append(&home, &["first"]);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                // Each keeps its files open.
                let mut journal = Journal::at(home.places.clone());
                (0..10).for_each(|_| journal.append(&[note(0, "one"), note(0, "two")]).expect("they are kept"));
            });
        }
    });
    assert_eq!(numbers(&home), (1..=81).collect::<Vec<u64>>());
    assert_eq!(faults(&home), [""; 0]);
}

#[test]
fn links_are_not_followed() {
    let home = home();
    append(&home, &["one"]);
    let segment = home.places.segment_file(1);
    let aside = home.places.folder.join("aside");
    fs::rename(&segment, &aside).expect("moved");
    symlink(&aside, &segment).expect("linked");
    let error = Journal::at(home.places.clone()).append(&[note(0, "two")]).expect_err("a link");
    assert!(error.to_string().contains("symbolic link"), "{error}");
    assert_eq!(fs::read_to_string(&aside).expect("text").lines().count(), 1);
}

#[test]
fn a_writer_that_died_between_record_and_head_is_no_fault() {
    let home = home();
    append(&home, &["one"]);
    let head = fs::read(home.places.head_file()).expect("a head");
    append(&home, &["two"]);
    fs::write(home.places.head_file(), head).expect("written");
    assert_eq!(faults(&home), [""; 0]);
    append(&home, &["three"]);
    assert_eq!((numbers(&home), faults(&home)), (vec![1, 2, 3], vec![]));
    // A writer that died in the middle of a record.
    let mut segment = fs::OpenOptions::new().append(true).open(home.places.segment_file(1)).expect("it is there");
    segment.write_all(b"{\"n\":4,\"prev\":\"00").expect("written");
    assert_eq!(faults(&home), ["00000001.jsonl:4: this record is cut off"]);
    append(&home, &["four"]);
    assert_eq!((numbers(&home), faults(&home)), (vec![1, 2, 3, 4], vec![]));
}

#[test]
fn what_was_wrong_before_a_record_stays_told_after_it() {
    type Harm = fn(&Places);
    let cut: Harm = |places| {
        let text = fs::read_to_string(places.segment_file(1)).expect("text");
        let first = text.lines().next().expect("a line");
        fs::write(places.segment_file(1), format!("{first}\n")).expect("written");
    };
    let remove: Harm = |places| fs::remove_file(places.segment_file(1)).expect("removed");
    let no_head: Harm = |places| fs::remove_file(places.head_file()).expect("removed");
    let bad_head: Harm = |places| fs::write(places.head_file(), "{}").expect("written");
    let no_key: Harm = |places| fs::remove_file(places.key_file()).expect("removed");
    let all: Harm = |places| {
        fs::remove_file(places.segment_file(1)).expect("removed");
        fs::remove_file(places.head_file()).expect("removed");
    };
    let foreign: Harm = |places| {
        let mut segment = fs::OpenOptions::new().append(true).open(places.segment_file(1)).expect("it is there");
        segment.write_all(b"{\"n\":4}\n").expect("written");
    };
    for (harm, expected) in [
        (cut, "00000002.jsonl:1: records 2 to 3 are missing before this one"),
        (remove, "00000002.jsonl:1: records 1 to 3 are missing before this one"),
        (no_head, "00000002.jsonl:1: when this was written, the head was missing"),
        (bad_head, "00000002.jsonl:1: when this was written, the head was changed"),
        (no_key, "00000001.jsonl:1: this record was changed"),
        (
            all,
            "00000001.jsonl:1: when this was written, there was a key but no record: all records were removed, or the first was not finished",
        ),
        (foreign, "00000001.jsonl:4: this record was changed"),
    ] {
        for keeps_files_open in [false, true] {
            let home = home();
            let mut open = Journal::at(home.places.clone());
            let mut append = |subjects: &[&str]| {
                let notes: Vec<Note> = subjects.iter().map(|subject| note(0, subject)).collect();
                let mut anew = Journal::at(home.places.clone());
                let journal = if keeps_files_open { &mut open } else { &mut anew };
                journal.append(&notes).expect("they are kept");
            };
            append(&["one", "two", "three"]);
            harm(&home.places);
            assert!(!faults(&home).is_empty(), "{expected}");
            append(&["four"]);
            append(&["five"]);
            assert_eq!(faults(&home).first().map(String::as_str), Some(expected), "{:?}", faults(&home));
        }
    }
}

#[test]
fn files_are_bounded_and_the_oldest_go_without_a_trace_of_damage() {
    let home = home();
    let mut journal = Journal::at(home.places.clone()).bounded(1_000, 3);
    for number in 0..40 {
        journal.append(&[note(0, &format!("number {number}"))]).expect("kept");
    }
    assert_eq!(home.places.segments().expect("listed").len(), 3);
    assert_eq!(faults(&home), [""; 0]);
    let kept = numbers(&home);
    assert_eq!((kept.last(), kept.len() < 15), (Some(&40), true), "{kept:?}");
    // A change of the oldest kept record must be noticed.
    let first = home.places.segments().expect("listed")[0];
    fs::remove_file(home.places.segment_file(first)).expect("removed");
    assert!(faults(&home)[0].contains("are missing before this one"), "{:?}", faults(&home));
}

#[test]
fn old_records_go_a_week_after_their_time_at_most() {
    let home = home();
    let mut journal = Journal::at(home.places.clone());
    for day in [0, 6, 8, 16] {
        journal.append(&[Note { keep_days: 10, ..note(day, "one") }]).expect("kept");
        let file = home.places.segment_file(*home.places.segments().expect("listed").last().expect("one"));
        let written = SystemTime::from(note(day, "").at);
        File::options().append(true).open(file).and_then(|file| file.set_modified(written)).expect("aged");
    }
    journal.append(&[Note { keep_days: 10, ..note(17, "one") }]).expect("kept");
    assert_eq!((numbers(&home), faults(&home)), (vec![3, 4, 5], vec![]));
}

#[test]
fn what_cannot_be_written_is_an_error_and_harms_nothing() {
    let home = home();
    append(&home, &["one"]);
    let (segment, aside) = (home.places.segment_file(1), home.places.folder.join("aside"));
    fs::rename(&segment, &aside).expect("moved");
    fs::create_dir(&segment).expect("made");
    assert!(Journal::at(home.places.clone()).append(&[note(0, "two")]).is_err());
    fs::remove_dir(&segment).expect("removed");
    fs::rename(&aside, &segment).expect("moved");
    append(&home, &["two"]);
    assert_eq!((numbers(&home), faults(&home)), (vec![1, 2], vec![]));
}

/// Appends, ended at that step. Returns whether it reached the step.
fn is_killed(journal: Journal, steps: u32, subjects: &[&str]) -> bool {
    let notes: Vec<Note> = subjects.iter().map(|subject| note(0, subject)).collect();
    let mut journal = journal.paced(Pace::killed_at(steps));
    let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| journal.append(&notes).expect("kept")));
    match ended {
        Ok(()) => false,
        Err(panic) if panic.is::<Killed>() => true,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

/// The faults after a kill, except an unfinished record: the next writer removes it.
fn alarms(home: &Home) -> Vec<String> {
    faults(home).into_iter().filter(|fault| !fault.ends_with("this record is cut off")).collect()
}

#[test]
fn a_writer_killed_at_any_step_raises_no_alarm() {
    // There may be no record, a file with room, a full file, or the maximum of files.
    for before in [0, 1, 4, 20] {
        let journal = |home: &Home| Journal::at(home.places.clone()).bounded(1_000, 3);
        let written = |home: &Home| {
            for number in 0..before {
                journal(home).append(&[note(0, &format!("number {number}"))]).expect("kept");
            }
        };
        let mut kills = 0;
        // Twice in a row, at each pair of steps.
        for first in 0.. {
            let home = home();
            written(&home);
            if !is_killed(journal(&home), first, &["one", "two"]) {
                break;
            }
            assert_eq!(alarms(&home), [""; 0], "{before} {first}");
            for second in 0.. {
                let home = self::home();
                written(&home);
                assert!(is_killed(journal(&home), first, &["one", "two"]));
                let ended = !is_killed(journal(&home), second, &["three"]);
                assert_eq!(alarms(&home), [""; 0], "{before} {first} {second}");
                journal(&home).append(&[note(0, "four")]).expect("kept");
                assert_eq!(faults(&home), [""; 0], "{before} {first} {second}");
                let kept = numbers(&home);
                assert!(
                    kept.last() >= Some(&(before + 1)) && kept.is_sorted_by(|one, two| one + 1 == *two),
                    "{kept:?}"
                );
                if ended {
                    break;
                }
                kills += 1;
            }
        }
        assert!(kills > 30, "{kills}");
    }
}

#[test]
fn a_writer_killed_with_its_files_open_raises_no_alarm() {
    for steps in 0.. {
        let home = home();
        let mut journal = Journal::at(home.places.clone());
        journal.append(&[note(0, "one")]).expect("kept");
        let is_killed = is_killed(journal, steps, &["two", "three"]);
        assert_eq!(alarms(&home), [""; 0], "{steps}");
        append(&home, &["four"]);
        assert_eq!(faults(&home), [""; 0], "{steps}");
        if !is_killed {
            assert_eq!((numbers(&home), steps > 3), (vec![1, 2, 3, 4], true), "{steps}");
            break;
        }
    }
}

#[test]
fn another_writer_is_noticed_between_two_batches() {
    let home = home();
    let mut journals = [Journal::at(home.places.clone()), Journal::at(home.places.clone())];
    for round in 0..6 {
        journals[round % 2].append(&[note(0, "one")]).expect("kept");
        journals[round / 3].append(&[note(0, "two")]).expect("kept");
    }
    assert_eq!((numbers(&home), faults(&home)), ((1..=12).collect(), vec![]));
}

#[test]
fn a_key_without_head_and_records_is_an_alarm() {
    // The state after everything was removed; killed writers of earlier versions could leave it.
    for (has_head, has_segment) in [(false, false), (true, false), (true, true)] {
        let home = home();
        append(&home, &["one"]);
        fs::remove_file(home.places.segment_file(1)).expect("removed");
        fs::remove_file(home.places.head_file()).expect("removed");
        for file in has_head
            .then(|| home.places.head_file())
            .into_iter()
            .chain(has_segment.then(|| home.places.segment_file(1)))
        {
            fs::write(file, "").expect("written");
        }
        assert!(!faults(&home).is_empty());
        append(&home, &["two"]);
        assert!(faults(&home)[0].ends_with("or the first was not finished"), "{:?}", faults(&home));
    }
}

#[test]
fn records_that_went_with_their_key_are_missed_as_long_as_the_head_counts_them() {
    let home = home();
    append(&home, &["one"]);
    fs::remove_file(home.places.segment_file(1)).expect("removed");
    fs::remove_file(home.places.key_file()).expect("removed");
    assert_eq!(faults(&home), ["key: the key is missing, so nothing can be verified"]);
    append(&home, &["two"]);
    assert_eq!(faults(&home), ["00000001.jsonl:1: when this was written, the key was missing"]);
}
