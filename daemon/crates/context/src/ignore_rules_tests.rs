use std::fs;

use super::*;

struct Place {
    _folder: tempfile::TempDir,
    root: PathBuf,
    rules: IgnoreRules,
}

fn place() -> Place {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let rules = IgnoreRules::new(root.clone(), root.join("config/ignore"));
    for path in ["config", "app/src/deep", "app/private", "app/src/private"] {
        fs::create_dir_all(root.join(path)).unwrap();
    }
    Place { _folder: folder, root, rules }
}

impl Place {
    fn write(&self, path: &str, text: &str) {
        fs::write(self.root.join(path), text).unwrap();
    }

    /// The file and line that keep a path, below the root.
    fn kept(&self, path: &str) -> Option<String> {
        let by = self.rules.kept_by(&self.root.join(path))?;
        let file = by.file.strip_prefix(&self.root).unwrap().display().to_string();
        Some(format!("{file}:{}", by.line.map_or("?".to_owned(), |line| line.to_string())))
    }
}

#[test]
fn lines_mean_what_they_mean_in_gitignore() {
    let place = place();
    place.write("app/.cohabignore", "# keys\n\n*.pem\n/private/\nnotes/*.txt  \n!open.pem\n");
    for (path, by) in [
        ("app/a.pem", Some("app/.cohabignore:3")),
        ("app/src/deep/a.pem", Some("app/.cohabignore:3")),
        ("app/open.pem", None),
        ("app/private", Some("app/.cohabignore:4")),
        ("app/private/any/file", Some("app/.cohabignore:4")),
        ("app/src/private/file", None),
        ("app/notes/a.txt", Some("app/.cohabignore:5")),
        ("a.pem", None),
    ] {
        assert_eq!(place.kept(path).as_deref(), by, "{path}");
    }
    let by = place.rules.kept_by(&place.root.join("app/a.pem")).unwrap().to_string();
    assert_eq!(by, format!("is kept from the assistant by {}/app/.cohabignore:3", place.root.display()));
}

#[test]
fn a_nested_file_keeps_more_and_opens_nothing() {
    let place = place();
    place.write("app/.cohabignore", "*.csv\n");
    place.write("app/src/.cohabignore", "!open.csv\nlocal\n");
    assert_eq!(place.kept("app/src/open.csv").as_deref(), Some("app/.cohabignore:1"));
    assert_eq!(place.kept("app/src/deep/local").as_deref(), Some("app/src/.cohabignore:2"));
    assert_eq!(place.kept("app/local"), None);
    place.write("config/ignore", "*.key\n~/app/private\n");
    assert_eq!(place.kept("app/src/a.key").as_deref(), Some("config/ignore:1"));
    assert_eq!(place.kept("app/private/x").as_deref(), Some("config/ignore:2"));
    assert_eq!(place.kept("app/src/private/x"), None);
}

#[test]
fn a_file_that_cannot_be_used_keeps_its_folder() {
    let place = place();
    place.write("app/src/.cohabignore", "ok\n[z-a]\n");
    assert_eq!(place.kept("app/src/deep/x").as_deref(), Some("app/src/.cohabignore:?"));
    assert_eq!(place.kept("app/x"), None);
    let told = place.rules.kept_by(&place.root.join("app/src/x")).unwrap().to_string();
    assert!(told.contains("which cannot be used: line 2 is no pattern"), "{told}");
    place.write("app/src/.cohabignore", &"x\n".repeat(MAX_BYTES as usize));
    assert_eq!(place.kept("app/src/x").as_deref(), Some("app/src/.cohabignore:?"));
    fs::remove_file(place.root.join("app/src/.cohabignore")).unwrap();
    let pipe = place.root.join("app/src/.cohabignore");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR, 0).unwrap();
    assert_eq!(place.kept("app/src/x").as_deref(), Some("app/src/.cohabignore:?"), "nothing waits for a pipe");
}

#[test]
fn a_walk_reads_each_file_of_rules_once() {
    let place = place();
    place.write("app/.cohabignore", "*.pem\n");
    let checker = place.rules.checker();
    assert!(checker.kept_by(&place.root.join("app/src/a.pem"), false).is_some());
    place.write("app/.cohabignore", "");
    assert!(checker.kept_by(&place.root.join("app/src/b.pem"), false).is_some());
    assert!(place.rules.kept_by(&place.root.join("app/src/b.pem")).is_none(), "the next look sees the change");
}

#[test]
fn an_own_file_may_be_a_link_and_takes_back_what_it_keeps_at_home() {
    let place = place();
    place.write("app/rules", "~/app/*.pem\n!~/app/open.pem\n");
    std::os::unix::fs::symlink(place.root.join("app/rules"), place.root.join("config/ignore")).unwrap();
    assert_eq!(place.kept("app/a.pem").as_deref(), Some("app/rules:1"));
    assert_eq!(place.kept("app/open.pem"), None);
    assert_eq!(place.kept("other"), None);
}

#[test]
fn signs_in_the_name_of_the_home_are_no_pattern() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().canonicalize().unwrap().join("me[1]*");
    fs::create_dir_all(home.join("keys")).unwrap();
    fs::write(home.join("ignore"), "~/keys\n").unwrap();
    let rules = IgnoreRules::new(home.clone(), home.join("ignore"));
    assert!(rules.kept_by(&home.join("keys")).is_some_and(|by| by.line == Some(1)));
    assert!(rules.kept_by(&home.join("other")).is_none());
}

#[test]
fn rules_far_above_a_file_count() {
    let place = place();
    place.write("app/.cohabignore", "*.pem\n");
    let deep = (0..100).fold(place.root.join("app"), |path, _| path.join("d"));
    assert!(place.rules.kept_by(&deep.join("a.pem")).is_some());
}
