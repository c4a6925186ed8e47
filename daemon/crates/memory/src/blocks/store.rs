//! The contract of a store of memory blocks. Pure.

use std::path::Path;

use jiff::Timestamp;

use super::record::{Block, BlockDeed, BlockKey};

/// Versions of a block that a store keeps; the oldest go first.
pub const MAX_VERSIONS: usize = 100;

/// Keeps memory blocks with their versions. A block that has no version does not exist here, also if it is delivered.
pub trait BlockStore {
    /// A failure of the store.
    type Error: std::error::Error;

    /// The newest version of each block that holds everywhere or in the project with exactly this root; of all blocks with `None`. By
    /// label.
    ///
    /// # Errors
    /// They cannot be read.
    fn blocks(&self, root: Option<&Path>) -> Result<Vec<Block>, Self::Error>;

    /// The versions of a block, newest first.
    ///
    /// # Errors
    /// They cannot be read.
    fn block_versions(&self, key: &BlockKey) -> Result<Vec<Block>, Self::Error>;

    /// Stores a block as its newest version, and drops its oldest beyond [`MAX_VERSIONS`]. `None`, and nothing is stored, if the newest
    /// version is another one than `block.version`: it changed since the block was read.
    ///
    /// # Errors
    /// It cannot be written.
    fn write_block(&mut self, block: &Block, deed: BlockDeed, now: Timestamp) -> Result<Option<Block>, Self::Error>;

    /// Deletes all versions of a block, and stores `replacement`, if there is one, as its first version. Afterwards no file of the
    /// store contains the texts of the deleted versions. Returns how many there were.
    ///
    /// # Errors
    /// They cannot be deleted.
    fn forget_block(&mut self, key: &BlockKey, replacement: Option<&Block>, now: Timestamp)
    -> Result<u64, Self::Error>;
}
