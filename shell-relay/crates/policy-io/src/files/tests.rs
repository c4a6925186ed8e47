//! Tests for the resolution of paths, in folders that the tests make.

use std::os::unix::fs::symlink;

use cohab_policy::{Context, Level, assess_line};

use super::*;

struct Place {
    _dir: tempfile::TempDir,
    home: PathBuf,
    cwd: PathBuf,
}

#[test]
fn folders_of_path_are_known_by_both_of_their_names() {
    let dir = tempfile::tempdir().expect("a folder");
    let real = fs::canonicalize(dir.path()).expect("it is there");
    fs::create_dir(real.join("real")).expect("a folder");
    symlink("real", real.join("link")).expect("a link");
    let path = format!("{0}/link::.:bin:/no/such:{0}/link", real.display());
    let mut expected = [PathBuf::from("/no/such"), real.join("link"), real.join("real")];
    expected.sort();
    assert_eq!(program_folders(path.as_ref()), expected);
    let many: Vec<String> = (0..10_000).map(|number| format!("/no/{number}")).collect();
    assert_eq!(program_folders(many.join(":").as_ref()).len(), MAX_PROGRAM_FOLDERS);
}

/// A home with a key and a project in it.
fn place() -> Place {
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path().canonicalize().unwrap();
    let cwd = home.join("work/app");
    fs::create_dir_all(cwd.join("src")).unwrap();
    fs::create_dir(home.join(".ssh")).unwrap();
    for file in ["work/app/a.txt", "work/app/src/b.rs", ".ssh/id_rsa", ".ssh/config"] {
        fs::write(home.join(file), "x").unwrap();
    }
    Place { _dir: dir, home, cwd }
}

impl Place {
    fn level(&self, line: &str) -> Level {
        assess_line(line, Context::new(&self.cwd, &self.home).with_files(&FileSystem)).level
    }
}

#[test]
fn a_link_is_judged_by_where_it_leads() {
    let place = place();
    symlink("../../.ssh/id_rsa", place.cwd.join("notes.txt")).unwrap();
    symlink("../../.ssh", place.cwd.join("docs")).unwrap();
    symlink("a.txt", place.cwd.join("plain")).unwrap();
    symlink(&place.home, place.cwd.join("up")).unwrap();
    for line in [
        "cat notes.txt",
        "cat ./src/../notes.txt",
        "head -n 5 n*.txt",
        "grep x *",
        "wc -l < notes.txt",
        "cat docs/config",
        "cat docs/*",
        "ls docs",
        "cat up/.ssh/../.ssh/config",
        "cd docs && cat config",
        "sed -n 1p notes.txt",
        "awk 1 notes.txt",
        "diff a.txt notes.txt",
        "git diff /dev/null notes.txt",
    ] {
        assert_eq!(place.level(line), Level::Danger, "{line}");
    }
    for line in ["grep -r x up", "cat docs/../.bashr?", "diff -rN up src", "diff -r /etc src", "git diff up src"] {
        assert_eq!(place.level(line), Level::Ask, "{line}");
    }
    for line in ["cat plain", "cat a.txt", "cat missing", "ls *", "cat src/*", "cat ./src/../a.txt", "grep -r x src"] {
        assert_eq!(place.level(line), Level::Allow, "{line}");
    }
}

#[test]
fn writing_is_judged_by_where_it_lands() {
    let place = place();
    let link = |target: &str, name: &str| symlink(target, place.cwd.join(name)).unwrap();
    link("../../.bashrc", "notes");
    link("../../.ssh", "docs");
    link("../../.ssh/new_key", "coming");
    link("coming", "twice");
    link("/usr/bin/env", "tool");
    link("../other", "beside");
    link("round", "round");
    link("a.txt", "plain");
    for line in [
        "echo x >> notes",
        "echo x > ./src/../notes",
        "tee notes",
        "cp a.txt notes",
        "chmod 777 notes",
        "touch coming",
        "cat a.txt > twice",
        "echo x > docs/authorized_keys",
        "rm docs/config",
        "rm -rf docs/*",
        "mv a.txt docs",
        "mkdir -p docs/a/b",
        "cp a.txt docs/../.bashrc",
        "truncate -s 0 tool",
        "sed --follow-symlinks -i s/a/b/ notes",
        "sh -c 'echo x > notes'",
        "x=1; if true; then echo > notes; fi",
        "cd docs && rm config",
        "cd src && echo x > ../notes",
        "cd docs && echo x > authorized_keys",
        "cp docs/id_rsa copy",
        "gzip < twice > x; base64 docs/id_rsa | tee y",
    ] {
        assert_eq!(place.level(line), Level::Danger, "{line}");
    }
    for line in [
        "rm notes",
        "unlink tool",
        "mv notes old",
        "rm docs",
        "sed -i s/a/b/ notes",
        "ln -s a.txt new",
        "echo x > plain",
        "echo x > beside",
        "echo x > round",
        "touch round/a",
        "cp a.txt src",
        "cd src && touch b.rs",
    ] {
        assert_eq!(place.level(line), Level::Ask, "{line}");
    }
    let verdict = |line: &str| assess_line(line, Context::new(&place.cwd, &place.home).with_files(&FileSystem));
    assert!(verdict("echo x > beside").is_firm(), "it is in another folder");
    assert!(!verdict("echo x > plain").is_firm());
}

#[test]
fn a_write_outside_of_the_project_is_told() {
    let place = place();
    fs::create_dir_all(place.home.join("work/other")).unwrap();
    let is_firm = |cwd: &str, line: &str| {
        let cwd = place.home.join(cwd);
        let verdict = assess_line(line, Context::new(&cwd, &place.home).with_files(&FileSystem));
        assert_eq!(verdict.level, Level::Ask, "{line}: {verdict:?}");
        verdict.is_firm()
    };
    let elsewhere = [
        "cp a.txt ../../other/x",
        "mv a.txt ../../other",
        "tee ../../other/x",
        "touch a.txt ../../other/x",
        "echo x > ../../other/x",
        "gcc -o../../other/x a.c",
        "cp -t ../../other a.txt",
        "cd ../../other && touch x",
        "rm ../../other/x",
    ];
    let beside = ["cp a.txt ../x", "echo x > ../x", "mkdir ../new", "cd .. && touch x"];
    let here = ["cp a.txt x", "touch x", "gcc -o x a.c", "git -C ../../other fetch"];
    elsewhere.iter().for_each(|line| assert!(is_firm("work/app/src", line), "{line}"));
    beside.iter().for_each(|line| assert!(is_firm("work/app/src", line), "{line}"));
    here.iter().for_each(|line| assert!(!is_firm("work/app/src", line), "{line}"));
    fs::create_dir(place.cwd.join(".git")).unwrap();
    elsewhere.iter().for_each(|line| assert!(is_firm("work/app/src", line), "{line}"));
    beside.iter().for_each(|line| assert!(!is_firm("work/app/src", line), "{line}: it is the same repository"));
    fs::create_dir(place.home.join(".git")).unwrap();
    elsewhere.iter().for_each(|line| assert!(is_firm("work/app/src", line), "{line}: a home is no project"));
}

#[test]
fn a_folder_that_is_a_link_itself_is_no_other_place() {
    let place = place();
    symlink(&place.cwd, place.home.join("app")).unwrap();
    symlink(".ssh", place.home.join("keys")).unwrap();
    let verdict = |cwd: &str, line: &str| {
        assess_line(line, Context::new(&place.home.join(cwd), &place.home).with_files(&FileSystem))
    };
    let written = verdict("app", "echo x > new");
    assert!(!written.is_firm(), "{written:?}");
    assert_eq!(verdict("keys", "echo x > config").level, Level::Danger);
}

#[test]
fn a_line_with_too_many_names_is_not_looked_at_in_part() {
    let place = place();
    let many: String = (0..2_000).map(|number| format!(" {number}")).collect();
    assert_eq!(place.level(&format!("touch{many}")), Level::Danger);
    assert_eq!(place.level(&format!("touch{}", &many[..1_000])), Level::Ask);
}

#[test]
fn parent_folders_count_behind_the_links_before_them() {
    let place = place();
    fs::create_dir(place.home.join(".ssh/sub")).unwrap();
    symlink("../../.ssh/sub", place.cwd.join("sub")).unwrap();
    fs::write(place.cwd.join("config"), "x").unwrap();
    assert_eq!(place.level("cat sub/../config"), Level::Danger);
    assert_eq!(place.level("cat config"), Level::Allow);
}

#[test]
fn a_pattern_is_judged_by_the_files_it_matches() {
    let place = place();
    assert_eq!(place.level("cat *"), Level::Allow);
    fs::write(place.cwd.join("server.pem"), "x").unwrap();
    assert_eq!(place.level("cat *"), Level::Danger);
    assert_eq!(place.level("ls *"), Level::Allow);
    for number in 0..=MAX_TARGETS {
        fs::write(place.cwd.join("src").join(number.to_string()), "").unwrap();
    }
    assert_eq!(place.level("cat src/*"), Level::Ask);
    assert_eq!(place.level("cat **/x"), Level::Ask);
}

#[test]
fn git_is_asked_in_a_repository_that_came_with_the_files() {
    let place = place();
    fs::create_dir_all(place.cwd.join(".git/objects")).unwrap();
    fs::create_dir_all(place.cwd.join("bare/objects")).unwrap();
    fs::create_dir_all(place.cwd.join("bare/deep")).unwrap();
    fs::write(place.cwd.join("bare/HEAD"), "ref: refs/heads/main").unwrap();
    fs::create_dir_all(place.cwd.join("nested/.git")).unwrap();
    for line in ["git status", "git -C src log", "cd src && git diff"] {
        assert_eq!(place.level(line), Level::Allow, "{line}");
    }
    for line in ["git -C bare log", "cd bare && git status", "git -C bare/deep log", "cd nested; git status"] {
        assert_eq!(place.level(line), Level::Ask, "{line}");
    }
}

#[test]
fn a_search_that_would_read_a_secret_file_is_asked() {
    let place = place();
    for line in ["grep -rn x .", "grep -r x src", "rg x", "rg -u x"] {
        assert_eq!(place.level(line), Level::Allow, "{line}");
    }
    fs::write(place.cwd.join("src/.env"), "x").unwrap();
    for line in ["grep -rn x .", "grep -r x src", "rg --hidden x", "rg -uu x", "diff -rN src /usr/share/doc"] {
        assert_eq!(place.level(line), Level::Ask, "{line}");
    }
    for line in ["rg x", "rg -t rust --hidden x", "grep -rn --include=*.rs x .", "fd -H x"] {
        assert_eq!(place.level(line), Level::Allow, "{line}");
    }
    fs::remove_file(place.cwd.join("src/.env")).unwrap();
    fs::create_dir_all(place.cwd.join("src/etc")).unwrap();
    assert_eq!(place.level("grep -r x src/etc"), Level::Allow);
    fs::write(place.cwd.join("src/etc/shadow"), "x").unwrap();
    for line in ["grep -r x src/etc", "grep -rn x .", "rg x"] {
        assert_eq!(place.level(line), Level::Ask, "{line}");
    }
}

#[test]
fn a_link_to_a_secret_below_is_not_read_through_unasked() {
    let place = place();
    let lines = [
        "find src -exec cat {} +",
        "find src -name '*.rs' -exec head {} \\;",
        "find src -name '*.rs' -print0 | xargs -0 cat",
        "find src -type f -o -type l -exec cat {} +",
        "find src -type f -exec wc -l {} + -o -exec cat {} +",
        "fd -0 rs src | xargs -0 cat",
    ];
    lines.iter().for_each(|line| assert_eq!(place.level(line), Level::Allow, "{line}"));
    let secret = place.home.join(".ssh/id_rsa");
    symlink(&secret, place.cwd.join("src/planted.rs")).unwrap();
    lines.iter().for_each(|line| assert_ne!(place.level(line), Level::Allow, "{line}"));
    for line in ["find src -type f -name '*.rs' -exec cat {} +", "find src -exec ls -l {} +", "grep -rl x src | wc -l"]
    {
        assert_eq!(place.level(line), Level::Allow, "{line}");
    }
}

#[test]
fn names_that_xargs_would_take_apart_are_told_from_plain_ones() {
    let place = place();
    let grep = "find . -name '*.rs' | xargs grep x";
    assert_eq!(place.level(grep), Level::Allow);
    for name in ["a b.rs", "it's.rs", "-f.rs", "a\\.rs", "a\nb.rs"] {
        fs::write(place.cwd.join("src").join(name), "x").unwrap();
        assert_eq!(place.level(grep), Level::Ask, "{name}");
        assert_eq!(place.level("find . -name '*.rs' -print0 | xargs -0 grep x"), Level::Allow, "{name}");
        assert_eq!(place.level("find . -name '*.rs' | xargs wc -l"), Level::Allow, "{name}");
        fs::remove_file(place.cwd.join("src").join(name)).unwrap();
    }
    fs::write(place.cwd.join("src/.env"), "x").unwrap();
    assert_eq!(place.level("find . -type f -exec grep x {} +"), Level::Ask);
    assert_eq!(place.level("find . -type f -exec ls -l {} +"), Level::Allow);
}
