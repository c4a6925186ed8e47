//! Machines for tests.

use super::{
    Names,
    builtins::{is_builtin_somewhere, is_everywhere},
};

/// Programs of a developer's machine, in addition to those of every system.
const DEVELOPER: &[&str] = &[
    "apt",
    "apt-get",
    "aptitude",
    "at",
    "bc",
    "brew",
    "cargo",
    "cc",
    "code",
    "convert",
    "crontab",
    "curl",
    "dig",
    "docker",
    "emacs",
    "ffmpeg",
    "file",
    "g++",
    "gcc",
    "gh",
    "git",
    "go",
    "gradle",
    "htop",
    "ifconfig",
    "info",
    "ip",
    "java",
    "javac",
    "jq",
    "kubectl",
    "last",
    "ll",
    "locate",
    "lsof",
    "make",
    "mvn",
    "mysql",
    "nano",
    "node",
    "npm",
    "npx",
    "open",
    "openssl",
    "patch",
    "perl",
    "pip",
    "pip3",
    "psql",
    "pytest",
    "python",
    "python3",
    "rg",
    "rsync",
    "ruby",
    "rustc",
    "say",
    "scp",
    "screen",
    "snap",
    "ssh",
    "systemctl",
    "terraform",
    "tmux",
    "tree",
    "unzip",
    "vim",
    "wget",
    "xdg-open",
    "yarn",
    "zip",
];

/// Some of what `cohab` takes.
pub const SUBCOMMANDS: &[&str] = &["ask", "sessions", "shell-check", "undo", "why"];

/// A machine with the programs of every system and, optionally, a developer's programs; it has no files.
#[derive(Clone, Copy, Debug, Default)]
pub struct Machine {
    /// Whether a developer's programs are installed.
    pub is_developers: bool,
}

/// A machine with only the programs of every system.
pub const BARE: Machine = Machine { is_developers: false };
/// A developer's machine.
pub const DEVELOPERS: Machine = Machine { is_developers: true };

impl Names for Machine {
    fn resolves(&self, name: &str) -> bool {
        is_builtin_somewhere(name) || is_everywhere(name) || (self.is_developers && DEVELOPER.contains(&name))
    }

    fn exists(&self, _: &str) -> bool {
        false
    }

    fn subcommands_of_cohab(&self) -> &[&str] {
        SUBCOMMANDS
    }
}

/// Rows `label<TAB>line` of a table.
pub fn rows(table: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    table.lines().filter_map(|row| row.split_once('\t'))
}
