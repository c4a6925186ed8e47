//! The code of an answer as its source, to be copied. Bounded: what is too much goes, the oldest first.

use std::collections::VecDeque;

/// Blocks that are kept.
pub const MAX_CODE_BLOCKS: usize = 20;
/// Bytes that are kept in all.
pub const MAX_CODE_BYTES: usize = 256 * 1024;

/// One block of code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CodeBlock {
    /// As the answer names it; may be empty.
    pub language: String,
    /// Its source, each line with its LF, without colours and indentation of ours. Empty if it was longer than all that is kept.
    pub text: String,
}

/// The last blocks of code, in the order of the answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CodeBlocks {
    blocks: VecDeque<CodeBlock>,
    bytes: usize,
    is_open: bool,
    is_too_long: bool,
}

impl CodeBlocks {
    /// The blocks, the oldest first. One that is still coming is the last, with what came so far.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &CodeBlock> + ExactSizeIterator {
        self.blocks.iter()
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.blocks.len()
    }

    /// Whether there is no block.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    pub(super) fn open(&mut self, language: &str) {
        (self.is_open, self.is_too_long) = (true, false);
        self.blocks.push_back(CodeBlock { language: language.to_owned(), text: String::new() });
        self.bytes += language.len();
        self.shrink();
    }

    /// Adds to the open block; a line comes with its LF.
    pub(super) fn push(&mut self, text: &str) {
        let Some(block) = self.blocks.back_mut().filter(|_| self.is_open && !self.is_too_long) else { return };
        block.text.push_str(text);
        self.bytes += text.len();
        self.shrink();
    }

    pub(super) fn close(&mut self) {
        self.is_open = false;
    }

    fn shrink(&mut self) {
        while self.blocks.len() > MAX_CODE_BLOCKS || (self.bytes > MAX_CODE_BYTES && self.blocks.len() > 1) {
            let Some(gone) = self.blocks.pop_front() else { break };
            self.bytes -= gone.language.len() + gone.text.len();
        }
        // Half a block must not be pasted for a whole one.
        if let Some(last) = self.blocks.back_mut().filter(|_| self.bytes > MAX_CODE_BYTES) {
            *last = CodeBlock::default();
            (self.bytes, self.is_too_long) = (0, true);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn push_block(blocks: &mut CodeBlocks, text: &str) {
        blocks.open("sh");
        blocks.push(text);
        blocks.close();
    }

    #[test]
    fn the_oldest_block_goes_first() {
        let mut blocks = CodeBlocks::default();
        (0..30).for_each(|number| push_block(&mut blocks, &format!("{number}\n")));
        assert_eq!(blocks.len(), MAX_CODE_BLOCKS);
        assert_eq!(blocks.iter().map(|block| block.text.as_str()).next(), Some("10\n"));
        assert_eq!(blocks.iter().next_back().map(|block| block.text.as_str()), Some("29\n"));
    }

    #[test]
    fn all_of_them_stay_within_the_bytes_and_none_is_half() {
        let mut blocks = CodeBlocks::default();
        let large = "x".repeat(MAX_CODE_BYTES / 2);
        (0..5).for_each(|_| push_block(&mut blocks, &large));
        assert_eq!(blocks.len(), 1);
        blocks.open("sh");
        (0..10).for_each(|_| blocks.push(&large));
        assert_eq!(blocks.iter().map(|block| block.text.len()).collect::<Vec<_>>(), [0]);
        push_block(&mut blocks, "after\n");
        assert_eq!(blocks.iter().next_back().map(|block| block.text.as_str()), Some("after\n"));
    }

    #[test]
    fn text_behind_a_closed_block_is_none_of_it() {
        let mut blocks = CodeBlocks::default();
        push_block(&mut blocks, "a\n");
        blocks.push("b\n");
        assert_eq!(blocks.iter().next().map(|block| block.text.as_str()), Some("a\n"));
    }
}
