use std::{
    fs::Permissions,
    os::unix::fs::{PermissionsExt, symlink},
};

use tempfile::TempDir;

use super::*;

struct Bench {
    root: TempDir,
}

impl Bench {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        for folder in ["home/app/src", "home/app-2", "open"] {
            fs::create_dir_all(root.path().join(folder)).unwrap();
            fs::set_permissions(root.path().join(folder), Permissions::from_mode(0o755)).unwrap();
        }
        fs::set_permissions(root.path().join("home/app"), Permissions::from_mode(0o755)).unwrap();
        Self { root }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().canonicalize().unwrap().join(name)
    }

    fn list(&self) -> TrustedFolders {
        TrustedFolders::new(self.path("state/trusted-folders"), self.path("home"))
    }
}

#[test]
fn a_folder_is_trusted_with_all_below_it_and_nothing_beside_it() {
    let bench = Bench::new();
    let list = bench.list();
    assert!(!list.covers(&bench.path("home/app")) && list.list().unwrap().is_empty());
    symlink(bench.path("home/app"), bench.path("link")).unwrap();
    assert_eq!(list.add(&bench.path("link")).unwrap(), bench.path("home/app"), "links are resolved");
    assert!(list.covers(&bench.path("home/app")) && list.covers(&bench.path("home/app/src")));
    assert!(!list.covers(&bench.path("home/app-2")) && !list.covers(&bench.path("home")));
    let mode = |name: &str| fs::metadata(bench.path(name)).unwrap().mode() & 0o777;
    assert_eq!((mode("state/trusted-folders"), mode("state")), (0o600, 0o700));
    list.add(&bench.path("home/app/src")).unwrap();
    assert_eq!(list.list().unwrap(), [bench.path("home/app")], "what is covered needs no line");
}

#[test]
fn trust_is_taken_back_where_it_was_given_also_when_the_folder_is_gone() {
    let bench = Bench::new();
    let list = bench.list();
    list.add(&bench.path("home/app")).unwrap();
    let covered = list.remove(&bench.path("home/app/src")).unwrap_err();
    assert!(covered.to_string().ends_with("home/app is trusted"), "{covered}");
    assert!(matches!(list.remove(&bench.path("home/app-2")), Err(TrustError::Unknown(_))));
    fs::remove_dir_all(bench.path("home/app")).unwrap();
    list.remove(&bench.path("home/app")).unwrap();
    assert!(list.list().unwrap().is_empty());
}

#[test]
fn what_would_cover_too_much_or_is_not_the_users_is_refused() {
    let bench = Bench::new();
    let list = bench.list();
    fs::set_permissions(bench.path("open"), Permissions::from_mode(0o777)).unwrap();
    fs::write(bench.path("file"), "").unwrap();
    for (path, reason) in [
        (PathBuf::from("/"), "the root folder"),
        (bench.path("home"), "it is your home"),
        (bench.path(""), "it contains your home folder"),
        (bench.path("open"), "other users can write"),
        (bench.path("file"), "not a folder"),
        (bench.path("gone"), "No such file"),
    ] {
        let error = list.add(&path).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    }
    assert!(!bench.path("state").exists());
}

#[test]
fn a_list_that_somebody_else_could_have_written_trusts_nothing() {
    let bench = Bench::new();
    let list = bench.list();
    list.add(&bench.path("home/app")).unwrap();
    let file = bench.path("state/trusted-folders");
    fs::set_permissions(&file, Permissions::from_mode(0o660)).unwrap();
    assert!(!list.covers(&bench.path("home/app")) && list.add(&bench.path("home/app-2")).is_err());
    fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
    assert!(list.covers(&bench.path("home/app")));
    fs::write(&file, format!("/\n{}\nrelative\n", bench.path("home").display())).unwrap();
    assert!(!list.covers(&bench.path("home/app")) && !list.covers(Path::new("/srv")), "lines that cannot be made");
    fs::remove_file(&file).unwrap();
    fs::write(bench.path("elsewhere"), format!("{}\n", bench.path("home/app").display())).unwrap();
    symlink(bench.path("elsewhere"), &file).unwrap();
    assert!(!list.covers(&bench.path("home/app")), "a link is not followed");
}
