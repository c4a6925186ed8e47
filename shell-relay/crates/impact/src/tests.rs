use std::{
    fs,
    os::unix::fs::symlink,
    path::Path,
    time::{Duration, Instant},
};

use proptest::prelude::*;

use super::{
    plan::{Known, plan},
    walk::{MAX_NAMES, look},
    *,
};

struct Place {
    _dir: tempfile::TempDir,
    home: PathBuf,
    cwd: PathBuf,
}

/// A home with a project of a few files in it.
fn place() -> Place {
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path().canonicalize().unwrap().join("ann");
    let cwd = home.join("src");
    fs::create_dir_all(cwd.join("build/deep")).unwrap();
    for (file, bytes) in [
        ("a.log", 10),
        ("b.log", 20),
        (".hidden.log", 5),
        ("notes.txt", 7),
        ("build/x.o", 100),
        ("build/deep/y.o", 1000),
    ] {
        fs::write(cwd.join(file), "x".repeat(bytes)).unwrap();
    }
    Place { _dir: dir, home, cwd }
}

impl Place {
    fn notes(&self, line: &str) -> Vec<Note> {
        let plan = plan(line, &Known::of(self.home.clone(), self.cwd.clone()));
        look(&plan, Instant::now() + Duration::from_secs(20)).notes
    }

    /// Files, folders, bytes of the one removal.
    fn removed(&self, line: &str) -> (usize, usize, u64) {
        match self.notes(line).as_slice() {
            [Note::Removes(tally)] if !tally.is_partial => (tally.files, tally.folders, tally.bytes),
            other => panic!("{line}: {other:?}"),
        }
    }

    fn unknown(&self, line: &str) -> String {
        match self.notes(line).as_slice() {
            [Note::Unknown(what)] => what.clone(),
            other => panic!("{line}: {other:?}"),
        }
    }
}

#[test]
fn a_removal_is_counted_with_what_is_below() {
    let place = place();
    for (line, expected) in [
        ("rm a.log", (1, 0, 10)),
        ("rm *.log", (2, 0, 30)),
        ("rm -f -- '*.log'", (0, 0, 0)),
        ("rm ./?.log notes.txt", (3, 0, 37)),
        ("rm -rf build", (2, 2, 1100)),
        ("rm -rf \"$PWD/build\"", (2, 2, 1100)),
        ("rm -r ~/src/b*", (3, 2, 1120)),
        ("sudo rm -rf $HOME/src/build", (2, 2, 1100)),
        ("rmdir build", (0, 1, 0)),
        ("rm -rf nothing-here", (0, 0, 0)),
        ("cd build && rm -rf *", (1, 1, 1100)),
        ("cd build; rm -rf ../build/deep", (1, 1, 1000)),
        ("rm .*.log", (1, 0, 5)),
    ] {
        let expected = if line.starts_with("cd build && rm") { (2, 1, 1100) } else { expected };
        assert_eq!(place.removed(line), expected, "{line}");
    }
}

#[test]
fn a_link_is_removed_and_not_what_it_leads_to() {
    let place = place();
    symlink(place.cwd.join("build"), place.cwd.join("link")).unwrap();
    assert_eq!(place.removed("rm -rf link").1, 0);
}

#[test]
fn find_with_delete_is_an_upper_bound() {
    let place = place();
    let notes = place.notes("find build -name '*.o' -delete");
    let [Note::Removes(tally)] = notes.as_slice() else { panic!("{notes:?}") };
    assert!(tally.is_upper_bound && tally.files == 2, "{tally:?}");
    assert!(place.notes("find . -name x -print").is_empty());
}

#[test]
fn what_is_replaced_is_named_with_its_size() {
    let place = place();
    let file = |name: &str, bytes| (place.cwd.join(name), bytes);
    for (line, expected) in [
        ("echo x > notes.txt", vec![file("notes.txt", 7)]),
        ("echo x >| notes.txt 2>a.log", vec![file("notes.txt", 7), file("a.log", 10)]),
        ("sort b.log | tee a.log", vec![file("a.log", 10)]),
        ("mv a.log notes.txt", vec![file("notes.txt", 7)]),
        ("cp notes.txt build/x.o", vec![file("build/x.o", 100)]),
        ("truncate -s 0 b.log", vec![file("b.log", 20)]),
    ] {
        assert_eq!(place.notes(line), [Note::Replaces(expected)], "{line}");
    }
    for line in [
        "echo x >> notes.txt",
        "echo x > new.txt",
        "ls 2>/dev/null >&2",
        "mv a.log build",
        "cp -n a.log notes.txt",
        "tee -a a.log",
    ] {
        assert_eq!(place.notes(line), [], "{line}");
    }
}

#[test]
fn a_pattern_is_told_with_what_it_stands_for() {
    let place = place();
    let notes = place.notes("gzip *.log");
    let examples = vec![place.cwd.join("a.log"), place.cwd.join("b.log")];
    assert_eq!(notes, [Note::Matches { pattern: "*.log".into(), count: 2, examples }]);
    assert_eq!(place.notes("gzip *.gz"), [Note::Matches { pattern: "*.gz".into(), count: 0, examples: vec![] }]);
    assert_eq!(place.notes("gzip '*.log' \"a?\" \\*"), []);
}

#[test]
fn grave_places_are_called_by_their_names() {
    let place = place();
    let grave = |line: &str| {
        let notes = place.notes(line);
        notes.into_iter().find_map(|note| if let Note::Grave(grave) = note { Some(grave) } else { None })
    };
    assert_eq!(grave("rm -rf ~"), Some(Grave::Home));
    assert_eq!(grave("rm -rf ~/*"), Some(Grave::Home));
    assert_eq!(grave("rm -rf ../.."), Some(Grave::Home));
    assert_eq!(grave("rm -rf \"$PWD\""), Some(Grave::Here(place.cwd.clone())));
    assert_eq!(grave("cd build && rm -rf ../../*"), Some(Grave::Home));
    assert_eq!(grave("rm -rf build"), None);
    assert_eq!(grave("rm -f ~"), None, "it removes no folder");
    // Not walked: the time is up before.
    let plan = plan("rm -rf /*", &Known::of(place.home.clone(), place.cwd.clone()));
    assert_eq!(look(&plan, Instant::now()).notes[0], Note::Grave(Grave::Root));
}

#[test]
fn what_is_not_sure_is_said_to_be_unknown() {
    let place = place();
    for (line, part) in [
        ("rm -rf $BUILD", "$BUILD"),
        ("rm -rf ${X:-y}", "expansion"),
        ("rm $(cat list)", "expansion"),
        ("rm `cat list`", "substitution"),
        ("rm [ab].log", "brackets"),
        ("rm {a,b}.log", "braces"),
        ("rm **/x", "`**`"),
        ("ls | xargs rm", "`xargs`"),
        ("bash -c 'rm -rf x'", "`bash`"),
        ("for f in *; do rm $f; done", "other parts"),
        ("cd nowhere && rm -rf *", "the folder"),
        ("cd - && rm x", "the folder"),
        ("rm ~root/x", "another user"),
        ("rm 'open", "quote"),
    ] {
        let all = place
            .notes(line)
            .into_iter()
            .filter_map(|note| if let Note::Unknown(what) = note { Some(what) } else { None });
        let all = all.collect::<Vec<_>>().join("; ");
        assert!(all.contains(part), "{line}: {all}");
        assert!(!place.notes(line).iter().any(|note| matches!(note, Note::Removes(_) | Note::Replaces(_))), "{line}");
    }
    assert_eq!(place.unknown("x=1 rm a.log"), "what depends on other parts of the command");
}

#[test]
fn nothing_is_said_where_nothing_is_touched() {
    let place = place();
    for line in ["ls -la", "cargo test", "echo \"$(date)\"", "git status", "cd build", "", "grep -r x . | head"] {
        assert_eq!(place.notes(line), [], "{line}");
    }
}

#[test]
fn too_many_names_are_more_than_are_counted() {
    let place = place();
    let many = place.cwd.join("many");
    fs::create_dir(&many).unwrap();
    for n in 0..=MAX_NAMES {
        fs::write(many.join(n.to_string()), "").unwrap();
    }
    let notes = place.notes("rm -r many");
    let [Note::Removes(tally)] = notes.as_slice() else { panic!("{notes:?}") };
    assert!(tally.is_partial && tally.files > MAX_NAMES / 2 && tally.files <= MAX_NAMES, "{tally:?}");
    assert!(place.unknown("gzip many/*").contains("more than"));
}

#[test]
fn without_time_the_count_is_partial() {
    let place = place();
    let plan = plan("rm -rf build", &Known::of(place.home.clone(), place.cwd.clone()));
    let notes = look(&plan, Instant::now()).notes;
    assert!(matches!(notes.as_slice(), [Note::Removes(tally)] if tally.is_partial), "{notes:?}");
}

proptest! {
    #[test]
    fn any_line_is_planned_without_a_panic(line in "\\PC{0,60}") {
        let _ = plan(&line, &Known::of("/home/ann".into(), "/home/ann".into()));
    }

    #[test]
    fn lines_of_shell_letters_are_planned_without_a_panic(line in "[a-z *?~$\"'{}();|&<>/\\\\.-]{0,40}") {
        let _ = plan(&format!("rm {line}"), &Known::of("/home/ann".into(), Path::new("/home/ann").into()));
    }
}
