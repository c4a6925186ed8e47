//! The records of memory blocks. Pure.

use std::{fmt, path::Path, str::FromStr, sync::LazyLock};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::record::Scope;

/// Longest label, in bytes.
const MAX_LABEL_BYTES: usize = 32;
/// The limit of a block that names no other, in characters.
pub const USUAL_CHARS: usize = 2_000;
/// Highest limit of a block, in characters.
pub const MAX_CHARS: usize = 8_000;

/// The rows of the delivered blocks.
static DELIVERED: LazyLock<Vec<DeliveredBlock>> = LazyLock::new(|| {
    let rows = include_str!("delivered.table").lines().filter(|row| !row.starts_with('#'));
    rows.filter_map(|row| {
        let (label, rest) = row.split_once(" | ")?;
        let (place, description) = rest.split_once(" | ")?;
        Some(DeliveredBlock { label: label.parse().ok()?, is_of_project: place == "project", description })
    })
    .collect()
});

struct DeliveredBlock {
    label: BlockLabel,
    is_of_project: bool,
    description: &'static str,
}

/// The name of a block: a lower-case letter, then up to 31 lower-case letters, digits, `_` and `-`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct BlockLabel(String);

impl BlockLabel {
    /// The label as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for BlockLabel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for BlockLabel {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '-');
        let is_label = text.starts_with(|c: char| c.is_ascii_lowercase())
            && text.len() <= MAX_LABEL_BYTES
            && text.chars().all(is_inner);
        let fault = "a label is a lower-case letter, then up to 31 lower-case letters, digits, `_` or `-`";
        if is_label { Ok(Self(text.to_owned())) } else { Err(fault.to_owned()) }
    }
}

impl TryFrom<String> for BlockLabel {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<BlockLabel> for String {
    fn from(label: BlockLabel) -> Self {
        label.0
    }
}

/// A block among all. A scope of a project is compared by its root, not by the folders below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockKey {
    /// Its name.
    pub label: BlockLabel,
    /// Where it holds.
    pub scope: Scope,
}

/// What made a version of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockDeed {
    /// The block was made.
    New,
    /// A text took the place of the old one.
    Set,
    /// A text was added at the end.
    Append,
    /// A text was added at the beginning.
    Prepend,
    /// A part was replaced.
    Replace,
    /// The text went back to the template.
    Clear,
    /// An earlier version was restored.
    Rollback,
    /// A file was imported.
    Import,
}

impl BlockDeed {
    /// All of them, with their word in a store.
    const WORDS: [(Self, &'static str); 8] = [
        (Self::New, "new"),
        (Self::Set, "set"),
        (Self::Append, "append"),
        (Self::Prepend, "prepend"),
        (Self::Replace, "replace"),
        (Self::Clear, "clear"),
        (Self::Rollback, "rollback"),
        (Self::Import, "import"),
    ];

    /// Its word in a store.
    #[must_use]
    pub fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(deed, _)| *deed == self).map_or("", |(_, word)| word)
    }

    /// The deed of this word.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(_, known)| *known == word).map(|(deed, _)| *deed)
    }
}

/// A stored version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockVersion {
    /// Its number. A store gives each number once.
    pub number: u64,
    /// The time of the change.
    pub at: Timestamp,
    /// What made it.
    pub deed: BlockDeed,
    /// Whether it is as this program wrote it. One that another program changed is listed, but given to no question.
    pub is_sound: bool,
}

/// A block with its text, as of one version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Which block.
    pub key: BlockKey,
    /// One line about its purpose; may be empty.
    pub description: String,
    /// Limit of the text, in characters.
    pub max_chars: usize,
    /// The text that it begins with, and that `clear` restores.
    pub template: String,
    /// Clean text of any number of lines.
    pub value: String,
    /// The version; `None` for a delivered block that was never written.
    pub version: Option<BlockVersion>,
}

impl Block {
    /// Whether its text is as this program wrote it.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.version.is_none_or(|version| version.is_sound)
    }

    /// Number of characters of the text.
    #[must_use]
    pub fn chars(&self) -> usize {
        self.value.chars().count()
    }

    /// How full it is: `312 of 2,000 characters`.
    #[must_use]
    pub fn fill_level(&self) -> String {
        format!("{} of {} characters", grouped(self.chars()), grouped(self.max_chars))
    }
}

/// A count below a million, its thousands apart: `2,000`.
fn grouped(count: usize) -> String {
    if count < 1_000 { count.to_string() } else { format!("{},{:03}", count / 1_000, count % 1_000) }
}

/// The delivered blocks as they are in the project with this root, empty, in their usual order.
#[must_use]
pub fn delivered(root: &Path) -> Vec<Block> {
    let block = |row: &DeliveredBlock| Block {
        key: BlockKey {
            label: row.label.clone(),
            scope: if row.is_of_project { Scope::Project(root.to_owned()) } else { Scope::Everywhere },
        },
        description: row.description.to_owned(),
        max_chars: USUAL_CHARS,
        template: String::new(),
        value: String::new(),
        version: None,
    };
    DELIVERED.iter().map(block).collect()
}

/// The labels of the delivered blocks with their descriptions.
pub fn delivered_labels() -> impl Iterator<Item = (&'static BlockLabel, &'static str)> {
    DELIVERED.iter().map(|row| (&row.label, row.description))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_short_lower_case_names() {
        for label in ["a", "persona", "x-1_y", &"a".repeat(32)] {
            assert_eq!(label.parse::<BlockLabel>().unwrap().to_string(), label);
            assert_eq!(BlockLabel::try_from(label.to_owned()).unwrap().as_str(), label);
        }
        for text in ["", "A", "aB", "1a", "-a", "_a", "a b", "a\n", "ä", "a/b", "a\u{0}", &"a".repeat(33)] {
            assert!(text.parse::<BlockLabel>().is_err(), "{text:?}");
            assert!(serde_json::from_value::<BlockLabel>(text.into()).is_err(), "{text:?}");
        }
    }

    #[test]
    fn each_deed_has_a_separate_word() {
        for (deed, word) in BlockDeed::WORDS {
            assert_eq!((BlockDeed::of_word(word), deed.word()), (Some(deed), word));
        }
        assert_eq!(BlockDeed::of_word("accept"), None);
    }

    #[test]
    fn three_blocks_are_delivered_empty() {
        let rows = include_str!("delivered.table").lines().filter(|row| !row.starts_with('#'));
        let blocks = delivered(Path::new("/home/ann/shop"));
        assert_eq!(blocks.len(), rows.count(), "each row is read");
        let told: Vec<(&str, &Scope)> =
            blocks.iter().map(|block| (block.key.label.as_str(), &block.key.scope)).collect();
        let project = Scope::Project("/home/ann/shop".into());
        assert_eq!(told, [("persona", &Scope::Everywhere), ("human", &Scope::Everywhere), ("project", &project)]);
        assert!(blocks.iter().all(|block| block.value.is_empty() && block.fill_level() == "0 of 2,000 characters"));
        for (block, (label, description)) in blocks.iter().zip(delivered_labels()) {
            assert_eq!((&block.key.label, block.description.as_str()), (label, description));
        }
    }
}
