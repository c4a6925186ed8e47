//! The shells under comparison, and their start-up files.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use crate::binaries::is_installed;

/// A shell whose behaviour under cohab is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shell {
    /// bash of the system.
    Bash,
    /// zsh of the system.
    Zsh,
    /// fish of the system: version 3 in Debian 12.
    Fish,
    /// fish 4: `COHAB_TEST_FISH4`, or what `scripts/newer-shells` fetched.
    Fish4,
}

impl Shell {
    /// Whether a word of a table means this shell. `fish` means both versions.
    #[must_use]
    pub fn is_meant(self, word: &str) -> bool {
        match self {
            Self::Bash => word == "bash",
            Self::Zsh => word == "zsh",
            Self::Fish => matches!(word, "fish" | "fish3"),
            Self::Fish4 => matches!(word, "fish" | "fish4"),
        }
    }

    /// Whether a word of a table means any shell.
    #[must_use]
    pub fn is_word(word: &str) -> bool {
        matches!(word, "bash" | "zsh" | "fish" | "fish3" | "fish4")
    }

    /// Its program, if it is installed.
    #[must_use]
    pub fn program(self) -> Option<PathBuf> {
        let system =
            |name: &str| is_installed(name).then(|| Path::new("/usr/bin").join(name)).filter(|path| path.exists());
        match self {
            Self::Bash => system("bash"),
            Self::Zsh => system("zsh"),
            Self::Fish => system("fish"),
            Self::Fish4 => named_path("COHAB_TEST_FISH4"),
        }
    }

    /// The start-up file that a user edits, below the home folder.
    #[must_use]
    pub fn rc_file(self) -> &'static str {
        match self {
            Self::Bash => ".bashrc",
            Self::Zsh => ".zshrc",
            Self::Fish | Self::Fish4 => ".config/fish/config.fish",
        }
    }

    /// The first lines of that file: a prompt that looks the same everywhere.
    #[must_use]
    pub fn rc_head(self) -> &'static str {
        match self {
            Self::Bash | Self::Zsh => "PS1='ps> '\n",
            Self::Fish | Self::Fish4 => "set -g fish_greeting\nfunction fish_prompt; printf 'ps> '; end\n",
        }
    }
}

impl fmt::Display for Shell {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Bash => "bash",
            Self::Zsh => "zsh",
            Self::Fish => "fish",
            Self::Fish4 => "fish4",
        })
    }
}

/// A path that the user names in a variable, or that `scripts/newer-shells` put into its folder.
pub(crate) fn named_path(variable: &str) -> Option<PathBuf> {
    let in_cache = match variable {
        "COHAB_TEST_FISH4" => Some("cohab-test/newer/bin/fish"),
        "COHAB_TEST_STARSHIP" => Some("cohab-test/newer/bin/starship"),
        _ => None,
    };
    let cache = || {
        let folder = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
        folder.or_else(|| Some(std::env::home_dir()?.join(".cache")))
    };
    let named = std::env::var_os(variable).map(PathBuf::from);
    named.or_else(|| Some(cache()?.join(in_cache?))).filter(|path| path.exists())
}
