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
    /// A proposal that the user accepted.
    Accepted,
}

impl Origin {
    /// All of them, with their word in a store.
    const WORDS: [(Self, &'static str); 4] = [
        (Self::Prompt, "prompt"),
        (Self::CommandLine, "command-line"),
        (Self::Import, "import"),
        (Self::Accepted, "accepted"),
    ];

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
            Self::Prompt | Self::CommandLine | Self::Accepted => 0.9,
            Self::Import => 0.6,
        }
    }
}

/// Trust below which a text may have been written by strangers: it reaches a model only with that note.
pub const LEAST_TRUST: f64 = 0.5;

/// What a record comes from besides the words of the user. Its text form is what `cohab memory why` shows.
///
/// ```
/// use cohab_memory::record::{MemoryId, Source};
/// assert_eq!("fact:12".parse(), Ok(Source::Fact(MemoryId(12))));
/// assert_eq!(Source::Turn("a1".into()).to_string(), "turn:a1");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// A turn of the assistant, by its id.
    Turn(String),
    /// A file that was imported, by its path.
    File(String),
    /// Another fact.
    Fact(MemoryId),
    /// The commands that ran in a project.
    Commands,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Turn(id) => write!(f, "turn:{id}"),
            Self::File(path) => write!(f, "file:{path}"),
            Self::Fact(id) => write!(f, "fact:{id}"),
            Self::Commands => f.write_str("commands"),
        }
    }
}

impl FromStr for Source {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let unknown = || format!("`{text}` is no source, such as turn:ID, file:PATH, fact:ID or commands");
        match text.split_once(':') {
            Some(("turn", id)) if !id.is_empty() => Ok(Self::Turn(id.to_owned())),
            Some(("file", path)) if !path.is_empty() => Ok(Self::File(path.to_owned())),
            Some(("fact", id)) => id.parse().map(Self::Fact).map_err(|_| unknown()),
            None if text == "commands" => Ok(Self::Commands),
            _ => Err(unknown()),
        }
    }
}

/// A fact to be remembered.
#[derive(Clone, Debug, PartialEq)]
pub struct NewMemory {
    /// One line of clean text, as [`statement::clean`](crate::statement::clean) returns it.
    pub text: String,
    /// Where it holds.
    pub scope: Scope,
    /// Who it comes from.
    pub origin: Origin,
    /// The folder in which it was stated.
    pub folder: PathBuf,
    /// From 0 to 1, at most [`Origin::trust_at_birth`].
    pub trust: f64,
    /// What it was derived from; empty if the user stated it.
    pub sources: Vec<Source>,
}

impl NewMemory {
    /// A fact that was derived from nothing.
    #[must_use]
    pub fn stated(text: String, scope: Scope, origin: Origin, folder: PathBuf) -> Self {
        Self { text, scope, origin, folder, trust: origin.trust_at_birth(), sources: Vec::new() }
    }
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
    /// What it was derived from; empty if the user stated it.
    pub sources: Vec<Source>,
    /// Whether it is as this program wrote it. One that another program changed is in quarantine: it is listed, but given to no question.
    pub is_sound: bool,
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

    #[test]
    fn a_source_is_read_as_it_is_written() {
        let all = [
            Source::Turn("018f-2".into()),
            Source::File("/a b/c:d.jsonl".into()),
            Source::Fact(MemoryId(3)),
            Source::Commands,
        ];
        for source in all {
            assert_eq!(source.to_string().parse(), Ok(source));
        }
        for text in ["", "turn:", "file:", "fact:x", "fact:", "commands:", "web:x"] {
            assert!(text.parse::<Source>().is_err(), "{text}");
        }
    }
}
