use std::os::unix::fs::symlink;

use super::*;

const CONFIG: &str = "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = git@host:x\n";

struct Repository {
    root: tempfile::TempDir,
    files: GitFiles,
}

impl Repository {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join(".git/hooks")).unwrap();
        fs::write(root.path().join(".git/config"), CONFIG).unwrap();
        fs::write(root.path().join(".git/hooks/pre-commit"), "mine\n").unwrap();
        let files = GitFiles::of(root.path()).unwrap();
        Self { root, files }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(".git").join(name)
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }
}

#[test]
fn hooks_that_were_made_changed_or_removed_are_taken_back() {
    let repository = Repository::new();
    fs::write(repository.path("hooks/post-checkout"), "evil\n").unwrap();
    fs::write(repository.path("hooks/pre-commit"), "evil\n").unwrap();
    assert_eq!(repository.files.take_back(), [".git/hooks/post-checkout", ".git/hooks/pre-commit"]);
    assert!(!repository.path("hooks/post-checkout").exists());
    fs::remove_dir_all(repository.path("hooks")).unwrap();
    assert_eq!(repository.files.take_back(), [".git/hooks/pre-commit"]);
    assert_eq!(repository.text("hooks/pre-commit"), "mine\n");
    assert_eq!(repository.files.take_back(), [""; 0]);
}

#[test]
fn settings_that_may_name_a_program_are_taken_back_and_others_stay() {
    let repository = Repository::new();
    for harmless in [
        "[branch \"a\"]\n\tremote = origin\n\tmerge = refs/heads/a\n",
        "[remote \"fork\"]\n\turl = git@host:y\n\tfetch = +refs/heads/*:refs/remotes/fork/*\n",
        "[user]\n\tname = Ann\n",
    ] {
        fs::write(repository.path("config"), format!("{CONFIG}{harmless}")).unwrap();
        assert_eq!(repository.files.take_back(), [""; 0], "{harmless}");
        assert!(repository.text("config").ends_with(harmless));
    }
    for harmful in [
        "[core]\n\thooksPath = /tmp/x\n",
        "[core] fsmonitor = ./x\n",
        "[CORE]\n\tSSHCOMMAND = x\n",
        "[alias]\n\tx = !sh\n",
        "[filter \"a\"]\n\tclean = sh\n",
        "[include]\n\tpath = ../x\n",
        "[pager]\n\tlog = a \\\n[branch \"m\"]\n\tmerge = sh\n",
        "[remote \"origin\"]\n\tuploadpack = sh\n",
        "nonsense\n",
        "[branch \"a]\"] x = \"\n",
    ] {
        fs::write(repository.path("config"), format!("{CONFIG}{harmful}")).unwrap();
        assert_eq!(repository.files.take_back(), [".git/config"], "{harmful}");
        assert_eq!(repository.text("config"), CONFIG);
    }
    fs::write(repository.path("config"), b"\xff").unwrap();
    assert_eq!(repository.files.take_back(), [".git/config"]);
}

#[test]
fn links_are_replaced_and_never_written_through() {
    let repository = Repository::new();
    let outside = repository.root.path().join("outside");
    fs::write(&outside, "kept").unwrap();
    for name in ["config", "hooks/pre-commit", "info/attributes"] {
        let path = repository.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let _ = fs::remove_file(&path);
        symlink(&outside, &path).unwrap();
    }
    assert_eq!(repository.files.take_back().len(), 3);
    assert_eq!((repository.text("config").as_str(), fs::read_to_string(&outside).unwrap().as_str()), (CONFIG, "kept"));
    assert!(!repository.path("info/attributes").exists());
}

#[test]
fn what_is_no_repository_or_lies_elsewhere_is_left_alone() {
    let root = tempfile::tempdir().unwrap();
    assert!(GitFiles::of(root.path()).is_none());
    fs::write(root.path().join(".git"), "gitdir: /elsewhere\n").unwrap();
    assert!(GitFiles::of(root.path()).is_none());
}

proptest::proptest! {
    #[test]
    fn any_settings_are_read(text in "[ -~\\n]{0,200}") {
        let _ = entries(&text);
    }
}
