//! Changes the text of a block, within its constraints. Pure.

use std::fmt;

use cohab_text::sanitize::{one_line, sanitize};
use serde::{Deserialize, Serialize};

use super::record::{Block, BlockDeed, BlockLabel};

/// Longest description, in characters.
pub const MAX_DESCRIPTION_CHARS: usize = 200;

/// A change of a block's text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "lowercase", deny_unknown_fields)]
pub enum BlockChange {
    /// Adds lines at the end.
    Append {
        /// The lines.
        text: String,
    },
    /// Adds lines at the beginning.
    Prepend {
        /// The lines.
        text: String,
    },
    /// Replaces a part, which must be there exactly once.
    Replace {
        /// The part.
        old: String,
        /// What takes its place; may be empty.
        new: String,
    },
    /// Replaces the whole text.
    Set {
        /// The new text.
        text: String,
    },
    /// Goes back to the template.
    Clear,
}

/// A change of the block with this label.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockEdit {
    /// Which block.
    pub label: BlockLabel,
    /// How its text changes.
    pub change: BlockChange,
}

/// The change in one line.
///
/// ```
/// use cohab_memory::blocks::change::{BlockChange, BlockEdit};
/// let edit = BlockEdit { label: "human".parse().unwrap(), change: BlockChange::Append { text: "uses fish".into() } };
/// assert_eq!(edit.to_string(), "block human: add \"uses fish\"");
/// ```
impl fmt::Display for BlockEdit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "block {}: ", self.label)?;
        match &self.change {
            BlockChange::Append { text } => write!(f, "add \"{text}\""),
            BlockChange::Prepend { text } => write!(f, "add \"{text}\" at the beginning"),
            BlockChange::Replace { old, new } if new.is_empty() => write!(f, "delete \"{old}\""),
            BlockChange::Replace { old, new } => write!(f, "\"{new}\" in place of \"{old}\""),
            BlockChange::Set { text } => write!(f, "\"{text}\""),
            BlockChange::Clear => f.write_str("clear"),
        }
    }
}

/// Why a block is not changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlockFault {
    /// A text has no characters that could be stored.
    Empty,
    /// A text would have this many characters, beyond the limit of the block.
    TooLong {
        /// Its characters.
        chars: usize,
        /// The limit.
        max_chars: usize,
    },
    /// The text would hold a secret.
    Secret,
    /// The part to replace is not in the text.
    NotFound,
    /// The part to replace is in the text more than once.
    NotUnique,
    /// Another program changed the text that this would build on.
    NotSound,
    /// No block has this label here.
    Unknown(BlockLabel),
    /// A block with this label and scope exists.
    Exists(BlockLabel),
    /// The limit of a block is not between 1 and this.
    Limit(usize),
    /// The limits of the blocks with one scope would add up to more than this.
    LimitsTogether(usize),
    /// This many blocks are stored, which is the most.
    TooMany(usize),
    /// A rollback goes more steps back than this many versions allow.
    TooFewVersions(usize),
    /// A rollback goes back to a time before the oldest version.
    NotThatOld,
}

impl BlockChange {
    /// What the change is recorded as.
    #[must_use]
    pub fn deed(&self) -> BlockDeed {
        match self {
            Self::Append { .. } => BlockDeed::Append,
            Self::Prepend { .. } => BlockDeed::Prepend,
            Self::Replace { .. } => BlockDeed::Replace,
            Self::Set { .. } => BlockDeed::Set,
            Self::Clear => BlockDeed::Clear,
        }
    }

    /// The change with clean texts. A part to replace keeps the blanks around it.
    #[must_use]
    pub fn cleaned(self) -> Self {
        match self {
            Self::Append { text } => Self::Append { text: clean(&text) },
            Self::Prepend { text } => Self::Prepend { text: clean(&text) },
            Self::Replace { old, new } => Self::Replace { old: sanitize(&old), new: sanitize(&new) },
            Self::Set { text } => Self::Set { text: clean(&text) },
            Self::Clear => Self::Clear,
        }
    }

    /// The text of this block after the change. `has_secret` says whether a text holds a secret.
    ///
    /// # Errors
    /// The text would break a constraint, or the part to replace is not there exactly once.
    pub fn applied(&self, block: &Block, has_secret: &dyn Fn(&str) -> bool) -> Result<String, BlockFault> {
        let value = &block.value;
        let joined = |first: &str, then: &str| {
            let separator = if first.is_empty() || then.is_empty() { "" } else { "\n" };
            format!("{first}{separator}{then}")
        };
        let changed = match self {
            Self::Append { text } => joined(value, &some(text)?),
            Self::Prepend { text } => joined(&some(text)?, value),
            Self::Set { text } => some(text)?,
            Self::Replace { old, new } => clean(&replaced(value, &sanitize(old), &sanitize(new))?),
            Self::Clear => return Ok(block.template.clone()),
        };
        checked(changed, block.max_chars, has_secret)
    }
}

/// A text that satisfies the constraints of a block.
pub(super) fn checked(text: String, max_chars: usize, has_secret: &dyn Fn(&str) -> bool) -> Result<String, BlockFault> {
    match text.chars().count() {
        chars if chars > max_chars => Err(BlockFault::TooLong { chars, max_chars }),
        _ if has_secret(&text) => Err(BlockFault::Secret),
        _ => Ok(text),
    }
}

/// The text of a block as it is stored: lines without control characters and other hidden ones, without blank lines around them.
///
/// ```
/// assert_eq!(cohab_memory::blocks::change::clean("\r\n two\r\n\tlines \n\n"), " two\n\tlines");
/// ```
#[must_use]
pub fn clean(text: &str) -> String {
    let text = sanitize(text);
    let text = text.trim_end();
    // The first line keeps its indentation.
    let blank = text.len() - text.trim_start().len();
    let start = text.get(..blank).and_then(|blank| blank.rfind('\n')).map_or(0, |end| end + 1);
    text.get(start..).unwrap_or_default().to_owned()
}

/// The description of a block as it is stored: one clean line.
///
/// # Errors
/// It is too long.
pub fn clean_description(text: &str) -> Result<String, BlockFault> {
    let line = one_line(text.trim(), usize::MAX);
    match line.chars().count() {
        chars if chars > MAX_DESCRIPTION_CHARS => Err(BlockFault::TooLong { chars, max_chars: MAX_DESCRIPTION_CHARS }),
        _ => Ok(line),
    }
}

fn some(text: &str) -> Result<String, BlockFault> {
    Some(clean(text)).filter(|text| !text.is_empty()).ok_or(BlockFault::Empty)
}

fn replaced(value: &str, old: &str, new: &str) -> Result<String, BlockFault> {
    if old.is_empty() {
        return Err(BlockFault::Empty);
    }
    let Some(start) = value.find(old) else { return Err(BlockFault::NotFound) };
    // Also a second place that overlaps the first one leaves open which is meant.
    if value.rfind(old) != Some(start) {
        return Err(BlockFault::NotUnique);
    }
    Ok(value.replacen(old, new, 1))
}

#[cfg(test)]
#[path = "change_tests.rs"]
mod tests;
