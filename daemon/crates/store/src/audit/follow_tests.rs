use std::{fs, io::Write as _};

use super::{
    super::{
        Journal,
        journal::tests::{Home, home, note},
    },
    *,
};

fn append(home: &Home, segment_bytes: u64, subjects: &[&str]) {
    let mut journal = Journal::at(home.places.clone()).bounded(segment_bytes, 9);
    for subject in subjects {
        journal.append(&[note(0, subject)]).expect("kept");
    }
}

/// Numbers of the records that came; `None` for each invalid line.
fn numbers(follower: &mut Follower) -> Vec<Option<u64>> {
    let number = |news: News| match news {
        News::Record(record) => Some(record.n),
        News::Unsound(_) => None,
    };
    follower.news().expect("read").into_iter().map(number).collect()
}

#[test]
fn new_records_are_told_once_also_from_a_new_file_and_from_the_very_first() {
    let home = home();
    let mut follower = Follower::at_the_end(home.places.clone()).expect("nothing is there");
    assert_eq!(numbers(&mut follower), []);
    append(&home, 1 << 20, &["one", "two"]);
    assert_eq!(numbers(&mut follower), [Some(1), Some(2)]);
    assert_eq!(numbers(&mut follower), []);
    append(&home, 1 << 20, &["three"]);
    append(&home, 1, &["four"]);
    assert_eq!(home.places.segments().expect("listed").len(), 2);
    assert_eq!(numbers(&mut follower), [Some(3), Some(4)]);
    assert_eq!(numbers(&mut Follower::at_the_end(home.places.clone()).expect("read")), [], "what was there is old");
}

#[test]
fn a_half_line_is_waited_for_and_a_changed_one_is_named() {
    let home = home();
    append(&home, 1 << 20, &["one"]);
    let mut follower = Follower::at_the_end(home.places.clone()).expect("read");
    append(&home, 1 << 20, &["two"]);
    let path = home.places.segment_file(1);
    let whole = fs::read(&path).expect("bytes");
    fs::write(&path, &whole[..whole.len() - 3]).expect("cut");
    assert_eq!(numbers(&mut follower), []);
    fs::write(&path, &whole).expect("whole again");
    File::options().append(true).open(&path).and_then(|mut file| file.write_all(b"nonsense\n")).expect("written");
    assert_eq!(numbers(&mut follower), [Some(2), None]);
    fs::write(&path, &whole[..10]).expect("cut");
    assert_eq!(numbers(&mut follower), [None], "what is gone is told");
    assert_eq!(numbers(&mut follower), []);
}
