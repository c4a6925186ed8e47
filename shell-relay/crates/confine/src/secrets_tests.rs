use std::{fs, os::unix::fs::symlink};

use super::*;

const PLACES: Places<'_> = Places {
    in_homes: &[".ssh", ".config/gh", ".config/*/token", ".docker/config.json"],
    from_root: &[&["etc/cohab-test-none", "proc/*/environ"]],
    names: &[&[".env", ".env.*", "*.pem"], &["client_secret*.json"]],
    plain_names: &[".env.example", "*.pub"],
};

struct Disk(tempfile::TempDir);

impl Disk {
    fn with(files: &[&str]) -> Self {
        let disk = Self(tempfile::tempdir().unwrap());
        for file in files {
            let path = disk.path(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        disk
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().canonicalize().unwrap().join(name)
    }

    /// The secrets found from this folder on.
    fn found(&self, cwd: &str) -> Vec<String> {
        let surroundings = Surroundings { homes: vec![self.path("home")], cwd: self.path(cwd) };
        let found = find(PLACES, &surroundings, &mut Folders::default());
        let inside = |path: &PathBuf| Some(path.strip_prefix(self.path("")).ok()?.display().to_string());
        found.iter().filter_map(inside).collect()
    }
}

#[test]
fn places_of_a_home_are_found_as_far_as_they_exist() {
    let disk = Disk::with(&["home/.ssh/id", "home/.config/gh/hosts", "home/.config/x/token", "home/.docker/other"]);
    assert_eq!(disk.found("home"), ["home/.config/gh", "home/.config/x/token", "home/.ssh"]);
}

#[test]
fn a_link_is_found_where_it_leads() {
    let disk = Disk::with(&["dots/ssh/id", "dots/config/gh/hosts", "home/x", "dots/env", "home/app/y"]);
    symlink(disk.path("dots/ssh"), disk.path("home/.ssh")).unwrap();
    symlink(disk.path("dots/config"), disk.path("home/.config")).unwrap();
    symlink(disk.path("dots/env"), disk.path("home/app/.env")).unwrap();
    symlink(disk.path("nowhere"), disk.path("home/.docker")).unwrap();
    assert_eq!(disk.found("home/app"), ["dots/config/gh", "dots/env", "dots/ssh"]);
}

#[test]
fn names_are_found_above_and_near_below_the_working_folder() {
    let files = ["home/a/.env", "home/a/b/c/key.pem", "home/a/b/.env.example", "home/a/b/id.pub", "home/z/.env"];
    let disk = Disk::with(&files);
    assert_eq!(disk.found("home/a/b"), ["home/a/.env", "home/a/b/c/key.pem"]);
    fs::create_dir_all(disk.path("home/a/b/node_modules")).unwrap();
    fs::write(disk.path("home/a/b/node_modules/.env"), "x").unwrap();
    fs::create_dir(disk.path("home/a/b/.env")).unwrap();
    assert_eq!(disk.found("home/a/b").len(), 2, "a folder is no file of variables");
}

#[test]
fn a_copy_of_a_home_is_one_where_the_working_folder_is_in_it() {
    let disk = Disk::with(&["backup/me/.ssh/id", "backup/me/work/x", "home/x"]);
    assert_eq!(disk.found("backup/me/work"), ["backup/me/.ssh"]);
}

#[test]
fn patterns_fit_whole_names() {
    for (name, pattern, expected) in [
        ("a.pem", "*.pem", true),
        ("a.pem.bak", "*.pem", false),
        (".env.local", ".env.*", true),
        ("ssh_host_rsa_key", "ssh_host_*_key", true),
        ("client_secret_1.json", "client_secret*.json", true),
        ("abc", "a?c", true),
        ("ac", "a?c", false),
        ("", "*", true),
    ] {
        assert_eq!(is_like(OsStr::new(name), pattern), expected, "{name} {pattern}");
    }
}
