//! `cohab memory blocks` shows and changes memory blocks: named texts that every question is given.

pub(super) mod change;
mod fault;
mod list;
mod make;
mod stored;
pub(super) mod transfer;

use std::io::Write;

use clap::{Args, Subcommand};
use cohab_memory::blocks::{
    change::BlockChange,
    record::{BlockLabel, MAX_CHARS, USUAL_CHARS},
};

use super::{super::Failure, Caller};

/// Which block, or all.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "A block is a text that every question is given, as long as it is not empty. `persona` is about the assistant, `human` \
        about you, `project` about the project around the current folder, with a separate text in each. `new` makes others. The last \
        100 versions of each are kept. The assistant cannot change a block without a card."
)]
pub struct BlocksArgs {
    /// What to do; without it, list.
    #[command(subcommand)]
    pub command: Option<BlocksCommand>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub enum BlocksCommand {
    /// Show a block with its text
    Show(OneBlock),
    /// Make a block
    New(NewBlockArgs),
    /// Replace the text of a block
    Set(BlockTextArgs),
    /// Add lines at the end of a block
    Append(BlockTextArgs),
    /// Add lines at the beginning of a block
    Prepend(BlockTextArgs),
    /// Replace a part of a block, which must be there exactly once
    Replace {
        /// Name of the block
        label: BlockLabel,
        /// The part, exactly as it is
        #[arg(allow_hyphen_values = true)]
        old: String,
        /// What takes its place; "" deletes the part
        #[arg(allow_hyphen_values = true)]
        new: String,
    },
    /// Empty a block, or go back to its template
    Clear {
        /// Name of the block
        label: BlockLabel,
        /// Delete all earlier versions as well
        #[arg(long)]
        history: bool,
    },
    /// List the versions of a block, newest first
    History(OneBlock),
    /// Restore an earlier version; the versions after it stay in the history
    Rollback(RollbackArgs),
    /// Delete a block with all its versions
    Rm {
        /// Name of the block
        label: BlockLabel,
    },
}

/// One block.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct OneBlock {
    /// Name of the block
    pub label: BlockLabel,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// What to make.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct NewBlockArgs {
    /// Name: a lower-case letter, then letters, digits, `_` or `-`
    pub label: BlockLabel,
    /// One line about its purpose, which the model reads
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub description: String,
    /// Text that it begins with, and that `clear` restores
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub template: String,
    /// Most characters of its text, up to 8000
    #[arg(long, value_name = "N", default_value_t = USUAL_CHARS as u64, value_parser = clap::value_parser!(u64).range(1..=MAX_CHARS as u64))]
    pub limit: u64,
    /// It holds in this project only
    #[arg(long)]
    pub project: bool,
}

/// Which text.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct BlockTextArgs {
    /// Name of the block
    pub label: BlockLabel,
    /// The text; several words are joined, `-` reads the standard input
    #[arg(required = true, value_name = "TEXT", allow_hyphen_values = true)]
    pub text: Vec<String>,
}

/// Which version.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct RollbackArgs {
    /// Name of the block
    pub label: BlockLabel,
    /// How many versions to go back
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub steps: u64,
    /// Take back all changes since this time: a date, `monday`, `2 days ago`
    #[arg(long, value_name = "WHEN", conflicts_with = "steps")]
    pub to: Option<String>,
}

pub(super) fn blocks(args: &BlocksArgs, caller: &mut Caller<'_>, output: &mut dyn Write) -> Result<(), Failure> {
    match &args.command {
        None => list::list(args.json, caller, output),
        Some(BlocksCommand::Show(one)) => list::show(one, caller, output),
        Some(BlocksCommand::History(one)) => list::history(one, caller, output),
        Some(BlocksCommand::New(new)) => make::new(new, caller, output),
        Some(BlocksCommand::Set(args)) => change::text(|text| BlockChange::Set { text }, args, caller, output),
        Some(BlocksCommand::Append(args)) => change::text(|text| BlockChange::Append { text }, args, caller, output),
        Some(BlocksCommand::Prepend(args)) => change::text(|text| BlockChange::Prepend { text }, args, caller, output),
        Some(BlocksCommand::Replace { label, old, new }) => change::replace(label, (old, new), caller, output),
        Some(BlocksCommand::Clear { label, history: false }) => change::clear(label, caller, output),
        Some(BlocksCommand::Clear { label, history: true }) => make::clear_with_history(label, caller, output),
        Some(BlocksCommand::Rollback(args)) => change::roll_back(args, caller, output),
        Some(BlocksCommand::Rm { label }) => make::remove(label, caller, output),
    }
}
