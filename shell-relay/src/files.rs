//! Where the paths of a line really lead: the policy's eyes in the file system.

use std::{
    collections::VecDeque,
    ffi::OsStr,
    fs,
    os::unix::fs::MetadataExt,
    path::{Component, Path, PathBuf},
};

use crate::policy::{Files, Program, glob};

/// A pattern that matches more files is not judged file by file.
const MAX_TARGETS: usize = 1_000;
/// Names that are read to expand one pattern.
const MAX_PATTERN_NAMES: usize = 50_000;
/// Links on one path that are followed; the system itself follows no more.
const MAX_LINKS: usize = 40;
/// Names that are looked at in one search for a secret file; the nearest come first.
const MAX_SEARCH_NAMES: usize = 20_000;
/// Groups of the system, such as `staff`, may own folders of programs.
const FIRST_GROUP_OF_PEOPLE: u32 = 1_000;
/// Folders of what others have made: examples of keys there are nobody's secret.
const SKIPPED_FOLDERS: &[&str] = &[".git", "node_modules", "target", "vendor", ".venv", "venv", "testdata"];

/// More folders of PATH are not known.
const MAX_PROGRAM_FOLDERS: usize = 256;

/// The folders that `path`, a value of PATH, names, also by their real names: relative ones are left out.
#[must_use]
pub fn program_folders(path: &OsStr) -> Vec<PathBuf> {
    let named = std::env::split_paths(path).filter(|folder| folder.is_absolute()).take(MAX_PROGRAM_FOLDERS);
    let mut folders: Vec<PathBuf> =
        named.flat_map(|folder| [fs::canonicalize(&folder).ok(), Some(folder)]).flatten().collect();
    folders.sort();
    folders.dedup();
    folders
}

/// The file system of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct FileSystem;

impl Files for FileSystem {
    fn targets(&self, path: &Path) -> Option<Vec<PathBuf>> {
        Some(matched(path)?.iter().filter_map(|path| fs::canonicalize(path).ok()).collect())
    }

    fn landings(&self, path: &Path, follows_last: bool) -> Option<Vec<PathBuf>> {
        Some(matched(path)?.iter().map(|path| landing(path, follows_last)).collect())
    }

    fn find_below(&self, root: &Path, with_hidden: bool, is_wanted: &dyn Fn(&str) -> bool) -> Option<PathBuf> {
        let mut folders = VecDeque::from([root.to_owned()]);
        let mut names_left = MAX_SEARCH_NAMES;
        while let Some(folder) = folders.pop_front() {
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                names_left = names_left.checked_sub(1)?;
                let name = entry.file_name();
                let name = name.to_string_lossy();
                if name.starts_with('.') && !with_hidden {
                    continue;
                }
                // A link is not followed by what is judged here.
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() && !SKIPPED_FOLDERS.contains(&name.as_ref()) => {
                        folders.push_back(entry.path());
                    }
                    Ok(kind) if kind.is_file() && is_wanted(&name) => return Some(entry.path()),
                    _ => {}
                }
            }
        }
        None
    }

    fn matches(&self, path: &Path) -> Option<Vec<PathBuf>> {
        matched(path)
    }

    fn has_names_below(&self, root: &Path, is_odd: &dyn Fn(&str) -> bool) -> bool {
        entry_below(root, &|entry| is_odd(&entry.file_name().to_string_lossy())).is_some()
    }

    fn link_below(&self, root: &Path, is_wanted: &dyn Fn(&Path) -> bool) -> Option<PathBuf> {
        entry_below(root, &|entry| {
            entry.file_type().is_ok_and(|kind| kind.is_symlink())
                && fs::canonicalize(entry.path()).is_ok_and(|target| is_wanted(&target))
        })
    }

    fn program(&self, path: &Path) -> Option<Program> {
        let real = fs::canonicalize(path).ok()?;
        let file = fs::metadata(&real).ok().filter(|file| file.is_file() && file.mode() & 0o111 != 0)?;
        let me = rustix::process::geteuid().as_raw();
        let my_group = rustix::process::getegid().as_raw();
        let is_open_folder = |folder: &Path| {
            let folder = fs::metadata(folder);
            folder.is_ok_and(|folder| {
                let is_of_people = folder.gid() >= FIRST_GROUP_OF_PEOPLE && folder.gid() != my_group;
                folder.mode() & 0o002 != 0 || (folder.mode() & 0o020 != 0 && is_of_people)
            })
        };
        let is_open =
            file.mode() & 0o022 != 0 || [path, real.as_path()].into_iter().filter_map(Path::parent).any(is_open_folder);
        Some(Program { is_trusted: file.uid() == 0 || file.uid() == me, is_open, real })
    }
}

/// The paths that a pattern stands for, or the path itself.
fn matched(path: &Path) -> Option<Vec<PathBuf>> {
    let mut found = vec![PathBuf::from("/")];
    let mut names_left = MAX_PATTERN_NAMES;
    for component in path.components() {
        match component {
            Component::Normal(name) if has_wildcard(name) => found = expand(&found, name, &mut names_left)?,
            Component::Normal(name) => found.iter_mut().for_each(|path| path.push(name)),
            Component::ParentDir => found.iter_mut().for_each(|path| path.push("..")),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
    Some(found)
}

/// Where it leads to write `path`, which is absolute: links are followed as the system does it, and what is missing is taken as
/// it is called. Beyond [`MAX_LINKS`], where the system would give up, they are not followed any more.
fn landing(path: &Path, follows_last: bool) -> PathBuf {
    let names = |path: &Path| path.components().rev().map(|part| part.as_os_str().to_owned()).collect::<Vec<_>>();
    let mut place = PathBuf::from("/");
    // The next one is the last.
    let mut rest = names(path);
    let mut links_left = MAX_LINKS;
    while let Some(name) = rest.pop() {
        match Path::new(&name).components().next() {
            Some(Component::RootDir) => place = PathBuf::from("/"),
            Some(Component::ParentDir) => drop(place.pop()),
            Some(Component::Normal(_)) => place.push(&name),
            _ => continue,
        }
        let is_passed = !rest.is_empty() || follows_last;
        if is_passed
            && links_left > 0
            && let Ok(target) = fs::read_link(&place)
        {
            links_left -= 1;
            place.pop();
            rest.extend(names(&target));
        }
    }
    place
}

/// The first entry below `root` that `is_wanted`, or `root` where there are too many to look at. No link is followed.
fn entry_below(root: &Path, is_wanted: &dyn Fn(&fs::DirEntry) -> bool) -> Option<PathBuf> {
    let mut folders = VecDeque::from([root.to_owned()]);
    let mut names_left = MAX_SEARCH_NAMES;
    while let Some(folder) = folders.pop_front() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            if names_left == 0 {
                return Some(root.to_owned());
            }
            names_left -= 1;
            if is_wanted(&entry) {
                return Some(entry.path());
            }
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push_back(entry.path());
            }
        }
    }
    None
}

fn has_wildcard(name: &OsStr) -> bool {
    name.as_encoded_bytes().iter().any(|byte| matches!(byte, b'*' | b'?'))
}

/// The entries of `folders` that match `pattern`, and one that is called just so.
fn expand(folders: &[PathBuf], pattern: &OsStr, names_left: &mut usize) -> Option<Vec<PathBuf>> {
    let pattern = pattern.to_string_lossy().to_lowercase();
    // With `globstar` it stands for folders of any depth.
    if pattern == "**" {
        return None;
    }
    let mut found = Vec::new();
    for folder in folders {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            *names_left = names_left.checked_sub(1)?;
            let name = entry.file_name();
            // With `nocaseglob` the shell does so, too.
            let text = name.to_string_lossy().to_lowercase();
            let is_hidden = text.starts_with('.') && !pattern.starts_with('.');
            if text == pattern || (!is_hidden && glob::matches(&text, &pattern)) {
                found.push(entry.path());
            }
        }
        if found.len() > MAX_TARGETS {
            return None;
        }
    }
    Some(found)
}

#[cfg(test)]
mod planted_tests;

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::policy::{Context, Level, assess_line};

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
        for line in
            ["cat plain", "cat a.txt", "cat missing", "ls *", "cat src/*", "cat ./src/../a.txt", "grep -r x src"]
        {
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
        for line in
            ["find src -type f -name '*.rs' -exec cat {} +", "find src -exec ls -l {} +", "grep -rl x src | wc -l"]
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
}
