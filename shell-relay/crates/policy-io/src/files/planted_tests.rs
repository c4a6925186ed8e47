//! Tests with planted files: their names, links or neighbours would make a harmless line do harm.

use std::{fs, os::unix::fs::symlink, path::PathBuf};

use cohab_policy::{Context, Level, assess_line};
use cohab_shell_state::shell::Shell;

use super::FileSystem;

/// A home with a key, and a project with files.
struct Place {
    _dir: tempfile::TempDir,
    home: PathBuf,
    cwd: PathBuf,
}

fn place(files: &[&str]) -> Place {
    let dir = tempfile::tempdir().expect("a folder");
    let home = dir.path().canonicalize().expect("it is there");
    let cwd = home.join("work/app");
    fs::create_dir_all(home.join(".ssh")).expect("a folder");
    fs::write(home.join(".ssh/id_rsa"), "x").expect("a key");
    for file in files {
        let path = cwd.join(file);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, "x").expect("a file");
    }
    Place { _dir: dir, home, cwd }
}

impl Place {
    /// The mildest verdict of all shells.
    fn level(&self, line: &str) -> Level {
        let context = Context::new(&self.cwd, &self.home).with_files(&FileSystem);
        let levels =
            [Shell::Bash, Shell::Zsh, Shell::Fish].map(|shell| assess_line(line, context.in_shell(shell)).level);
        levels.into_iter().min().expect("three shells")
    }

    fn is_asked(&self, lines: &[&str]) {
        for line in lines {
            assert_ne!(self.level(line), Level::Allow, "{line}");
        }
    }

    fn is_allowed(&self, lines: &[&str]) {
        for line in lines {
            assert_eq!(self.level(line), Level::Allow, "{line}");
        }
    }
}

#[test]
fn a_pattern_that_matches_an_option_or_a_list_is_asked() {
    let lines = [
        "grep -h x *",
        "diff *",
        "wc *",
        "du -sh *",
        "strings *",
        "md5sum *",
        "cat *",
        "ls *",
        "head *",
        "tail *",
        "echo *",
        "find . -name *.x",
        "grep -r x --include=*.x .",
    ];
    for name in ["-R", "--from-file=.x", "--files0-from=.x", "@y.x", "-delete.x", "+x", "--include=.env.x"] {
        let place = place(&["a.x", "b.x", name]);
        let hit = lines.iter().filter(|line| place.level(line) != Level::Allow).count();
        assert!(hit >= 9, "{name}: {hit}");
    }
    place(&["a.x"]).is_allowed(&lines[1..4]);
    place(&["-R", "a.x", "src/-R"]).is_allowed(&["cat ./*", "grep x src/*", "wc -l ./*", "cat a*"]);
}

#[test]
fn a_pattern_that_matches_a_name_with_a_language_is_asked() {
    for name in ["a'b.gz", "a|b.gz", "a%2eb.gz", "a\nb.gz"] {
        let place = place(&["a.gz", &format!("src/{name}")]);
        place.is_asked(&["zgrep x src/*.gz", "exiftool src/*", "find src -exec zgrep x {} +"]);
        place.is_allowed(&["cat src/*", "wc -c src/*.gz"]);
    }
}

#[test]
fn folders_with_links_to_secrets_are_not_compared() {
    let place = place(&["d1/a", "d2/a", "d3/b/c"]);
    place.is_allowed(&["diff -rN d1 d2", "diff -r d1 d3", "diff d1 d2"]);
    symlink("../../../.ssh", place.cwd.join("d1/x")).expect("a link");
    symlink("../../../../.ssh/id_rsa", place.cwd.join("d3/b/y")).expect("a link");
    place.is_asked(&["diff -rN d1 d2", "diff d1 d2", "diff -r d2 d3", "colordiff -r d1 d2", "diff --recursive d2 d3"]);
}

#[test]
fn a_database_with_a_journal_beside_it_is_asked() {
    let place = place(&["a.db", "b.db", "b.db-journal", "c.db", "c.db-wal"]);
    place.is_allowed(&["sqlite3 a.db .tables", "sqlite3 -readonly a.db .schema"]);
    place.is_asked(&["sqlite3 b.db .tables", "sqlite3 ./c.db .schema", "sqlite3 new.db .tables"]);
}

#[test]
fn an_option_behind_an_operand_is_looked_at_as_a_file() {
    let place = place(&["f"]);
    place.is_allowed(&["cat f -n", "ls f -la"]);
    symlink("../../.ssh/id_rsa", place.cwd.join("-n")).expect("a link");
    place.is_asked(&["cat f -n"]);
}

#[test]
fn a_repository_below_is_not_looked_into() {
    let lines = ["git describe --dirty", "git describe --tags --dirty=x", "git describe --broken"];
    place(&[".git/HEAD", ".git/config", "src/a"]).is_allowed(&lines);
    place(&[".git/HEAD", "sub/.git"]).is_asked(&lines);
    place(&[".git/HEAD", "a/b/.git/config"]).is_asked(&lines);
    place(&[".git/HEAD", "a/b/.git/config"]).is_allowed(&["git describe --tags", "git status"]);
}
