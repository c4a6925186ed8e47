use std::{
    fs,
    os::unix::fs::{MetadataExt, PermissionsExt, symlink},
    time::Instant,
};

use super::*;

struct Bench {
    _folder: tempfile::TempDir,
    root: PathBuf,
    backups: Backups,
}

fn bench() -> Bench {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().canonicalize().expect("a path");
    fs::create_dir(root.join("work")).expect("made");
    let backups = Backups::at(&root.join("state"));
    Bench { _folder: folder, root, backups }
}

impl Bench {
    fn path(&self, name: &str) -> PathBuf {
        self.root.join("work").join(name)
    }

    fn set(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("written");
    }

    fn text(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.path(name)).ok()
    }

    /// The assistant writes in this turn.
    fn write(&self, turn: &str, name: &str, text: &str) {
        let path = self.path(name);
        self.backups.keep("shell:1", turn, "a question", &path).expect("kept");
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(&path, text).expect("written");
        self.backups.changed("shell:1", turn, &path).expect("noted");
    }

    fn undo(&self, turn: Option<&str>) -> Vec<(String, Word)> {
        let restored = self.backups.restore(turn).expect("read").map(|restored| restored.files).unwrap_or_default();
        let name = |path: &Path| path.strip_prefix(self.root.join("work")).expect("below").display().to_string();
        restored.into_iter().map(|taken| (name(&taken.path), taken.word)).collect()
    }
}

/// A command changes these in this turn, by this work.
fn run(bench: &Bench, turn: &str, changes: &CommandChanges, work: impl FnOnce()) -> Vec<String> {
    let deadline = Instant::now() + Duration::from_secs(60);
    let pending = bench.backups.keep_for_command(("shell:1", turn), "a question", changes, deadline).expect("kept");
    work();
    bench.backups.command_ended("shell:1", turn, &pending).expect("noted");
    let turns = bench.backups.turns().expect("read");
    turns[0].commands.last().expect("the command").left_out.clone()
}

fn touching(bench: &Bench, names: &[&str]) -> CommandChanges {
    let paths = names.iter().map(|name| bench.path(name)).collect();
    CommandChanges { line: "a command".to_owned(), paths, ..CommandChanges::default() }
}

fn refused(word: &Word) -> Option<&str> {
    match word {
        Word::Refused { reason, .. } => Some(reason),
        _ => None,
    }
}

#[test]
fn changed_files_come_back_with_their_mode_and_made_ones_go_with_their_folders() {
    let bench = bench();
    bench.set("run.sh", "old\n");
    fs::set_permissions(bench.path("run.sh"), fs::Permissions::from_mode(0o750)).expect("set");
    symlink("run.sh", bench.path("link")).expect("linked");
    bench.write("t1", "run.sh", "new\n");
    bench.write("t1", "run.sh", "newer\n");
    bench.write("t1", "a/b/made", "made\n");
    let made = ("a/b/made".to_owned(), Word::Removed);
    assert_eq!(bench.undo(None), [made, ("run.sh".to_owned(), Word::Restored)]);
    assert_eq!(bench.text("run.sh").as_deref(), Some("old\n"));
    assert_eq!(fs::metadata(bench.path("run.sh")).expect("there").mode() & 0o7777, 0o750);
    assert!(fs::symlink_metadata(bench.path("link")).expect("there").is_symlink());
    assert!(!bench.path("a").exists() && bench.root.join("work").exists());
    assert_eq!(bench.undo(None), []);
}

#[test]
fn what_is_not_as_the_assistant_left_it_is_left_alone_and_its_copy_is_named() {
    let bench = bench();
    for name in ["changed", "gone", "pipe", "fine"] {
        bench.set(name, "old");
        bench.write("t1", name, "new");
    }
    bench.write("t1", "made", "new");
    bench.set("changed", "mine");
    bench.set("made", "mine");
    fs::remove_file(bench.path("gone")).expect("removed");
    fs::remove_file(bench.path("pipe")).expect("removed");
    symlink("fine", bench.path("pipe")).expect("linked");
    let words = bench.undo(Some("t1"));
    let reasons: Vec<(&str, Option<&str>)> = words.iter().map(|(name, word)| (name.as_str(), refused(word))).collect();
    let expected = [
        ("made", Some("it was changed since")),
        ("fine", None),
        ("pipe", Some("it is a link now")),
        ("gone", Some("it was removed since")),
        ("changed", Some("it was changed since")),
    ];
    assert_eq!(reasons, expected);
    assert_eq!((bench.text("changed").as_deref(), bench.text("made").as_deref()), (Some("mine"), Some("mine")));
    let Word::Refused { copy: Some(copy), .. } = &words[4].1 else { panic!("{words:?}") };
    assert_eq!(fs::read_to_string(copy).expect("kept"), "old");
    // What was refused can be tried again.
    bench.set("changed", "new");
    assert!(bench.undo(Some("t1")).contains(&("changed".to_owned(), Word::Restored)));
    assert_eq!(bench.text("changed").as_deref(), Some("old"));
}

#[test]
fn what_the_user_wrote_between_two_changes_of_a_turn_comes_back() {
    let bench = bench();
    bench.set("f", "old");
    bench.write("t1", "f", "first");
    bench.set("f", "mine");
    bench.write("t1", "f", "second");
    assert_eq!(bench.undo(None), [("f".to_owned(), Word::Restored)]);
    assert_eq!(bench.text("f").as_deref(), Some("mine"));
}

#[test]
fn a_folder_that_became_a_link_leads_nowhere() {
    let bench = bench();
    fs::create_dir_all(bench.path("d")).expect("made");
    bench.set("d/f", "old");
    bench.write("t1", "d/f", "new");
    fs::rename(bench.path("d"), bench.path("other")).expect("moved");
    symlink("other", bench.path("d")).expect("linked");
    assert_eq!(refused(&bench.undo(None)[0].1), Some("its folder is a link now"));
    assert_eq!(bench.text("other/f").as_deref(), Some("new"));
}

#[test]
fn turns_are_undone_one_by_one_the_last_first() {
    let bench = bench();
    bench.set("f", "old");
    bench.write("0001", "f", "one");
    bench.write("0002", "f", "two");
    assert_eq!(bench.undo(Some("0003")), []);
    bench.undo(None);
    assert_eq!(bench.text("f").as_deref(), Some("one"));
    bench.undo(None);
    assert_eq!(bench.text("f").as_deref(), Some("old"));
}

#[test]
fn a_change_that_was_not_made_or_not_finished_harms_nothing() {
    let bench = bench();
    bench.set("f", "old");
    bench.backups.keep("shell:1", "t1", "a question", &bench.path("f")).expect("kept");
    bench.backups.keep("shell:1", "t1", "a question", &bench.path("never")).expect("kept");
    assert_eq!(bench.undo(None), [("never".to_owned(), Word::AsBefore), ("f".to_owned(), Word::AsBefore)]);
    bench.backups.keep("shell:1", "t2", "a question", &bench.path("f")).expect("kept");
    bench.set("f", "whose");
    assert_eq!(refused(&bench.undo(None)[0].1), Some("it is unknown whether its change completed"));
}

#[test]
fn copies_are_for_their_owner_and_bounded_by_size_and_age() {
    let mut bench = bench();
    bench.set("f", "0123456789");
    bench.write("t1", "f", "new");
    let turn = bench.backups.turn("shell:1", "t1");
    for kept in kept_in(&turn) {
        assert_eq!(fs::metadata(&kept.path).expect("there").mode() & 0o777, 0o600, "{:?}", kept.path);
    }
    assert_eq!(fs::metadata(&turn).expect("there").mode() & 0o777, 0o700);
    bench.backups.max_turn_bytes = total(&kept_in(&turn));
    bench.set("g", "0123456789");
    let error = bench.backups.keep("shell:1", "t1", "a question", &bench.path("g")).expect_err("too much");
    assert_eq!(error.to_string(), "one turn has changed too much to be kept");
    let old = SystemTime::now() - KEEP - Duration::from_secs(60);
    fs::File::open(&turn).and_then(|turn| turn.set_modified(old)).expect("aged");
    bench.write("t2", "f", "newer");
    assert!(!turn.exists() && bench.backups.turn("shell:1", "t2").exists());
    bench.backups.max_bytes = bench.backups.max_turn_bytes + 1;
    bench.write("t3", "f", "newest");
    assert!(!bench.backups.turn("shell:1", "t2").exists() && bench.backups.turn("shell:1", "t3").exists());
}

#[test]
fn what_cannot_be_kept_is_an_error() {
    let bench = bench();
    fs::write(bench.root.join("state"), "no folder").expect("written");
    bench.set("f", "old");
    assert!(bench.backups.keep("shell:1", "t1", "a question", &bench.path("f")).is_err());
}

#[test]
fn what_a_command_removed_comes_back_with_folders_links_and_modes() {
    let bench = bench();
    fs::create_dir_all(bench.path("d/deep/empty")).expect("made");
    bench.set("d/run.sh", "old");
    bench.set("d/deep/f", "deep");
    fs::set_permissions(bench.path("d/run.sh"), fs::Permissions::from_mode(0o750)).expect("set");
    fs::set_permissions(bench.path("d/deep"), fs::Permissions::from_mode(0o700)).expect("set");
    symlink("run.sh", bench.path("d/link")).expect("linked");
    bench.set("stays", "as it is");
    let left_out = run(&bench, "t1", &touching(&bench, &["d", "stays", "never"]), || {
        fs::remove_dir_all(bench.path("d")).expect("removed");
    });
    assert_eq!(left_out, Vec::<String>::new());
    let words = bench.undo(None);
    assert!(words.iter().all(|(name, word)| name.starts_with('d') && *word == Word::Restored), "{words:?}");
    assert_eq!(words.len(), 6);
    assert_eq!((bench.text("d/run.sh").as_deref(), bench.text("d/deep/f").as_deref()), (Some("old"), Some("deep")));
    let mode = |name: &str| fs::symlink_metadata(bench.path(name)).expect("there").mode() & 0o7777;
    assert_eq!((mode("d/run.sh"), mode("d/deep")), (0o750, 0o700));
    assert_eq!(fs::read_link(bench.path("d/link")).expect("a link"), Path::new("run.sh"));
    assert!(bench.path("d/deep/empty").is_dir());
}

#[test]
fn what_a_command_created_moved_or_replaced_is_taken_back_and_can_be_redone() {
    let bench = bench();
    bench.set("config", "old");
    bench.set("name", "moved");
    fs::create_dir(bench.path("folder")).expect("made");
    bench.set("folder/f", "inside");
    let changes = CommandChanges {
        moves: vec![
            (bench.path("name"), bench.path("new name")),
            (bench.path("folder"), bench.path("archive")),
            (bench.path("stays"), bench.path("nowhere")),
        ],
        ..touching(&bench, &["config", "made"])
    };
    let now = || ["config", "made", "name", "new name", "folder/f", "archive/f"].map(|name| bench.text(name));
    let before = now();
    run(&bench, "t1", &changes, || {
        bench.set("config", "new");
        bench.set("made", "made");
        fs::rename(bench.path("name"), bench.path("new name")).expect("moved");
        fs::rename(bench.path("folder"), bench.path("archive")).expect("moved");
    });
    let after = now();
    assert!(before.iter().zip(&after).all(|(before, after)| before != after));
    let words = bench.undo(None);
    assert_eq!(words.len(), 4, "{words:?}");
    assert_eq!(now(), before);
    assert!(bench.backups.turns().expect("read").is_empty());

    let redone = bench.backups.redo().expect("read").expect("an undo");
    assert_eq!((redone.turn.as_str(), redone.question.as_str(), redone.files.len()), ("t1", "a question", 4));
    assert_eq!(now(), after);
    assert_eq!(bench.backups.redo().expect("read"), None);
    bench.undo(Some("t1"));
    assert_eq!(now(), before);
}

#[test]
fn what_was_changed_since_a_command_is_left_alone() {
    let bench = bench();
    for name in ["removed", "replaced", "moved"] {
        bench.set(name, "old");
    }
    let changes = CommandChanges {
        moves: vec![(bench.path("moved"), bench.path("there"))],
        ..touching(&bench, &["removed", "replaced"])
    };
    run(&bench, "t1", &changes, || {
        fs::remove_file(bench.path("removed")).expect("removed");
        bench.set("replaced", "new");
        fs::rename(bench.path("moved"), bench.path("there")).expect("moved");
    });
    for name in ["removed", "replaced", "moved"] {
        bench.set(name, "mine");
    }
    let words = bench.undo(None);
    assert!(words.iter().all(|(_, word)| refused(word).is_some()), "{words:?}");
    for name in ["removed", "replaced", "moved"] {
        assert_eq!(bench.text(name).as_deref(), Some("mine"), "{name}");
    }
    assert_eq!(bench.text("there").as_deref(), Some("old"));
}

#[test]
fn a_file_that_the_turn_wrote_and_a_command_removed_is_as_before_the_turn() {
    let bench = bench();
    bench.set("f", "old");
    bench.write("t1", "f", "new");
    bench.write("t1", "made", "made");
    run(&bench, "t1", &touching(&bench, &["f", "made"]), || {
        fs::remove_file(bench.path("f")).expect("removed");
        fs::remove_file(bench.path("made")).expect("removed");
    });
    bench.undo(None);
    assert_eq!((bench.text("f").as_deref(), bench.text("made")), (Some("old"), None));
}

#[test]
fn what_is_too_large_is_left_out_by_name_and_the_command_runs_all_the_same() {
    let mut bench = bench();
    bench.backups.max_turn_bytes = 1024 * 1024;
    bench.set("small", "small");
    bench.set("large", &"x".repeat(1024 * 1024));
    let left_out = run(&bench, "t1", &touching(&bench, &["large", "small"]), || {
        fs::remove_file(bench.path("large")).expect("removed");
        fs::remove_file(bench.path("small")).expect("removed");
    });
    assert_eq!(left_out, [format!("{}: more than 1 MiB", bench.path("large").display())]);
    assert_eq!(bench.undo(None), [("small".to_owned(), Word::Restored)]);
    let state = CommandChanges { paths: vec![bench.root.clone()], ..touching(&bench, &[]) };
    let left_out = run(&bench, "t2", &state, || {});
    assert!(left_out[0].ends_with("which holds these copies"), "{left_out:?}");
}

#[test]
fn turns_are_listed_with_their_question_files_and_commands() {
    let bench = bench();
    bench.write("t1", "f", "new");
    let changes = CommandChanges { uncovered: vec!["what `make` changes".to_owned()], ..touching(&bench, &[]) };
    run(&bench, "t1", &changes, || {});
    let [turn] = &bench.backups.turns().expect("read")[..] else { panic!("one turn") };
    assert_eq!((turn.turn.as_str(), turn.question.as_str()), ("t1", "a question"));
    assert_eq!(turn.paths, [bench.path("f")]);
    assert_eq!(turn.commands[0].uncovered, ["what `make` changes"]);
    let restored = bench.backups.restore(Some("t1")).expect("read").expect("a turn");
    assert_eq!(restored.commands, turn.commands);
}

#[test]
fn a_file_that_was_removed_comes_back_whatever_took_its_place() {
    let bench = bench();
    let remove = |turn: &str, name: &str| {
        run(&bench, turn, &touching(&bench, &[name]), || fs::remove_file(bench.path(name)).expect("removed"));
    };
    let rename = |turn: &str, from: &str, to: &str| {
        let moves = vec![(bench.path(from), bench.path(to))];
        let changes = CommandChanges { line: "mv".to_owned(), moves, ..CommandChanges::default() };
        run(&bench, turn, &changes, || fs::rename(bench.path(from), bench.path(to)).expect("moved"));
    };
    ["written", "moved", "other"].iter().for_each(|name| bench.set(name, name));
    remove("t1", "written");
    bench.write("t1", "written", "again");
    remove("t1", "moved");
    rename("t1", "other", "moved");
    bench.undo(Some("t1"));
    for name in ["written", "moved", "other"] {
        assert_eq!(bench.text(name).as_deref(), Some(name));
    }
    rename("t2", "other", "elsewhere");
    remove("t2", "elsewhere");
    let words = bench.undo(Some("t2"));
    assert_eq!(words[0], ("elsewhere".to_owned(), Word::Restored));
    assert_eq!(
        words[1],
        ("elsewhere".to_owned(), Word::MovedBack(bench.path("other"))),
        "a copy of it is moved back, too"
    );
    assert_eq!((bench.text("elsewhere"), bench.text("other").as_deref()), (None, Some("other")));
    rename("t3", "other", "elsewhere");
    let created = || fs::metadata(bench.path("elsewhere")).and_then(|metadata| metadata.created()).ok();
    let first = created();
    // Its inode may be used again at once; the clock of the file system ticks every few milliseconds.
    while created() == first && first.is_some() {
        fs::remove_file(bench.path("elsewhere")).expect("removed");
        bench.set("elsewhere", "another file");
    }
    assert_eq!(refused(&bench.undo(Some("t3"))[0].1), Some("it was changed since"));
    assert_eq!(bench.text("elsewhere").as_deref(), Some("another file"));
}
