//! Runs lines for real: as an unprivileged user without a network, in separate folders, under `strace`.

use std::{
    fs::{self, File, Permissions},
    io::{BufRead as _, BufReader, Read as _},
    os::unix::fs::{PermissionsExt as _, chown},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use cohab_shell_state::shell::Shell;
use rustix::{
    process::geteuid,
    pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt},
    termios::{Winsize, tcsetwinsize},
};
use tempfile::TempDir;

use crate::trace::{self, Found};

/// The user and group `nobody`.
const NOBODY: u32 = 65534;
/// Reads lines that end in NUL bytes from descriptor 9, and runs them one after the other, by the shell and its options behind the first two
/// arguments. `row 3` is the name by which the trace shows the line.
const DRIVER: &str = r#"n=0
while IFS= read -r -d '' -u 9 line; do
    timeout --signal=KILL "$1" "${@:3}" -c "$line" "row $n" </dev/null 9<&- 2>&1
    n=$((n + 1))
done 9<"$2"
echo done >&2"#;
/// Compares what the shell tells in front of a line and behind it. The first look may load parts of the shell.
const STATE: &str = r#"before= after= line=; { STATE; } >/dev/null; before=$(STATE)
for line; do eval "$line" >/dev/null </dev/null; done
after=$(STATE); [ "$before" = "$after" ] && echo kept"#;
const FISH_STATE: &str = r#"set before; set after; set line; begin; STATE; end >/dev/null; set before (begin; STATE; end | string collect)
for line in $argv; eval $line >/dev/null </dev/null; end
set after (begin; STATE; end | string collect); test "$before" = "$after"; and echo kept"#;
const PATH: &str = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin:/usr/games";

/// A disposable home with planted files.
#[derive(Debug)]
pub struct Machine {
    root: TempDir,
    prefix: Vec<String>,
}

impl Machine {
    pub fn new() -> Self {
        let root = tempfile::Builder::new().prefix("rows.").tempdir().unwrap();
        let machine = Self { prefix: prefix(), root };
        for folder in ["", "home", "home/work", "scratch"] {
            machine.give_away(&machine.root.path().join(folder));
        }
        let planter = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rows/planted.sh");
        let script = fs::read_to_string(planter).unwrap();
        let planted =
            machine.command(&machine.root.path().join("scratch")).args(["bash", "-c", &script]).output().unwrap();
        assert!(machine.cwd().join("text.txt").exists(), "{planted:?}");
        machine
    }

    pub fn home(&self) -> PathBuf {
        self.root.path().join("home")
    }

    pub fn cwd(&self) -> PathBuf {
        self.root.path().join("home/work")
    }

    /// Runs `lines` in bash one after the other, each for `seconds` at most.
    pub fn run(&self, name: &str, lines: &[&str], seconds: u32) -> Found {
        self.run_in(Shell::Bash, name, lines, seconds)
    }

    /// The same in `shell`, without the user's settings.
    pub fn run_in(&self, shell: Shell, name: &str, lines: &[&str], seconds: u32) -> Found {
        let scratch = self.root.path().join("scratch").join(name);
        self.give_away(&scratch);
        let (input, log) = (scratch.with_extension("lines"), scratch.with_extension("trace"));
        fs::write(&input, lines.iter().map(|line| format!("{line}\0")).collect::<String>()).unwrap();
        File::create(&log).unwrap();
        self.hand_over(&log);
        let mut command = self.command(&scratch);
        if shell == Shell::Fish {
            // fish makes its folders in any case.
            command.envs(["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"].map(|name| (name, &scratch)));
        }
        command.args(["strace", "-f", "-qq", "-y", "--seccomp-bpf", "-s", "1024", "-e", "signal=none", "-o"]).arg(&log);
        command.arg(format!("--trace={}", trace::traced_calls()));
        command.args(["--", "bash", "-c", DRIVER, "rows", &seconds.to_string()]).arg(&input);
        command.args(without_settings(shell));
        command.stdin(Stdio::null()).stdout(terminal()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        drop(command);
        let told: Vec<String> = BufReader::new(child.stderr.take().unwrap())
            .lines()
            .map_while(Result::ok)
            .take_while(|line| line != "done")
            .collect();
        // Otherwise the test would wait for background processes of a line.
        child.kill().unwrap();
        child.wait().unwrap();
        let trace = String::from_utf8_lossy(&fs::read(&log).unwrap()).into_owned();
        let found = trace::read(&trace, scratch.to_str().unwrap());
        assert_eq!(found.begun.len(), lines.len(), "not all lines ran: {told:?}");
        fs::remove_dir_all(&scratch).unwrap();
        fs::remove_file(&log).unwrap();
        found
    }

    /// Whether `lines`, one after the other, leave a shell as it was, by all that the shell tells of itself.
    pub fn keeps_state(&self, shell: Shell, lines: &[&str]) -> bool {
        let (state, script) = match shell {
            Shell::Fish => {
                ("begin; functions -n -a; set -n; end | string match -v '__fish*'; abbr -s; bind -a", FISH_STATE)
            }
            Shell::Zsh => ("alias -L; setopt; functions; bindkey -L; typeset +; zstyle -L; limit", STATE),
            _ => {
                ("alias; shopt; set -o; trap; complete -p; declare -F; enable; bind -p; hash; compgen -v; umask", STATE)
            }
        };
        let mut command = self.command(&self.root.path().join("scratch"));
        let words = without_settings(shell);
        command.args(words).arg("-c").arg(script.replace("STATE", state));
        if shell != Shell::Fish {
            command.arg(words[0]);
        }
        let output = command.args(lines).stdin(Stdio::null()).stderr(Stdio::null()).output().unwrap();
        output.stdout.ends_with(b"kept\n")
    }

    /// A command as the unprivileged user, without the caller's environment.
    fn command(&self, scratch: &Path) -> Command {
        let mut words = self.prefix.iter();
        let mut command = Command::new(words.next().unwrap());
        command.args(words).env_clear().current_dir(self.cwd()).env("HOME", self.home()).env("TMPDIR", scratch);
        command.envs([
            ("PATH", PATH),
            ("LANG", "C.UTF-8"),
            ("TERM", "xterm-256color"),
            ("USER", "nobody"),
            ("SHELL", "/bin/bash"),
        ]);
        command
    }

    fn give_away(&self, folder: &Path) {
        fs::create_dir_all(folder).unwrap();
        fs::set_permissions(folder, Permissions::from_mode(0o755)).unwrap();
        self.hand_over(folder);
    }

    fn hand_over(&self, path: &Path) {
        if geteuid().is_root() {
            chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
        }
    }
}

/// A shell, with the option that leaves out the user's settings.
fn without_settings(shell: Shell) -> &'static [&'static str] {
    match shell {
        Shell::Zsh => &["zsh", "-f"],
        Shell::Fish => &["fish", "--no-config"],
        _ => &["bash"],
    }
}

/// The command that takes away network, other processes and rights: all of them as root, otherwise those that are permitted.
fn prefix() -> Vec<String> {
    let all = "unshare --net --pid --fork --kill-child --mount-proc -- setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --no-new-privs --";
    let as_user = "unshare --user --map-current-user --net --";
    let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let works = |words: &[String]| {
        let status = Command::new(&words[0]).args(&words[1..]).arg("true").stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    };
    let choices: &[&str] = if geteuid().is_root() { &[all] } else { &[as_user] };
    choices.iter().map(|choice| words(choice)).find(|words| works(words)).unwrap_or_else(|| words("env --"))
}

/// A terminal for the lines' output, so that they write as to a person; the output is read and dropped.
fn terminal() -> File {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let size = Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&master, size).unwrap();
    let terminal = ioctl_tiocgptpeer(&master, OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    let mut master = File::from(master);
    std::thread::spawn(move || {
        let mut buffer = [0; 65536];
        while master.read(&mut buffer).is_ok_and(|count| count > 0) {}
    });
    File::from(terminal)
}
