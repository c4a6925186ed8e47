use std::os::unix::fs::{PermissionsExt, symlink};

use cohab_shell_state::shell::Shell;

use super::*;

fn rule(line: &str) -> Rule {
    Rule::of(line, None, Shell::Bash).unwrap()
}

fn folder() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("cohab/rules.toml");
    (dir, path)
}

fn allows(file: &RulesFile, line: &str) -> bool {
    file.loaded().rules.find(line, Path::new("/"), Shell::Bash).is_some()
}

#[test]
fn a_stored_rule_holds_also_for_another_reader_and_only_we_can_write_it() {
    let (_dir, path) = folder();
    let (writer, reader) = (RulesFile::new(path.clone()), RulesFile::new(path.clone()));
    assert!(!allows(&reader, "cargo test"));
    writer.add(&[rule("cargo test")]).unwrap();
    assert!(allows(&reader, "cargo test") && allows(&writer, "cargo test"));
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    writer.add(&[rule("cargo test")]).unwrap();
    assert_eq!(reader.loaded().rules.all().len(), 1);
    let left: Vec<_> = fs::read_dir(path.parent().unwrap()).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
}

#[test]
fn days_are_counted_as_in_the_calendar() {
    for (days, day) in
        [(0, "1970-01-01"), (59, "1970-03-01"), (11_016, "2000-02-29"), (19_782, "2024-02-29"), (20_818, "2026-12-31")]
    {
        assert_eq!(day_of(days), day);
    }
}

#[test]
fn a_removed_rule_and_a_removed_file_hold_no_more() {
    let (_dir, path) = folder();
    let file = RulesFile::new(path.clone());
    file.add(&[rule("cargo test")]).unwrap();
    file.add(&[rule("cargo build")]).unwrap();
    assert_eq!(file.remove(1).unwrap(), rule("cargo test"));
    assert!(!allows(&file, "cargo test") && allows(&file, "cargo build"));
    assert!(file.remove(2).is_err());
    fs::remove_file(&path).unwrap();
    assert!(!allows(&file, "cargo build"));
}

#[test]
fn a_file_that_others_can_write_holds_nothing_and_is_not_written() {
    let (_dir, path) = folder();
    let file = RulesFile::new(path.clone());
    file.add(&[rule("cargo test")]).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o620)).unwrap();
    assert!(!allows(&file, "cargo test"));
    assert!(file.loaded().refused[0].reason.contains("others can write it"));
    assert!(matches!(file.add(&[rule("cargo build")]), Err(StoreError::NotOurs(_))));
}

#[test]
fn what_is_no_file_or_no_toml_holds_nothing_and_stays_as_it_is() {
    let (_dir, path) = folder();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let file = RulesFile::new(path.clone());
    fs::write(&path, "[[rule\nx").unwrap();
    assert!(file.loaded().rules.all().is_empty() && file.loaded().refused.len() == 1);
    assert!(file.add(&[rule("cargo test")]).is_err());
    assert_eq!(fs::read_to_string(&path).unwrap(), "[[rule\nx");
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert!(file.loaded().rules.all().is_empty());
    assert!(file.add(&[rule("cargo test")]).is_err());
}

#[test]
fn a_link_to_the_users_dotfiles_stays_one() {
    let (dir, path) = folder();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let real = dir.path().join("dotfiles.toml");
    fs::write(&real, "# mine\n").unwrap();
    symlink(&real, &path).unwrap();
    let file = RulesFile::new(path.clone());
    file.add(&[rule("cargo test")]).unwrap();
    assert!(fs::symlink_metadata(&path).unwrap().is_symlink());
    assert!(fs::read_to_string(&real).unwrap().starts_with("# mine\n"));
    assert!(allows(&file, "cargo test"));
}

#[test]
fn a_file_that_is_too_large_no_text_or_closed_makes_everything_asked() {
    let (_dir, path) = folder();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let file = RulesFile::new(path.clone());
    let allow = "[[rule]]\ndecision = \"allow\"\nargv = [\"make\"]\n";
    for (content, reason) in [
        ([allow.as_bytes(), &vec![b'#'; 10_000_000]].concat(), "too large"),
        ([allow.as_bytes(), b"# \xff\xfe\n"].concat(), "UTF-8"),
    ] {
        fs::write(&path, content).unwrap();
        let loaded = file.loaded();
        assert!(loaded.rules.all().is_empty());
        assert!(loaded.refused[0].may_tighten && loaded.refused[0].reason.contains(reason), "{:?}", loaded.refused);
    }
    fs::remove_file(&path).unwrap();
    symlink(&path, &path).unwrap();
    assert!(file.loaded().refused[0].may_tighten, "a link to itself cannot be read, and is there");
    fs::remove_file(&path).unwrap();
    assert_eq!(*file.loaded(), Loaded::default());
}
