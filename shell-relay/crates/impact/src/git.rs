//! Names the parts of files and repository that a command of git changes. Pure; [`crate::listing`] finds the files.

use std::sync::LazyLock;

use crate::{
    arguments::Arguments,
    table::{self, Row},
    words::PatternWord,
};

/// What commands of git change.
static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| table::parse(include_str!("git.table")));
/// The names of the parts in the table.
const PARTS: [(&str, GitPart); 12] = [
    ("head", GitPart::Head),
    ("index", GitPart::Index),
    ("heads", GitPart::Heads),
    ("tags", GitPart::Tags),
    ("stash", GitPart::Stash),
    ("state", GitPart::State),
    ("tree", GitPart::Tree),
    ("dirty", GitPart::Dirty),
    ("untracked", GitPart::Untracked),
    ("commits", GitPart::Commits),
    ("stashed", GitPart::Stashed),
    ("files", GitPart::Files),
];

/// A part of a repository or its files, as the table describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GitPart {
    /// HEAD, and the branch that it names.
    Head,
    /// The index.
    Index,
    /// Branches that are named.
    Heads,
    /// Tags that are named.
    Tags,
    /// The list of stashes.
    Stash,
    /// A merge, rebase or pick under way.
    State,
    /// Files that differ between the index and a commit.
    Tree,
    /// Tracked files that are not as in the index.
    Dirty,
    /// Files that are not tracked.
    Untracked,
    /// Files that the named commits changed.
    Commits,
    /// Files of a stash.
    Stashed,
    /// The operands.
    Files,
}

/// What a command of git changes.
#[derive(Debug)]
pub(crate) struct GitChange {
    pub parts: Vec<GitPart>,
    /// What no undo brings back, as a phrase.
    pub says: Option<&'static str>,
    pub arguments: Arguments,
}

/// `None` if the table does not have the command.
pub(crate) fn change(subcommand: &str, words: &[&PatternWord]) -> Option<GitChange> {
    let (row, arguments) = table::find(&ROWS, subcommand, words)?;
    let says = row.what.strip_prefix("says:");
    let part = |name| PARTS.iter().find(|(known, _)| *known == name).map(|(_, part)| *part);
    let parts = if says.is_some() { Vec::new() } else { row.what.split_whitespace().filter_map(part).collect() };
    Some(GitChange { parts, says, arguments })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_of_the_table_is_a_part() {
        for row in ROWS.iter().filter(|row| !row.what.starts_with("says:") && row.what != "nothing") {
            for name in row.what.split_whitespace() {
                assert!(PARTS.iter().any(|(known, _)| *known == name), "{name}");
            }
        }
    }
}
