//! A home is a user's world for one test: home folder, settings and environment, with nothing of the real user's.

use std::{
    collections::BTreeMap,
    fs,
    io::Write as _,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    sync::mpsc::{RecvTimeoutError, channel},
    thread,
};

use cohab_protocol::Paths;
use portable_pty::CommandBuilder;
use rustix::{
    fs::Mode,
    process::{Pid, Signal, kill_process, test_kill_process, umask},
};
use tempfile::TempDir;

use crate::{
    ModelServer, binaries,
    deadline::{deadline, eventually},
};

/// The prompt of a fresh home.
pub const PROMPT: &str = "ready$ ";

/// The key that tests configure; no log, screen or frame may show it.
pub const API_KEY: &str = "sk-test-1f2e3d4c5b6a79880716253443526170";

/// A home folder with its environment. The daemon that was started in it is killed when this is dropped.
pub struct Home {
    folder: TempDir,
    environment: BTreeMap<String, String>,
    pub(crate) prompt: String,
}

impl Default for Home {
    fn default() -> Self {
        Self::new()
    }
}

/// The plain prompt in fish.
const FISH_RC: &str = "set -g fish_greeting
function fish_prompt; printf 'ready$ '; end
function fish_right_prompt; end
function fish_title; end
set -g fish_autosuggestion_enabled 0
";

impl Home {
    /// A home with a plain one-line prompt and no model.
    ///
    /// # Panics
    /// If the temporary folder cannot be written.
    #[must_use]
    pub fn new() -> Self {
        // The report of a changed mask names the one before.
        umask(Mode::from_raw_mode(0o022));
        // The short name leaves room for the socket's path.
        let folder = tempfile::Builder::new().prefix("ce-").tempdir().expect("a temporary folder");
        let root = fs::canonicalize(folder.path()).expect("a fresh folder has a path");
        fs::create_dir(root.join("home")).expect("a fresh folder is writable");
        fs::create_dir(root.join("cohab")).expect("a fresh folder is writable");
        fs::create_dir(root.join("tmp")).expect("a fresh folder is writable");
        fs::set_permissions(root.join("cohab"), fs::Permissions::from_mode(0o700)).expect("it is ours");
        let path = std::env::var("PATH").unwrap_or_else(|_| "/usr/local/bin:/usr/bin:/bin".into());
        let environment = [
            ("HOME", root.join("home").display().to_string()),
            ("COHAB_HOME", root.join("cohab").display().to_string()),
            // Files that a killed daemon leaves there are removed with the home.
            ("TMPDIR", root.join("tmp").display().to_string()),
            ("PATH", path),
            ("SHELL", "/bin/bash".into()),
            ("TERM", "xterm-256color".into()),
            ("LANG", "C.UTF-8".into()),
            ("USER", "tester".into()),
            // The tests look into our processes, to find those of a home.
            ("COHAB_ALLOW_DEBUG", "1".into()),
            ("HISTFILE", root.join("home/.bash_history").display().to_string()),
        ];
        let environment = environment.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let home = Self { folder, environment, prompt: PROMPT.into() };
        // The first three starts are over.
        let state_dir = home.paths().state_dir;
        write_file(&state_dir.join("greetings"), "3\n");
        fs::set_permissions(&state_dir, fs::Permissions::from_mode(0o700)).expect("it is ours");
        home.write(".bashrc", &format!("PS1='{PROMPT}'\n"));
        home
    }

    /// A home whose model is this server.
    #[must_use]
    pub fn with_model(server: &ModelServer) -> Self {
        let chosen = Self::model_variables(server);
        chosen.into_iter().fold(Self::new(), |home, (name, value)| home.env(name, &value))
    }

    /// The variables that choose this server's model.
    #[must_use]
    pub fn model_variables(server: &ModelServer) -> [(&'static str, String); 4] {
        [
            ("COHAB_PROVIDER", server.wire().provider().to_owned()),
            ("COHAB_BASE_URL", server.base_url()),
            ("COHAB_API_KEY", API_KEY.to_owned()),
            ("COHAB_MODEL", "scripted-model".to_owned()),
        ]
    }

    /// Sets a variable in the environment of every process that is started here.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.environment.insert(name.into(), value.into());
        self
    }

    /// Removes a variable.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.environment.remove(name);
        self
    }

    /// Another prompt: what `PS1` is set to, and its last line as it looks on the screen.
    #[must_use]
    pub fn prompt(mut self, ps1: &str, last_line: &str) -> Self {
        self.write(".bashrc", &format!("PS1='{ps1}'\n"));
        self.prompt = last_line.into();
        self
    }

    /// Another shell of the user's, `zsh` or `fish`, with the same prompt.
    #[must_use]
    pub fn shell(self, name: &str) -> Self {
        self.write(".zshrc", &format!("PS1='{PROMPT}'\n"));
        self.write(".config/fish/config.fish", FISH_RC);
        // At its first start in a new home fish 3 has python read all manuals, in the background.
        self.write(".local/share/fish/generated_completions/.keep", "");
        self.env("SHELL", &format!("/usr/bin/{name}"))
    }

    /// More lines for `.bashrc`.
    #[must_use]
    pub fn rc(self, lines: &str) -> Self {
        let rc = fs::read_to_string(self.path(".bashrc")).unwrap_or_default();
        self.write(".bashrc", &format!("{rc}{lines}\n"));
        self
    }

    /// The user's home folder, or something in it.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        Path::new(&self.environment["HOME"]).join(name)
    }

    /// The paths of cohab in this home.
    #[must_use]
    pub fn paths(&self) -> Paths {
        let uid = rustix::process::getuid().as_raw();
        Paths::new(|name| self.environment.get(name).map(PathBuf::from), uid)
    }

    /// Writes a file in the home folder, with the folders above it.
    ///
    /// # Panics
    /// If it cannot be written.
    pub fn write(&self, name: &str, text: &str) {
        write_file(&self.path(name), text);
    }

    /// Writes the settings file.
    ///
    /// # Panics
    /// If it cannot be written.
    pub fn write_config(&self, text: &str) {
        let path = self.paths().config_file();
        write_file(&path, text);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("it is ours");
    }

    /// Commands without a live shell may write in the home, which is no project and next to one of cohab's folders.
    pub fn open_sandbox(&self) {
        self.write_config("[sandbox]\nprofile = \"full\"\n");
    }

    /// A program for a terminal, in this environment and in the home folder.
    #[must_use]
    pub fn in_terminal(&self, program: impl AsRef<std::ffi::OsStr>, arguments: &[&str]) -> CommandBuilder {
        let mut command = CommandBuilder::new(program);
        command.args(arguments);
        command.env_clear();
        for (name, value) in &self.environment {
            command.env(name, value);
        }
        command.cwd(&self.environment["HOME"]);
        command
    }

    /// The same, as a process with pipes. Its stdin is empty.
    #[must_use]
    pub fn process(&self, program: impl AsRef<std::ffi::OsStr>, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).env_clear().envs(&self.environment).current_dir(&self.environment["HOME"]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// `cohab` with arguments, as a process.
    #[must_use]
    pub fn cohab_process(&self, arguments: &[&str]) -> Command {
        self.process(binaries::program("cohab"), arguments)
    }

    /// Runs `cohab` with arguments to its end, with empty input.
    ///
    /// # Panics
    /// If it does not start, or does not end in time.
    #[must_use]
    pub fn run(&self, arguments: &[&str]) -> Finished {
        self.finish(self.cohab_process(arguments).spawn().expect("cohab starts"))
    }

    /// The same with this input.
    ///
    /// # Panics
    /// As [`run`](Self::run), or if the input is not taken.
    #[must_use]
    pub fn run_with_input(&self, arguments: &[&str], input: &str) -> Finished {
        let mut child = self.cohab_process(arguments).stdin(Stdio::piped()).spawn().expect("cohab starts");
        child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("it reads its input");
        self.finish(child)
    }

    /// Waits for the end of a process and of its output.
    ///
    /// # Panics
    /// If it does not end in time, or leaves its output open in the hands of a daemon.
    #[must_use]
    pub fn finish(&self, child: Child) -> Finished {
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let cohab_home = self.environment["COHAB_HOME"].clone();
        let (done, is_done) = channel::<()>();
        let watch = thread::spawn(move || {
            let is_late = is_done.recv_timeout(deadline() * 2) == Err(RecvTimeoutError::Timeout);
            if is_late {
                // Both may hold the pipes that are read to their ends below.
                pid.into_iter().chain(daemons_of(&cohab_home)).for_each(kill_and_wait);
            }
            is_late
        });
        let finished = Finished::from(child.wait_with_output().expect("its pipes can be read"));
        drop(done);
        let is_late = watch.join().expect("the watch does not panic");
        assert!(!is_late, "it did not end, or left its output open to the daemon: {finished:?}");
        finished
    }

    /// Process ids of the daemons that serve this home: those with its `COHAB_HOME` in their environment.
    #[must_use]
    pub fn daemon_pids(&self) -> Vec<Pid> {
        daemons_of(&self.environment["COHAB_HOME"])
    }

    /// Kills the daemon without warning, and waits until it is gone.
    ///
    /// # Panics
    /// If there is no daemon, or it does not die.
    pub fn kill_daemon(&self) {
        let pids = self.daemon_pids();
        assert!(!pids.is_empty(), "no daemon runs");
        for pid in pids {
            kill_and_wait(pid);
        }
    }

    /// Everything the daemon wrote to its log files.
    #[must_use]
    pub fn daemon_log(&self) -> String {
        let files = fs::read_dir(self.paths().log_dir()).into_iter().flatten().flatten();
        let mut paths: Vec<_> = files.map(|entry| entry.path()).collect();
        paths.sort();
        paths.iter().map(|path| String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned()).collect()
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        self.daemon_pids().into_iter().for_each(kill_and_wait);
        if thread::panicking() && std::env::var_os("COHAB_KEEP_HOME").is_some() {
            self.folder.disable_cleanup(true);
        }
    }
}

/// The result of a process.
#[derive(Clone, Debug)]
pub struct Finished {
    /// Its exit status; absent if a signal ended it.
    pub status: Option<i32>,
    /// Its stdout.
    pub stdout: String,
    /// Its stderr.
    pub stderr: String,
}

impl From<Output> for Finished {
    fn from(output: Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self { status: output.status.code(), stdout: text(&output.stdout), stderr: text(&output.stderr) }
    }
}

fn daemons_of(cohab_home: &str) -> Vec<Pid> {
    let marker = format!("COHAB_HOME={cohab_home}");
    let is_ours = |folder: &Path| {
        let name = fs::read_to_string(folder.join("comm")).unwrap_or_default();
        let environment = fs::read(folder.join("environ")).unwrap_or_default();
        name.trim_end() == "cohabd" && environment.split(|byte| *byte == 0).any(|entry| entry == marker.as_bytes())
    };
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let folders = processes.map(|entry| entry.path()).filter(|folder| is_ours(folder));
    let pid = |folder: PathBuf| folder.file_name()?.to_str()?.parse().ok().and_then(Pid::from_raw);
    folders.filter_map(pid).collect()
}

fn write_file(path: &Path, text: &str) {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).expect("the folder can be made");
    }
    fs::write(path, text).expect("the file can be written");
}

fn kill_and_wait(pid: Pid) {
    let _ = kill_process(pid, Signal::KILL);
    eventually("the end of a killed process", || test_kill_process(pid).is_err() || is_zombie(pid));
}

/// Dead, but not yet waited for. The first thread may be so while another one still holds the sockets.
fn is_zombie(pid: Pid) -> bool {
    let process = format!("/proc/{}", pid.as_raw_nonzero());
    let stat = fs::read_to_string(format!("{process}/stat")).unwrap_or_default();
    let threads = fs::read_dir(format!("{process}/task")).map_or(0, Iterator::count);
    threads <= 1 && stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z'))
}
