//! A test fixture: a home, a repository in it, and commands there, confined and not.

use std::{
    env, fs,
    io::Write,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
    process::{Command, Output},
};

use tempfile::TempDir;

/// Whether the kernel cannot confine; prints a note in that case.
pub fn skips() -> bool {
    let support = cohab_confine::present();
    if !support.can_launch() || !support.keeps_writes() {
        let _ = writeln!(std::io::stderr(), "SKIPPED: this kernel cannot confine: {:?}", support.gaps());
        return true;
    }
    false
}

/// Whether there is such a program.
pub fn is_installed(name: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|folder| folder.join(name).is_file())
}

pub struct Bench {
    folder: TempDir,
}

impl Bench {
    /// A home and nothing in it but the folder of a project.
    pub fn new() -> Self {
        let bench = Self { folder: TempDir::new().unwrap() };
        fs::create_dir_all(bench.app()).unwrap();
        bench
    }

    pub fn home(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("home")
    }

    pub fn app(&self) -> PathBuf {
        self.home().join("app")
    }

    /// A file below the home.
    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.home().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// A repository with something to read in it.
    pub fn fill(&self) {
        for name in [".ssh/id_ed25519", ".netrc", ".bash_history", ".aws/credentials", "app/.env"] {
            self.write(name, "secret\n");
        }
        self.write("app/README.md", "needle: a text\nwith lines\n\tof words\n");
        self.write("app/src/main.c", "int main(void) { return 0; } /* needle */\n");
        self.write("app/data.json", "{\"a\": [1, 2]}\n");
        self.write("app/Makefile", "all:\n\techo made\n");
        let many: String =
            (0..200_000).map(|number: u64| format!("{:x}\n", number.wrapping_mul(0x9e37_79b9_7f4a_7c15))).collect();
        self.write("app/big.txt", &many);
        self.write("app/numbers.txt", &many[..many.len() / 4]);
        symlink("../README.md", self.app().join("src/link")).unwrap();
        let git = r#"git init -q -b main && git config user.name me && git config user.email me@host && git add README.md src data.json \
                   && GIT_AUTHOR_DATE="@1000000000 +0000" GIT_COMMITTER_DATE="@1000000000 +0000" git commit -q -m first && git tag v1 && echo more >>data.json"#;
        let archive = "tar cf archive.tar README.md src && gzip -kn big.txt; rm -f .git/index.lock; true";
        for text in [git, archive] {
            let output = self.plain(&["sh", "-c", text]).output().unwrap();
            assert!(output.status.success(), "{output:?}");
        }
    }

    pub fn plain(&self, words: &[&str]) -> Command {
        let mut command = Command::new(words[0]);
        command.args(&words[1..]);
        self.within(command)
    }

    pub fn confined(&self, words: &[&str]) -> Command {
        let mut command = Command::new(launcher());
        command.arg("--").args(words);
        self.within(command)
    }

    /// A script of the shell, confined as a whole.
    pub fn script(&self, text: &str) -> Output {
        self.confined(&["bash", "-c", text]).output().unwrap()
    }

    fn within(&self, mut command: Command) -> Command {
        command.current_dir(self.app()).env("HOME", self.home()).env("LC_ALL", "C.UTF-8").env("TERM", "dumb");
        command.env_remove("TMPDIR").env("PAGER", "cat").env("GIT_OPTIONAL_LOCKS", "1");
        command
    }
}

pub fn launcher() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_cohab-confine"))
}

/// Makes a file that says it ran, of this mode.
pub fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}
