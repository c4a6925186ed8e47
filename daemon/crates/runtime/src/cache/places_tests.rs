use std::process::Command;

use super::*;

fn git(folder: &Path, arguments: &[&str]) -> bool {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"]).args(arguments);
    command.current_dir(folder).env("HOME", folder).output().is_ok_and(|output| output.status.success())
}

fn seen(folder: &Path, question: &str) -> u64 {
    fingerprint(folder, Path::new("/home/ann"), question).expect("a fingerprint")
}

#[test]
fn what_happens_to_a_file_that_is_named_is_seen() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("notes.txt");
    fs::write(&file, "one").unwrap();
    let metadata = fs::metadata(&file).unwrap();
    let (named, unnamed) = (seen(folder.path(), "what is in `notes.txt`?"), seen(folder.path(), "what is in it"));
    assert_eq!(seen(folder.path(), "what is in `notes.txt`?"), named);
    fs::write(&file, "two").unwrap();
    fs::File::options().write(true).open(&file).unwrap().set_modified(metadata.modified().unwrap()).unwrap();
    assert_ne!(seen(folder.path(), "what is in `notes.txt`?"), named, "its content counts, not its time");
    assert_eq!(seen(folder.path(), "what is in it"), unnamed);
    assert_eq!(seen(folder.path(), "what is in notes.txt."), seen(folder.path(), "what is in notes.txt"));
}

#[test]
fn a_commit_a_branch_and_a_change_of_any_tracked_file_are_seen() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::create_dir_all(root.join("src/deep")).unwrap();
    fs::write(root.join("src/deep/a.rs"), "a").unwrap();
    fs::write(root.join("src/b.rs"), "b").unwrap();
    assert!(git(root, &["init", "-q", "."]) && git(root, &["add", "."]) && git(root, &["commit", "-qm", "one"]));
    let cwd = root.join("src");
    let mut known = vec![seen(&cwd, "q")];
    assert_eq!(seen(&cwd, "q"), known[0]);
    let mut is_new = |what: &str| {
        let now = seen(&cwd, "q");
        assert!(!known.contains(&now), "{what}");
        known.push(now);
    };
    fs::write(root.join("src/deep/a.rs"), "changed").unwrap();
    is_new("a tracked file");
    assert!(git(root, &["commit", "-qam", "two"]));
    is_new("a commit");
    assert!(git(root, &["checkout", "-qb", "other"]));
    is_new("a branch");
    fs::write(cwd.join("new.rs"), "n").unwrap();
    is_new("a new file in the folder");
    assert!(git(root, &["update-index", "--index-version", "4"]));
    is_new("another form of the index");
    fs::write(root.join("src/b.rs"), "changed, too").unwrap();
    is_new("a tracked file in that form");
}

#[test]
fn both_forms_of_the_index_name_the_same_files() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    for name in ["a", "ab", "abcdefgh", "b/c", "b/cd", "long-name-of-a-file-that-needs-filling"] {
        fs::create_dir_all(root.join("b")).unwrap();
        fs::write(root.join(name), name).unwrap();
    }
    assert!(git(root, &["init", "-q", "."]) && git(root, &["add", "."]));
    let names = |root: &Path| tracked(&read(&root.join(".git/index")).unwrap()).unwrap();
    let older = names(root);
    assert_eq!(older.len(), 6);
    assert!(older.iter().all(|path| root.join(path).is_file()), "{older:?}");
    assert!(git(root, &["update-index", "--index-version", "4"]));
    assert_eq!(names(root), older);
}

#[test]
fn a_repository_that_cannot_be_read_is_nothing_to_rely_on() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::create_dir(root.join(".git")).unwrap();
    assert_eq!(fingerprint(root, root, "q"), None, "it has no head");
    fs::write(root.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    assert!(fingerprint(root, root, "q").is_some(), "nothing is tracked yet");
    for broken in [&b"DIRC"[..], b"DIRC\0\0\0\x02\0\0\0\x01", b"DIRC\0\0\0\x02\xff\xff\xff\xff", b"garbage"] {
        fs::write(root.join(".git/index"), broken).unwrap();
        assert_eq!(fingerprint(root, root, "q"), None, "{broken:?}");
    }
    fs::remove_dir_all(root.join(".git")).unwrap();
    fs::write(root.join(".git"), "gitdir: /nonexistent\n").unwrap();
    assert_eq!(fingerprint(root, root, "q"), None);
}
