//! Chooses, makes, changes and restores blocks in a store. Pure, as far as the store is.

use std::path::Path;

use jiff::Timestamp;

use super::{
    change::{self, BlockChange, BlockFault},
    record::{self, Block, BlockDeed, BlockLabel},
    store::BlockStore,
};
use crate::record::Scope;

/// Most blocks that are stored, those of all projects together.
pub const MAX_BLOCKS: usize = 1_000;
/// Most characters that the limits of all blocks with one scope allow together: all of them are in the prompt.
pub const MAX_CHARS_OF_SCOPE: usize = 16_000;
/// Tries of a change while other processes change the same block.
const MAX_TRIES: usize = 64;

/// Why an operation was not carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangeError<E> {
    /// The block does not allow it.
    Refused(BlockFault),
    /// The store failed.
    Store(E),
    /// Other processes changed the block each time.
    Contended,
}

impl<E> From<BlockFault> for ChangeError<E> {
    fn from(fault: BlockFault) -> Self {
        Self::Refused(fault)
    }
}

/// What became of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Changed {
    /// It has a new version.
    Written(Block),
    /// Its text is the same as before; nothing was stored.
    Unchanged(Block),
}

/// The version that a rollback restores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RollbackTarget {
    /// So many versions before the newest.
    Steps(usize),
    /// The newest version that is not younger than this.
    Time(Timestamp),
}

/// The blocks of the project with this root, the delivered ones first and also if they were never written. `stored` are those that a
/// store has for the root. A block of the project takes the place of one with the same label that holds everywhere.
#[must_use]
pub fn visible(stored: Vec<Block>, root: &Path) -> Vec<Block> {
    let mut blocks = record::delivered(root);
    let (everywhere, of_project): (Vec<Block>, Vec<Block>) =
        stored.into_iter().partition(|block| block.key.scope == Scope::Everywhere);
    for block in everywhere.into_iter().chain(of_project) {
        match blocks.iter_mut().find(|known| known.key.label == block.key.label) {
            Some(known) => *known = block,
            None => blocks.push(block),
        }
    }
    blocks
}

/// The block that a label means in the project with this root.
///
/// # Errors
/// There is none.
pub fn named(label: &BlockLabel, stored: Vec<Block>, root: &Path) -> Result<Block, BlockFault> {
    let found = visible(stored, root).into_iter().find(|block| block.key.label == *label);
    found.ok_or_else(|| BlockFault::Unknown(label.clone()))
}

/// Changes the text of a block of the project with this root. `has_secret` says whether a text holds a secret.
///
/// # Errors
/// There is no such block, the text would break a constraint, or the store failed.
pub fn change<S: BlockStore>(
    store: &mut S,
    (label, root): (&BlockLabel, &Path),
    change: &BlockChange,
    has_secret: &dyn Fn(&str) -> bool,
    now: Timestamp,
) -> Result<Changed, ChangeError<S::Error>> {
    let changed = |_: &S, block: &Block| {
        let builds_on_it = !matches!(change, BlockChange::Set { .. } | BlockChange::Clear);
        if builds_on_it && !block.is_sound() {
            return Err(BlockFault::NotSound.into());
        }
        Ok(change.applied(block, has_secret)?)
    };
    rewritten(store, (label, root), changed, change.deed(), now)
}

/// Restores the text of an earlier version, byte for byte, as a new version.
///
/// # Errors
/// There is no such block or version, or the store failed.
pub fn roll_back<S: BlockStore>(
    store: &mut S,
    (label, root): (&BlockLabel, &Path),
    target: RollbackTarget,
    now: Timestamp,
) -> Result<Changed, ChangeError<S::Error>> {
    let restored = |store: &S, block: &Block| {
        let versions = store.block_versions(&block.key).map_err(ChangeError::Store)?;
        let earlier = match target {
            RollbackTarget::Steps(steps) => versions.get(steps).ok_or(BlockFault::TooFewVersions(versions.len()))?,
            RollbackTarget::Time(time) => {
                let is_that_old = |block: &&Block| block.version.is_some_and(|version| version.at <= time);
                versions.iter().find(is_that_old).ok_or(BlockFault::NotThatOld)?
            }
        };
        if earlier.is_sound() { Ok(earlier.value.clone()) } else { Err(BlockFault::NotSound.into()) }
    };
    rewritten(store, (label, root), restored, BlockDeed::Rollback, now)
}

/// Writes what `text` makes of a block, and starts again if another process was faster.
fn rewritten<S: BlockStore>(
    store: &mut S,
    (label, root): (&BlockLabel, &Path),
    text: impl Fn(&S, &Block) -> Result<String, ChangeError<S::Error>>,
    deed: BlockDeed,
    now: Timestamp,
) -> Result<Changed, ChangeError<S::Error>> {
    for _ in 0..MAX_TRIES {
        let block = named(label, store.blocks(Some(root)).map_err(ChangeError::Store)?, root)?;
        let value = text(store, &block)?;
        if value == block.value {
            return Ok(Changed::Unchanged(block));
        }
        check_room(store, &block)?;
        let block = Block { value, ..block };
        if let Some(written) = store.write_block(&block, deed, now).map_err(ChangeError::Store)? {
            return Ok(Changed::Written(written));
        }
    }
    Err(ChangeError::Contended)
}

/// Makes a new block, whose text is its template.
///
/// # Errors
/// There is one with its label and scope, it breaks a constraint, or the store failed.
pub fn create<S: BlockStore>(
    store: &mut S,
    new: &Block,
    has_secret: &dyn Fn(&str) -> bool,
    now: Timestamp,
) -> Result<Block, ChangeError<S::Error>> {
    let new = constrained(&Block { value: new.template.clone(), ..new.clone() }, has_secret)?;
    check_new(store, &new)?;
    let written = store.write_block(&new, BlockDeed::New, now).map_err(ChangeError::Store)?;
    Ok(written.ok_or(BlockFault::Exists(new.key.label))?)
}

/// Stores a block of a file: of one that exists only the text is taken.
///
/// # Errors
/// It breaks a constraint, or the store failed.
pub fn import<S: BlockStore>(
    store: &mut S,
    block: &Block,
    has_secret: &dyn Fn(&str) -> bool,
    now: Timestamp,
) -> Result<Changed, ChangeError<S::Error>> {
    let new = constrained(block, has_secret)?;
    let written = match same_scope(store, &new.key.scope)?.into_iter().find(|known| known.key == new.key) {
        Some(known) => {
            let value = change::checked(new.value, known.max_chars, has_secret)?;
            if value == known.value {
                return Ok(Changed::Unchanged(known));
            }
            check_room(store, &known)?;
            store.write_block(&Block { value, ..known }, BlockDeed::Import, now)
        }
        None => {
            check_new(store, &new)?;
            store.write_block(&new, BlockDeed::Import, now)
        }
    };
    written.map_err(ChangeError::Store)?.map(Changed::Written).ok_or(ChangeError::Contended)
}

/// A block that was not written yet, with clean texts.
///
/// # Errors
/// It breaks a constraint.
pub fn constrained(new: &Block, has_secret: &dyn Fn(&str) -> bool) -> Result<Block, BlockFault> {
    if !(1..=record::MAX_CHARS).contains(&new.max_chars) {
        return Err(BlockFault::Limit(record::MAX_CHARS));
    }
    let description = change::clean_description(&new.description)?;
    let description = change::checked(description, change::MAX_DESCRIPTION_CHARS, has_secret)?;
    let template = change::checked(change::clean(&new.template), new.max_chars, has_secret)?;
    let value = change::checked(change::clean(&new.value), new.max_chars, has_secret)?;
    Ok(Block { description, template, value, version: None, ..new.clone() })
}

/// The blocks with this scope, the delivered ones included.
fn same_scope<S: BlockStore>(store: &S, scope: &Scope) -> Result<Vec<Block>, ChangeError<S::Error>> {
    let root = match scope {
        Scope::Everywhere => Path::new(""),
        Scope::Project(root) => root,
    };
    let blocks = visible(store.blocks(Some(root)).map_err(ChangeError::Store)?, root).into_iter();
    Ok(blocks.filter(|block| block.key.scope == *scope).collect())
}

/// Checks whether a block can be made next to those that exist.
fn check_new<S: BlockStore>(store: &S, new: &Block) -> Result<(), ChangeError<S::Error>> {
    let (others, label) = (same_scope(store, &new.key.scope)?, &new.key.label);
    if record::delivered_labels().any(|(known, _)| known == label)
        || others.iter().any(|block| block.key.label == *label)
    {
        return Err(BlockFault::Exists(label.clone()).into());
    }
    let together: usize = others.iter().map(|block| block.max_chars).sum();
    if together.saturating_add(new.max_chars) > MAX_CHARS_OF_SCOPE {
        return Err(BlockFault::LimitsTogether(MAX_CHARS_OF_SCOPE).into());
    }
    check_room(store, new)
}

fn check_room<S: BlockStore>(store: &S, block: &Block) -> Result<(), ChangeError<S::Error>> {
    if block.version.is_none() && store.blocks(None).map_err(ChangeError::Store)?.len() >= MAX_BLOCKS {
        return Err(BlockFault::TooMany(MAX_BLOCKS).into());
    }
    Ok(())
}
