//! Runs harmful lines for real that the policy allows unasked because a separate shell without write access runs them: each must change
//! nothing and show no secret.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::{fs::MetadataExt, process::CommandExt},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

use cohab_e2e::binaries::{is_installed, program};
use cohab_policy::{self, Context, Level, Lock};
use cohab_policy_io::files::FileSystem;
use cohab_sandbox::profile;
use cohab_shell_state::shell::Shell;
use rustix::process::{Pid, Signal, kill_process_group};

/// Tables of lines that do harm: shell, class, line.
const TABLES: &[&str] = &[
    include_str!("../../../shell-relay/crates/policy/src/tests/alone_attacks.tsv"),
    include_str!("../../../shell-relay/crates/policy/src/tests/confined.tsv"),
    include_str!("../../../shell-relay/crates/policy/src/tests/control_attacks.tsv"),
    include_str!("../../../shell-relay/crates/policy/src/tests/inline_code_attacks.tsv"),
    include_str!("../../../shell-relay/crates/policy/src/tests/control_unseen_harm.tsv"),
    include_str!("../../../shell-relay/crates/policy/src/tests/fifth_unseen_harm.tsv"),
    include_str!("../../../shell-relay/crates/policy/src/tests/sixth_unseen_harm.tsv"),
    include_str!("../../../shell-relay/crates/policy/src/tests/seventh_unseen_harm.tsv"),
    include_str!("../../../shell-relay/crates/policy/src/tests/eighth_unseen_changing.tsv"),
];
/// The text that no line may show.
const SECRET: &str = "hunter2-Tr0ub4dor";
/// Time limit of a line, as the relay has a longer one.
const LIMIT: Duration = Duration::from_millis(1500);
const WORKERS: usize = 4;

/// A home with secrets in the usual places, and a project with the files that the lines name.
struct Place {
    home: tempfile::TempDir,
    /// The folder for the shells' own files.
    own: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Self { home: tempfile::tempdir().expect("a home"), own: tempfile::tempdir().expect("a folder") };
        for (path, text) in [
            (".ssh/id_rsa", SECRET),
            (".netrc", SECRET),
            (".aws/credentials", SECRET),
            (".pgpass", SECRET),
            (".bash_history", SECRET),
            ("work/a.txt", "one\ntwo\n"),
            ("work/b.txt", "two\n"),
            ("work/data.csv", "a,b\n1,2\n"),
            ("work/notes.md", "# notes\n"),
            ("work/a", "b[$(touch made)]\n"),
            ("work/list", "../.ssh/id_rsa\n"),
            ("work/opts.txt", "--output=made\n"),
            ("work/in.txt", "b\na\n"),
            ("work/names.txt", "../.netrc\n"),
            ("work/main.py", "print(1)\n"),
            ("work/README.md", "read me\n"),
            ("work/script.sh", "#!/bin/sh\ntouch made\n"),
            ("work/src/x.c", "int x;\n"),
        ] {
            let path = place.home.path().join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            fs::write(path, text).expect("a file");
        }
        let git = |words: &[&str]| {
            let mut git = Command::new("git");
            git.args(words).current_dir(place.work()).env("HOME", place.home.path());
            git.env("GIT_CONFIG_NOSYSTEM", "1").stdout(Stdio::null()).stderr(Stdio::null());
            assert!(git.status().is_ok_and(|status| status.success()), "git {words:?}");
        };
        git(&["init", "-q"]);
        git(&["add", "-A"]);
        git(&["-c", "user.name=ann", "-c", "user.email=ann@example.org", "commit", "-qm", "first"]);
        place
    }

    fn work(&self) -> PathBuf {
        self.home.path().join("work")
    }

    /// Each file with the figures that show a change.
    fn tree(&self) -> BTreeMap<PathBuf, (u32, u64, i64, i64)> {
        let (mut found, mut waiting) = (BTreeMap::new(), vec![self.home.path().to_owned()]);
        while let Some(path) = waiting.pop() {
            let metadata = fs::symlink_metadata(&path).expect("a file");
            if metadata.is_dir() {
                waiting.extend(fs::read_dir(&path).expect("a folder").flatten().map(|entry| entry.path()));
            }
            let changed = (metadata.mode(), metadata.size(), metadata.mtime(), metadata.mtime_nsec());
            found.insert(path, changed);
        }
        found
    }

    /// The typed form of a line that a separate shell runs without a question, or of one whose programs are all locked.
    fn typed(&self, shell: Shell, class: &str, line: &str, launcher: &Path) -> Option<String> {
        let (cwd, home) = (self.work(), self.home.path());
        let context = Context::new(&cwd, home).in_shell(shell).with_files(&FileSystem);
        let context = Context { lock: Lock::new(launcher, None), ..context };
        if cohab_policy::assess_line(line, context).level > Level::Allow {
            return None;
        }
        let locked = cohab_policy::unasked(line, context).ok()?.locked?;
        (locked.contains(" --line ") || class == "confined").then_some(locked)
    }

    /// All that a line prints.
    fn run(&self, shell: Shell, typed: &str) -> String {
        let output = tempfile::tempfile().expect("a file");
        let mut command = Command::new(shell.name());
        command.args(if shell == Shell::Fish { &["--no-config", "-c"][..] } else { &["-c"] }).arg(typed);
        command.current_dir(self.work()).env_clear().env("HOME", self.home.path()).env("GITHUB_TOKEN", SECRET);
        command
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("TOKEN", SECRET)
            .env("AWS_SECRET_ACCESS_KEY", SECRET);
        // fish writes there in any case.
        for name in ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"] {
            command.env(name, self.own.path());
        }
        command
            .stdin(Stdio::null())
            .stdout(output.try_clone().expect("a file"))
            .stderr(output.try_clone().expect("a file"));
        let mut child = command.process_group(0).spawn().expect("a shell");
        let group = Pid::from_child(&child);
        let started = Instant::now();
        while started.elapsed() < LIMIT && child.try_wait().expect("a child").is_none() {
            thread::sleep(Duration::from_millis(2));
        }
        let _ = kill_process_group(group, Signal::KILL);
        let _ = child.wait();
        read_start(output)
    }
}

/// The output of an endless line can be long.
fn read_start(mut file: fs::File) -> String {
    use std::io::{Read, Seek};
    let mut text = Vec::new();
    file.rewind().and_then(|()| file.take(1 << 20).read_to_end(&mut text)).expect("what was printed");
    String::from_utf8_lossy(&text).into_owned()
}

#[test]
fn lines_that_a_shell_of_its_own_runs_unasked_change_nothing_and_show_no_secret() {
    if !profile::present().can_launch() {
        return;
    }
    let launcher = program("cohab-confine");
    let rows = TABLES.iter().flat_map(|table| table.lines()).filter(|row| !row.starts_with("## "));
    let rows: Vec<&str> = rows.collect();
    let (next, ran) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || {
        let (mut failed, mut place) = (Vec::new(), Place::new());
        let mut before = place.tree();
        while let Some(row) = rows.get(next.fetch_add(1, Ordering::Relaxed)) {
            let mut parts = row.splitn(3, '\t');
            let mut next = || parts.next().expect("a shell, a class and a line");
            let (name, class, line) = (next(), next(), next());
            let shell = Shell::of(Path::new(name));
            let Some(typed) =
                Some(name).filter(|name| is_installed(name)).and_then(|_| place.typed(shell, class, line, &launcher))
            else {
                continue;
            };
            ran.fetch_add(1, Ordering::Relaxed);
            let shown = place.run(shell, &typed);
            let is_changed = place.tree() != before;
            if is_changed || shown.contains(SECRET) {
                failed.push(format!("{row}\n    changed: {is_changed}, shown: {shown:.200}"));
            }
            if is_changed {
                place = Place::new();
                before = place.tree();
            }
        }
        failed
    };
    let failed: Vec<String> = thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("no panic")).collect()
    });
    let ran = ran.into_inner();
    assert!(failed.is_empty(), "{} of {ran}:\n{}", failed.len(), failed.join("\n"));
    assert!(ran >= 200, "{ran}");
}
