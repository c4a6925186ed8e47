//! Determines the files that a command would touch, as far as that is certain before the command runs: the files that a pattern
//! matches, the number of files that a removal hits, the file that an output replaces. [`plan`] reads the line, [`walk`] looks at the
//! files, and [`changes`] lists what has to be kept so that the command can be undone; [`listing`] asks git and archivers where only they
//! know. What programs change is in `writers.table` and `git.table`. Uncertain effects are reported as unknown.

mod arguments;
pub mod changes;
mod git;
pub mod left_out;
pub mod listing;
mod patch;
pub mod plan;
mod steps;
mod table;
mod unpack;
pub mod walk;
mod words;
mod writers;

#[cfg(test)]
mod tests;

use std::path::PathBuf;

/// What was found about a command, in the order of the line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Impact {
    /// The findings.
    pub notes: Vec<Note>,
}

/// One finding. Paths are absolute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// What a removal hits.
    Removes(Tally),
    /// Files whose content would be replaced, and their sizes in bytes.
    Replaces(Vec<(PathBuf, u64)>),
    /// What a pattern stands for.
    Matches {
        /// As written.
        pattern: String,
        /// How many names.
        count: usize,
        /// The first of them.
        examples: Vec<PathBuf>,
    },
    /// A place that is never removed on purpose.
    Grave(Grave),
    /// What is uncertain, and why.
    Unknown(String),
    /// What an undo will not bring back.
    LeftOut(Vec<LeftOut>),
}

/// Something that an undo will not bring back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LeftOut {
    /// Changes that are not known or not in files, as a phrase.
    Changes(String),
    /// What is at a path, and why, as a phrase.
    Path(PathBuf, &'static str),
}

/// Places whose removal is said in hard words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Grave {
    /// The home folder, what holds it, or all that is in it.
    Home,
    /// The root of the file system, or all that is in it.
    Root,
    /// The folder that the shell is in, or one above it.
    Here(PathBuf),
    /// Another file system is mounted there.
    MountPoint(PathBuf),
}

/// Files and folders that are hit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Everything that is no folder.
    pub files: usize,
    /// Folders.
    pub folders: usize,
    /// Bytes in files.
    pub bytes: u64,
    /// There is more; the count was given up.
    pub is_partial: bool,
    /// Not all of these, perhaps: tests of `find` are not carried out.
    pub is_upper_bound: bool,
    /// The first of those that are named.
    pub examples: Vec<PathBuf>,
    /// How many are named.
    pub named: usize,
}
