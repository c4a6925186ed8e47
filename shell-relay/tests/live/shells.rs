//! Finds the installed shells and tools for the tests.

use std::path::{Path, PathBuf};

use cohab_shell_state::shell::Shell;

/// A shell that the cases run in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Bash,
    Zsh,
    Fish,
    /// fish 4, which is another program.
    Fish4,
}

impl Kind {
    pub fn shell(self) -> Shell {
        match self {
            Self::Bash => Shell::Bash,
            Self::Zsh => Shell::Zsh,
            Self::Fish | Self::Fish4 => Shell::Fish,
        }
    }

    pub fn is_fish(self) -> bool {
        self.shell() == Shell::Fish
    }

    /// The shell's program; prints a note if it is not installed.
    pub fn program(self) -> Option<PathBuf> {
        let found = match self {
            Self::Bash => find("bash"),
            Self::Zsh => find("zsh"),
            Self::Fish => find("fish"),
            Self::Fish4 => newer("COHAB_TEST_FISH4", "fish"),
        };
        if found.is_none() {
            eprintln!("SKIPPED: {self:?} is not installed");
        }
        found
    }

    /// The name of the user's start-up file in the home folder.
    pub fn rc_file(self) -> &'static str {
        match self {
            Self::Bash => ".bashrc",
            Self::Zsh => ".zshrc",
            Self::Fish | Self::Fish4 => ".config/fish/config.fish",
        }
    }

    /// A start-up file that makes the prompt `$ ` and nothing else.
    pub fn plain_rc(self) -> &'static str {
        match self {
            Self::Bash => "PS1='$ '\n",
            Self::Zsh => "PS1='$ '\n",
            Self::Fish | Self::Fish4 => {
                "set -g fish_greeting\nfunction fish_prompt; printf '$ '; end\nfunction fish_right_prompt; end\n\
                 function fish_title; end\nset -g fish_autosuggestion_enabled 0\n"
            }
        }
    }
}

fn find(tool: &str) -> Option<PathBuf> {
    ["/bin", "/usr/bin", "/usr/local/bin", "/usr/sbin"]
        .iter()
        .map(|dir| Path::new(dir).join(tool))
        .find(|path| path.exists())
}

/// A program that the system's own packages have only in an older version: at the place that a variable names, or where `scripts/test`
/// puts it.
pub fn newer(variable: &str, name: &str) -> Option<PathBuf> {
    if let Some(path) = std::env::var_os(variable) {
        return Some(path.into());
    }
    let cache = std::env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::home_dir().map(|home| home.join(".cache")))?;
    Some(cache.join("cohab-test/newer/bin").join(name)).filter(|path| path.exists())
}

/// Whether a tool is installed; prints a note if not.
pub fn has(tool: &str) -> bool {
    let there = find(tool).is_some();
    if !there {
        eprintln!("SKIPPED: {tool} is not installed");
    }
    there
}
