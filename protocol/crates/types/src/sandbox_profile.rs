//! Profiles of the sandbox.

use std::str::FromStr;

/// The permissions of a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// Read and start programs.
    ReadOnly,
    /// Also write below the workspace and in a folder for temporary files.
    #[default]
    WorkspaceWrite,
    /// Everything that the user may do.
    Full,
}

impl Profile {
    /// Their names in the settings, in order.
    pub const WORDS: &[&str] = &["read-only", "workspace-write", "full"];

    /// The profile's name in the settings.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::WorkspaceWrite => "workspace-write",
            Self::Full => "full",
        }
    }
}

impl FromStr for Profile {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let all = [Self::ReadOnly, Self::WorkspaceWrite, Self::Full];
        let found = all.into_iter().find(|profile| profile.word() == word);
        found.ok_or_else(|| format!("there is no sandbox profile `{word}`; there are {}", Self::WORDS.join(", ")))
    }
}
