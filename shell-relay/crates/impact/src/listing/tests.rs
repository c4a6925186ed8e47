use std::{fs, os::unix::fs::PermissionsExt, time::Duration};

use super::*;
use crate::{
    changes::changes,
    plan::{Known, plan},
};

struct Repository {
    _folder: tempfile::TempDir,
    root: PathBuf,
}

impl Repository {
    /// Two branches: `main` with `a` and `b`, and `other` with `b` changed and `c` instead of `a`.
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap().join("work");
        fs::create_dir(&root).unwrap();
        let new = Self { _folder: folder, root };
        new.git("init -q -b main");
        new.write("a", "one");
        new.write("b", "one");
        new.commit();
        new.git("checkout -q -b other");
        new.git("mv a c");
        new.write("b", "changed");
        new.commit();
        new.git("checkout -q main");
        new.write("a", "one");
        new.write("b", "one");
        new.git("update-index --refresh -q");
        new
    }

    fn git(&self, line: &str) {
        let mut command = Command::new("git");
        command.current_dir(&self.root).args(["-c", "user.name=x", "-c", "user.email=x@x"]);
        let output = command.args(line.split(' ')).env("HOME", &self.root).output().unwrap();
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    }

    fn commit(&self) {
        self.git("add -A");
        self.git("commit -q -m x");
    }

    /// Old enough to be known by its time.
    fn write(&self, name: &str, text: &str) {
        let path = self.root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        let old = std::time::SystemTime::now() - Duration::from_secs(60);
        fs::File::options().write(true).open(&path).unwrap().set_modified(old).unwrap();
    }

    fn changes(&self, line: &str) -> Changes {
        let deadline = Instant::now() + Duration::from_secs(60);
        let mut found = changes(&plan(line, &Known::of("/home/ann".into(), self.root.clone())), deadline);
        list(&mut found, deadline);
        found
    }

    /// The files of the working tree, or those of the repository, that a line changes; what is not known.
    fn changed(&self, line: &str, is_own: bool) -> String {
        let Changes { paths, uncovered, .. } = self.changes(line);
        let name = |path: &PathBuf| path.strip_prefix(&self.root).unwrap_or(path).display().to_string();
        let mut names: Vec<String> = paths.iter().map(name).collect();
        names.retain(|name| name.starts_with(".git/") == is_own);
        names.extend(uncovered.into_iter().filter(|_| !is_own).map(|what| format!("({what})")));
        names.join(" ")
    }
}

#[test]
fn git_names_the_files_that_its_commands_change() {
    let repository = Repository::new();
    repository.write("b", "mine");
    repository.write("new", "not tracked");
    repository.write("deep/new", "not tracked");
    for (line, expected) in [
        ("git checkout other", "a b c"),
        ("git switch -q other", "a b c"),
        ("git checkout -b fresh", "b"),
        ("git checkout -- .", "b"),
        ("git checkout .", "b"),
        ("git checkout a b", "b"),
        ("git checkout other -- c", "c"),
        ("git restore b", "b"),
        ("git restore --staged b", ""),
        ("git restore -s other .", "a b c"),
        ("git reset --hard", "b"),
        ("git reset --hard other", "a b c"),
        ("git reset HEAD~0", ""),
        ("git clean -f", "deep/new new"),
        ("git clean -fd", "deep new"),
        ("git clean -fd deep", "deep"),
        ("git clean -n", ""),
        ("git stash", "b"),
        ("git stash push", "b"),
        ("git stash push -m x -- a", ""),
        ("git stash -u", "b deep new"),
        ("git merge other", "a b c"),
        ("git cherry-pick other", "a b c"),
        ("git -C deep checkout other", "a b c"),
        ("git commit -qam x", ""),
        ("git switch nowhere", "(what `git switch` changes in files)"),
        ("cd deep && git clean -f", "deep/new"),
    ] {
        assert_eq!(repository.changed(line, false), expected, "{line}");
    }
}

#[test]
fn git_names_its_own_files_that_a_command_changes() {
    let repository = Repository::new();
    let head = ".git/HEAD .git/refs/heads/main";
    for (line, expected) in [
        ("git add -A", ".git/index".to_owned()),
        ("git branch -D other", { format!(".git/refs/heads/other .git/packed-refs .git/config {head}") }),
        ("git tag -d v1", ".git/refs/tags/v1 .git/packed-refs .git/config".to_owned()),
        ("git stash drop", ".git/refs/stash .git/logs/refs/stash".to_owned()),
        ("git branch -D ../../../outside", format!(".git/packed-refs .git/config {head}")),
    ] {
        assert_eq!(repository.changed(line, true), expected, "{line}");
    }
    assert!(repository.changed("git commit -q --amend", true).starts_with(&format!("{head} .git/index ")));
}

#[test]
fn a_stash_names_its_files_with_those_that_were_not_tracked() {
    let repository = Repository::new();
    repository.write("b", "mine");
    repository.write("new", "not tracked");
    repository.git("stash -q -u");
    assert_eq!(repository.changed("git stash pop", false), "b new");
    assert_eq!(repository.changed("git stash apply 0", false), "b new");
}

#[test]
fn a_stash_and_a_reset_bring_back_what_is_removed_from_the_index() {
    let repository = Repository::new();
    repository.git("rm -q a");
    assert_eq!(repository.changed("git stash", false), "a");
    assert_eq!(repository.changed("git reset --hard", false), "a");
}

#[test]
fn names_of_any_letters_are_names_of_files() {
    let repository = Repository::new();
    for name in ["-rf", "two\nlines", "a b", "\u{1f600}", ":(top)x"] {
        repository.write(name, "x");
    }
    let found = repository.changes("git clean -f");
    let names: Vec<_> = found.paths.iter().filter_map(|path| path.file_name()?.to_str()).collect();
    assert_eq!(names, ["-rf", ":(top)x", "a b", "two\nlines", "\u{1f600}"]);
}

#[test]
fn no_program_of_a_hostile_repository_is_started() {
    let repository = Repository::new();
    let root = &repository.root;
    let program = root.join("program");
    fs::write(&program, format!("#!/bin/sh\ntouch '{}/started'\ncat\n", root.display())).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let program = program.display();
    for setting in [
        "core.fsmonitor",
        "filter.x.clean",
        "filter.x.smudge",
        "filter.x.process",
        "core.pager",
        "diff.external",
        "core.sshCommand",
        "diff.x.textconv",
        "diff.x.command",
        "core.alternateRefsCommand",
        "core.editor",
        "credential.helper",
        "merge.x.driver",
    ] {
        repository.git(&format!("config {setting} {program}"));
    }
    fs::create_dir_all(root.join(".git/hooks")).unwrap();
    for hook in ["post-index-change", "post-checkout", "fsmonitor-watchman", "reference-transaction"] {
        fs::copy(root.join("program"), root.join(".git/hooks").join(hook)).unwrap();
    }
    fs::write(root.join(".git/info/attributes"), "* filter=x diff=x merge=x\n").unwrap();
    fs::write(root.join("b"), "six").unwrap();
    for line in [
        "git checkout other",
        "git reset --hard other",
        "git clean -fdx",
        "git stash -u",
        "git merge other",
        "git cherry-pick other",
        "git restore -s other .",
        "git branch -D other",
        "git commit -am x",
    ] {
        let found = repository.changes(line);
        assert!(found.uncovered.is_empty() && !found.paths.is_empty(), "{line}: {found:?}");
        assert!(!root.join("started").exists(), "{line}");
    }
}

#[test]
fn an_archive_names_what_it_would_write() {
    let repository = Repository::new();
    let root = &repository.root;
    let run = |line: &str| {
        let status = Command::new("sh").args(["-c", line]).current_dir(root).status().unwrap();
        assert!(status.success(), "{line}");
    };
    run("mkdir -p top/d && echo x > top/d/f && echo y > top/g && tar -czf ../t.tgz top && rm -r top");
    for (line, expected) in [
        ("tar xzf ../t.tgz", "top top/d top/d/f top/g"),
        ("tar -xf ../t.tgz -C out --strip-components=1", "out/d out/d/f out/g"),
        ("tar -tf ../t.tgz", ""),
        ("tar czf ../new.tgz a", &root.with_file_name("new.tgz").display().to_string()),
        ("tar -xf ../t.tgz --to-command=cat", "(what `tar` changes in files)"),
        ("tar -xPf ../t.tgz", "(what `tar` changes in files)"),
        ("tar -xf none.tar", &format!("(what is unpacked from {})", root.join("none.tar").display())),
    ] {
        assert_eq!(repository.changed(line, false), expected, "{line}");
    }
}

#[test]
fn a_program_that_does_not_end_is_stopped() {
    let begin = Instant::now();
    assert_eq!(output("sleep", &["60"], Path::new("/"), begin + Duration::from_millis(20)), None);
    assert!(begin.elapsed() < Duration::from_secs(30));
    assert_eq!(output("no-such-program", &["60"], Path::new("/"), begin + Duration::from_secs(60)), None);
}
