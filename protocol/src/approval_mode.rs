//! What an agent may do without asking.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// What may be done unasked, from strict to lax. Danger is asked in every mode but `All`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum ApprovalMode {
    /// Plainly read-only things run, everything else is refused without a question.
    ReadOnly,
    /// Plainly read-only things run, everything else is asked.
    #[default]
    Ask,
    /// Everything runs. Shown in red wherever the mode is shown.
    All,
}

impl FromStr for ApprovalMode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "read-only" => Ok(Self::ReadOnly),
            "ask" => Ok(Self::Ask),
            "all" => Ok(Self::All),
            other => Err(format!("`{other}` is no approval mode; use `ask`, `read-only` or `all`")),
        }
    }
}

impl fmt::Display for ApprovalMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ReadOnly => "read-only",
            Self::Ask => "ask",
            Self::All => "all",
        })
    }
}
