//! Runs real command lines in sessions of several turns, and takes the last turns back.

use std::{collections::BTreeMap, fs, os::unix::fs::PermissionsExt, process::Command};

use proptest::prelude::*;

use super::*;

/// Lines of the assistant. All that they change is known beforehand.
const LINES: &[&str] = &[
    "rm -f a",
    "rm -rf d",
    "mv a b",
    "mv d e",
    "mv e d",
    "mv a d/",
    "mkdir -p d/deep && mv b d/deep/",
    "mv a x && mv x y",
    "mv b x && rm x",
    "cp -r d f",
    "echo new > a",
    "echo more >> d/g",
    "chmod 600 a b",
    "chmod -R o-r d",
    "touch -d 2001-01-01 a n",
    "ln -sf a l",
    "echo through > l",
    "sed -i s/o/0/ a b",
    "gzip -f b; rm -f z",
    "tar czf t.tgz d && rm -r d",
    "tar xzf t.tgz",
    "sort -o a a",
    "tee s < a",
    "git add -A",
    "git commit -qam x",
    "git commit -q --amend -m y",
    "git checkout -q other",
    "git checkout -q -f main",
    "git checkout -q -B fresh",
    "git checkout -- .",
    "git restore -s main .",
    "git reset -q --hard HEAD~1",
    "git reset -q",
    "git clean -qfd",
    "git clean -qfdx",
    "git stash -q -u",
    "git stash pop -q",
    "git stash drop -q",
    "git branch -q -D other",
    "git branch -q topic/one",
    "git tag v1",
    "git rm -q -f a",
    "git merge -q other",
    "git cherry-pick other",
];

struct Session {
    _folder: tempfile::TempDir,
    root: PathBuf,
    backups: Backups,
}

impl Session {
    fn new() -> Self {
        let memory = Path::new("/dev/shm");
        let folder = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
        let folder = folder.expect("a folder");
        let root = folder.path().canonicalize().expect("a path").join("work");
        fs::create_dir(&root).expect("made");
        let backups = Backups::at(&root.with_file_name("state"));
        let session = Self { _folder: folder, root, backups };
        session.sh(
            "git init -q -b main && mkdir d && echo one > a && echo two > b && echo three > d/g && echo '*.tgz' > .gitignore &&
             git add -A && git commit -qm 1 && git checkout -q -b other && echo other > b && git mv a c && git commit -qam 2 &&
             git checkout -q main && echo four > d/g && git commit -qam 3",
        );
        session
    }

    /// The output of a line; it may fail.
    fn sh(&self, line: &str) -> String {
        let mut command = Command::new("sh");
        command.args(["-c", line]).current_dir(&self.root).env("HOME", &self.root).env("GIT_CONFIG_NOSYSTEM", "1");
        for who in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{who}_NAME"), "x").env(format!("GIT_{who}_EMAIL"), "x@x");
        }
        String::from_utf8_lossy(&command.output().expect("it runs").stdout).into_owned()
    }

    fn runs(&self, turn: &str, line: &str) {
        let kept = KeptTurn {
            backups: self.backups.clone(),
            session: "s".into(),
            turn: turn.into(),
            question: "a question".into(),
            home: self.root.clone(),
            shell: Shell::Bash,
            lock: None,
        };
        let pending = kept.keep_for_command(line, &self.root).expect("kept");
        self.sh(line);
        if let Some(pending) = pending {
            self.backups.command_ended("s", turn, &pending).expect("noted");
        }
    }

    /// All that is there, and what git says of the repository.
    fn state(&self) -> BTreeMap<String, String> {
        let mut found = BTreeMap::new();
        let mut folders = vec![self.root.clone()];
        while let Some(folder) = folders.pop() {
            for path in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
                let metadata = path.symlink_metadata().expect("it is there");
                let content = if metadata.is_symlink() {
                    fs::read_link(&path).expect("a link").display().to_string()
                } else if metadata.is_dir() {
                    if path.ends_with(".git") {
                        continue;
                    }
                    folders.push(path.clone());
                    // Git may have made it anew, with usual permissions.
                    found.insert(path.display().to_string(), "a folder".to_owned());
                    continue;
                } else {
                    format!("{:?}", fs::read(&path).expect("content"))
                };
                let mode = metadata.permissions().mode();
                found.insert(path.display().to_string(), format!("{mode:o} {content}"));
            }
        }
        for line in ["git status --porcelain", "git symbolic-ref HEAD", "git for-each-ref", "git stash list"] {
            found.insert(line.to_owned(), self.sh(line));
        }
        found
    }
}

/// Runs the lines of each turn, then takes the turns back, the last first: each time all is as it was, or a refusal names why.
fn takes_back(turns: &[Vec<&str>]) -> Result<(), TestCaseError> {
    let session = Session::new();
    let mut moments = Vec::new();
    for (number, lines) in turns.iter().enumerate() {
        moments.push(session.state());
        lines.iter().for_each(|line| session.runs(&format!("t{number}"), line));
    }
    for (number, wanted) in moments.iter().enumerate().rev() {
        let restored = session.backups.restore(Some(&format!("t{number}"))).expect("read");
        let told = format!("{restored:#?}");
        if told.contains("Refused") || told.contains("uncovered: [\n") || told.contains("left_out: [\n") {
            break;
        }
        let found = session.state();
        for name in wanted.keys().chain(found.keys()) {
            let (wanted, found) = (wanted.get(name), found.get(name));
            prop_assert!(wanted == found, "{name} before turn {number}: {wanted:?} is {found:?}; {told}");
        }
    }
    Ok(())
}

/// The folder that `mkdir -p` made was removed by a later line of the turn: it comes back for what was in it, and goes again.
#[test]
fn a_folder_that_was_made_and_removed_in_one_turn_is_gone_before_it() {
    let packed = "tar czf t.tgz d && rm -r d";
    for removes in [packed, "git clean -qfd"] {
        takes_back(&[vec![packed], vec!["mkdir -p d/deep && mv b d/deep/", removes]]).unwrap();
    }
}

/// `mv` keeps the time of a file: what the index of git notes about `b` fits `a`, too, but for the inode.
#[test]
fn a_file_of_the_same_size_and_time_that_was_moved_over_another_is_a_change_to_git() {
    let session = Session::new();
    session.sh("touch -d '2001-01-01 00:00:00' a b && git update-index --refresh && mv a b");
    let wanted = fs::read(session.root.join("b")).expect("read");
    session.runs("t0", "git checkout -- .");
    session.backups.restore(Some("t0")).expect("read");
    assert_eq!(fs::read(session.root.join("b")).expect("read"), wanted);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, max_shrink_iters: 60, failure_persistence: None, ..ProptestConfig::default() })]
    /// After a rewind files, permissions and repository are as they were, or a refusal names why.
    #[test]
    fn real_lines_are_taken_back_or_a_refusal_says_why(
        turns in prop::collection::vec(prop::collection::vec(prop::sample::select(LINES), 1..4), 1..4),
    ) {
        takes_back(&turns)?;
    }
}
