//! Arguments that several commands share.

use clap::{Args, ValueEnum};

/// Flags that select the model, over settings and environment.
#[derive(Clone, Debug, Default, Args)]
pub struct ModelFlags {
    /// Profile of the settings that selects the model
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,
    /// Model as its service calls it
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
}

impl ModelFlags {
    /// The same as variables of the environment.
    #[must_use]
    pub fn variables(&self) -> Vec<(String, String)> {
        let all = [("COHAB_PROFILE", &self.profile), ("COHAB_MODEL", &self.model)];
        all.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value.clone()?))).collect()
    }
}

/// Shells with completions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CompletionShell {
    /// GNU bash
    Bash,
    /// Z shell
    Zsh,
    /// fish
    Fish,
}

impl From<CompletionShell> for clap_complete::Shell {
    fn from(shell: CompletionShell) -> Self {
        match shell {
            CompletionShell::Bash => Self::Bash,
            CompletionShell::Zsh => Self::Zsh,
            CompletionShell::Fish => Self::Fish,
        }
    }
}
