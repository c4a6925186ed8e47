use std::fs;

use super::{
    super::{
        Journal,
        journal::tests::{Home, home, note},
    },
    *,
};

fn small_log() -> Home {
    let home = home();
    let mut journal = Journal::at(home.places.clone());
    for subject in ["rm -r build", "caf\u{e9} \u{202e}", "\"quoted\"\n"] {
        journal.append(&[note(0, subject)]).expect("kept");
    }
    home
}

fn found(home: &Home) -> Vec<Found> {
    verify(&home.places).expect("it can be read").faults
}

#[test]
fn every_flipped_bit_is_found_and_its_line_is_named() {
    let home = small_log();
    assert_eq!(found(&home), []);
    let path = home.places.segment_file(1);
    let bytes = fs::read(&path).expect("bytes");
    let mut line = 1;
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << bit;
            fs::write(&path, &flipped).expect("written");
            let found = found(&home);
            let first = found.first().unwrap_or_else(|| panic!("byte {at}, bit {bit} is not found"));
            assert_eq!((&first.file, first.line), (&path, Some(line)), "byte {at}, bit {bit}: {found:?}");
        }
        line += u64::from(bytes[at] == b'\n');
    }
}

#[test]
fn progress_ends_with_the_last_byte() {
    let home = small_log();
    let size = fs::metadata(home.places.segment_file(1)).expect("a file").len();
    let mut reports = Vec::new();
    verify_with(&home.places, &mut |done, total| reports.push((done, total))).expect("it can be read");
    assert!(reports.is_sorted() && reports.iter().all(|(_, total)| *total == size), "{reports:?}");
    assert_eq!((reports.len(), reports.last()), (3, Some(&(size, size))));
}

#[test]
fn every_flipped_bit_of_head_and_key_is_found() {
    let home = small_log();
    for path in [home.places.head_file(), home.places.key_file()] {
        let bytes = fs::read(&path).expect("bytes");
        for (at, bit) in (0..bytes.len()).flat_map(|at| (0..8).map(move |bit| (at, bit))) {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << bit;
            fs::write(&path, &flipped).expect("written");
            let is_found = verify(&home.places).map_or(true, |verdict| !verdict.faults.is_empty());
            assert!(is_found, "{} byte {at}, bit {bit}", path.display());
        }
        fs::write(&path, &bytes).expect("written");
    }
}

#[test]
fn records_that_are_missing_repeated_moved_or_cut_are_named() {
    let home = small_log();
    let path = home.places.segment_file(1);
    let text = fs::read_to_string(&path).expect("text");
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let [one, two, three] = lines[..] else { panic!("{text}") };
    for (lines, line, expected) in [
        (vec![two, three], Some(1), "record 1 is missing before this one"),
        (vec![one, three], Some(2), "record 2 is missing before this one"),
        (vec![one, two], None, "record 3 is missing at the end"),
        (vec![one], None, "records 2 to 3 are missing at the end"),
        (vec![], None, "records 1 to 3 are missing at the end"),
        (vec![one, three, two], Some(2), "record 2 is missing before this one"),
        (vec![one, two, two, three], Some(3), "found record 2 in the place of record 3"),
        (vec![one, two, three.trim_end()], Some(3), "this record is cut off"),
        (vec![one, two, &three[..20]], Some(3), "this record is cut off"),
        (vec![one, "\n", two, three], Some(2), "this record was changed"),
    ] {
        fs::write(&path, lines.concat()).expect("written");
        let found = found(&home);
        let first = found.first().map(|first| (first.line, first.fault.as_str()));
        assert_eq!(first, Some((line, expected)), "{lines:?}");
    }
    fs::write(&path, &text).expect("written");
    assert_eq!(found(&home), []);
}

#[test]
fn of_nothing_nothing_is_told_and_of_something_without_key_that() {
    let home = home();
    assert_eq!(verify(&home.places).expect("read"), NOTHING);
    assert_eq!(last(&home.places, 5).expect("read"), []);
    let home = small_log();
    fs::remove_file(home.places.key_file()).expect("removed");
    assert_eq!(found(&home)[0].fault, "the key is missing, so nothing can be verified");
}

#[test]
fn the_last_records_are_given_in_their_order() {
    let home = small_log();
    let numbers: Vec<u64> = last(&home.places, 2).expect("read").iter().map(|record| record.n).collect();
    assert_eq!(numbers, [2, 3]);
}
