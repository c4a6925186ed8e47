use std::os::unix::fs::symlink;

use super::*;

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

fn repository() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    fs::create_dir_all(root.join(".git/refs/heads/topic")).unwrap();
    fs::write(root.join(".git/HEAD"), "ref: refs/heads/topic/a\n").unwrap();
    (folder, root)
}

fn state(root: &Path) -> Option<(Option<String>, Option<String>, Option<&'static str>)> {
    read(root).map(|state| (state.branch, state.commit, state.activity))
}

#[test]
fn branch_and_commit_are_read_from_loose_and_packed_references() {
    let (_folder, root) = repository();
    assert_eq!(state(&root), Some((Some("topic/a".into()), None, None)), "a branch without a commit");
    fs::write(root.join(".git/packed-refs"), format!("# pack-refs\n{COMMIT} refs/heads/topic/a\n")).unwrap();
    assert_eq!(state(&root).unwrap().1.as_deref(), Some("0123456789"));
    fs::write(root.join(".git/refs/heads/topic/a"), COMMIT.replace('0', "f")).unwrap();
    assert_eq!(state(&root).unwrap().1.as_deref(), Some("f123456789"), "the loose one is newer");
    fs::write(root.join(".git/HEAD"), COMMIT).unwrap();
    fs::create_dir(root.join(".git/rebase-merge")).unwrap();
    assert_eq!(state(&root), Some((None, Some("0123456789".into()), Some("rebase"))));
}

#[test]
fn a_worktree_is_followed_to_its_folder() {
    let (_folder, main) = repository();
    let inner = main.join(".git/worktrees/w");
    fs::create_dir_all(&inner).unwrap();
    fs::write(inner.join("HEAD"), "ref: refs/heads/topic/w\n").unwrap();
    fs::write(inner.join("commondir"), "../..\n").unwrap();
    fs::write(main.join(".git/refs/heads/topic/w"), COMMIT).unwrap();
    let worktree = main.join("w");
    fs::create_dir(&worktree).unwrap();
    fs::write(worktree.join(".git"), format!("gitdir: {}\n", inner.display())).unwrap();
    assert_eq!(state(&worktree), Some((Some("topic/w".into()), Some("0123456789".into()), None)));
}

#[test]
fn files_that_are_none_of_gits_tell_nothing() {
    let (_folder, root) = repository();
    for head in [
        "ref: refs/heads/../../../etc/passwd",
        "ref: /etc/passwd",
        "ref: refs/heads/a b",
        "root:x:0:0",
        "",
        "ref: refs/heads/.invalid",
        "ref: refs/heads/a`b",
    ] {
        fs::write(root.join(".git/HEAD"), head).unwrap();
        assert_eq!(read(&root), None, "{head}");
    }
    fs::write(root.join(".git/HEAD"), "x".repeat(5_000)).unwrap();
    assert_eq!(read(&root), None, "a huge one");
    fs::remove_file(root.join(".git/HEAD")).unwrap();
    symlink("/etc/passwd", root.join(".git/HEAD")).unwrap();
    assert_eq!(read(&root), None, "a link");
    fs::remove_dir_all(root.join(".git")).unwrap();
    symlink(".git", root.join(".git")).unwrap();
    assert_eq!(read(&root), None, "a circle");
    assert_eq!(read(Path::new("/nonexistent")), None);
}
