//! The record of one remembered fact. Pure.

use std::{
    fmt,
    path::{Component, Path, PathBuf},
    str::FromStr,
};

use jiff::Timestamp;

/// Number of a record. A store gives each number once, also after the record is forgotten.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MemoryId(pub u64);

impl fmt::Display for MemoryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for MemoryId {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}

/// Where a fact holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// In every folder.
    Everywhere,
    /// In this folder, the root of a project, and below it.
    Project(PathBuf),
}

impl Scope {
    /// Whether the fact holds in this folder. Both paths are absolute and compared by their components; in a folder with `..` in its
    /// path no fact of a project holds.
    #[must_use]
    pub fn holds_in(&self, folder: &Path) -> bool {
        match self {
            Self::Everywhere => true,
            Self::Project(root) => {
                folder.starts_with(root) && !folder.components().any(|part| part == Component::ParentDir)
            }
        }
    }
}

/// Who a fact comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The user, at the prompt.
    Prompt,
    /// The user, with `cohab memory add` or `edit`.
    CommandLine,
    /// A file of facts that the user imported.
    Import,
}

impl Origin {
    /// All of them, with their word in a store.
    const WORDS: [(Self, &'static str); 3] =
        [(Self::Prompt, "prompt"), (Self::CommandLine, "command-line"), (Self::Import, "import")];

    /// Its word in a store.
    #[must_use]
    pub fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(origin, _)| *origin == self).map_or("", |(_, word)| word)
    }

    /// The origin of this word.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(_, known)| *known == word).map(|(origin, _)| *origin)
    }

    /// The trust of a new fact, from 0 to 1, a user's word counts 0.9; a file may hold words of others.
    #[must_use]
    pub fn trust_at_birth(self) -> f64 {
        match self {
            Self::Prompt | Self::CommandLine => 0.9,
            Self::Import => 0.6,
        }
    }
}

/// A fact to be remembered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewMemory {
    /// One line of clean text, as [`statement::clean`](crate::statement::clean) returns it.
    pub text: String,
    /// Where it holds.
    pub scope: Scope,
    /// Who it comes from.
    pub origin: Origin,
    /// The folder in which it was stated.
    pub folder: PathBuf,
}

/// A remembered fact.
#[derive(Clone, Debug, PartialEq)]
pub struct Memory {
    /// Its number.
    pub id: MemoryId,
    /// One line of clean text.
    pub text: String,
    /// Where it holds.
    pub scope: Scope,
    /// Who it comes from.
    pub origin: Origin,
    /// The folder in which it was stated.
    pub folder: PathBuf,
    /// From 0 to 1.
    pub trust: f64,
    /// The time at which it was stated; it is valid from then on.
    pub stated: Timestamp,
    /// The time at which a newer record took its place.
    pub valid_to: Option<Timestamp>,
    /// The record that took its place.
    pub superseded_by: Option<MemoryId>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fact_of_a_project_holds_in_it_and_below_only() {
        let scope = Scope::Project("/home/ann/shop".into());
        for (folder, holds) in [
            ("/home/ann/shop", true),
            ("/home/ann/shop/src", true),
            ("/home/ann/shop2", false),
            ("/home/ann", false),
            ("/home/ann/shop/../blog", false),
            ("/", false),
        ] {
            assert_eq!(scope.holds_in(Path::new(folder)), holds, "{folder}");
            assert!(Scope::Everywhere.holds_in(Path::new(folder)));
        }
    }

    #[test]
    fn each_origin_has_a_word_of_its_own() {
        for (origin, word) in Origin::WORDS {
            assert_eq!((Origin::of_word(word), origin.word()), (Some(origin), word));
        }
        assert_eq!(Origin::of_word("model"), None);
    }
}
