//! The approval mode: the actions that an agent may take without asking.

use std::{cmp::Ordering, fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// The actions that need no question; ordered from strict to lax. Danger is asked in every mode but `All`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ApprovalMode {
    /// Plainly read-only things run, everything else is refused without a question.
    ReadOnly,
    /// Plainly read-only things run, everything else is asked.
    #[default]
    Ask,
    /// Everything runs. Every display of this mode is red.
    All,
    /// Runs everything except danger, lines that send data to another host and writes outside of the working directory, as long as the
    /// shell is as the user made it and no text from elsewhere was read.
    Auto,
}

impl ApprovalMode {
    fn laxness(self) -> u8 {
        match self {
            Self::ReadOnly => 0,
            Self::Ask => 1,
            Self::Auto => 2,
            Self::All => 3,
        }
    }
}

impl PartialOrd for ApprovalMode {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ApprovalMode {
    fn cmp(&self, other: &Self) -> Ordering {
        self.laxness().cmp(&other.laxness())
    }
}

impl FromStr for ApprovalMode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "read-only" => Ok(Self::ReadOnly),
            "ask" => Ok(Self::Ask),
            "all" => Ok(Self::All),
            "auto" => Ok(Self::Auto),
            other => Err(format!("`{other}` is no approval mode; use `ask`, `read-only`, `auto` or `all`")),
        }
    }
}

impl fmt::Display for ApprovalMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ReadOnly => "read-only",
            Self::Ask => "ask",
            Self::All => "all",
            Self::Auto => "auto",
        })
    }
}
