//! Names the programs that may run unasked behind the lock.

use std::str::FromStr;

/// Programs that run unasked if the kernel keeps them from writing and sending.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ConfinedPrograms {
    /// Programs that the policy's tables know.
    #[default]
    Known,
    /// Also programs that are in no table; if the lock stops one, the user is asked.
    All,
}

impl ConfinedPrograms {
    /// Their names in the settings, in order.
    pub const WORDS: &[&str] = &["known", "all"];
}

impl FromStr for ConfinedPrograms {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        match word {
            "known" => Ok(Self::Known),
            "all" => Ok(Self::All),
            other => Err(format!("there is no such set of programs: `{other}`; there are {}", Self::WORDS.join(", "))),
        }
    }
}
