//! The steps of a plan: the patterns that a line enters, removes, writes or matches, and what has to be listed before they are known.

use std::path::PathBuf;

use crate::git::GitPart;

/// What is to be looked at, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// What is known.
    pub home: PathBuf,
    /// Where the line begins.
    pub cwd: PathBuf,
    /// The looks.
    pub steps: Vec<PlanStep>,
}

/// One look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanStep {
    /// The shell goes there.
    Enter(Pattern),
    /// These are removed, with what is in them or not.
    Remove(Vec<Pattern>, bool),
    /// Something below these is removed.
    RemoveBelow(Vec<Pattern>),
    /// The content of these is replaced.
    Replace(Vec<Pattern>),
    /// The first go to where the last says.
    Transfer(Vec<Pattern>, TransferKind),
    /// These are written to, or made.
    Write(Vec<Pattern>),
    /// These folders are made.
    MakeFolders(Vec<Pattern>),
    /// The permissions or times of these change; of all that is in them, too, or not.
    Attributes(Vec<Pattern>, bool),
    /// The files with these endings below these change; below the project if there are none.
    WriteBelow(Vec<Pattern>, Vec<String>),
    /// What a patch names changes.
    Patch(PatchStep),
    /// An archive is unpacked.
    Unpack(UnpackStep),
    /// A command of git changes files or the repository.
    Git(GitStep),
    /// The changes of files by a program that nothing is known about, or what is changed elsewhere than in files, as a phrase.
    Unseen(String),
    /// A pattern in any other command.
    Match(Pattern),
    /// Uncertain, and why.
    Unknown(String),
    /// From here on the shell's folder is uncertain.
    Lost,
}

impl PlanStep {
    /// Whether it is told on a card before the command runs.
    pub(crate) fn is_shown(&self) -> bool {
        !matches!(
            self,
            Self::Write(_)
                | Self::MakeFolders(_)
                | Self::Attributes(..)
                | Self::WriteBelow(..)
                | Self::Patch(_)
                | Self::Unpack(_)
                | Self::Git(_)
                | Self::Unseen(_)
        )
    }
}

/// How files get to their new place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransferKind {
    /// They leave their old one.
    Move,
    /// They stay.
    Copy,
    /// The same, and the content of a folder that is written with `/` at its end goes without the folder; what the target has besides is
    /// removed or not.
    Sync {
        /// Whether it is removed.
        removes_others: bool,
    },
    /// Links to them are made.
    Link,
}

/// A patch that is applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatchStep {
    /// The file with the patch.
    pub file: Pattern,
    /// Leading parts of names that are left out; any number if it is not said.
    pub strip: Option<usize>,
    /// The folder from which names are read; that of the shell if it is not said.
    pub folder: Option<Pattern>,
}

/// An archive that is unpacked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnpackStep {
    /// The program that lists it.
    pub lister: Lister,
    /// The archive.
    pub archive: Pattern,
    /// The folder into which it is unpacked; that of the shell if it is not said.
    pub folder: Option<Pattern>,
    /// Leading parts of names that are left out.
    pub strip: usize,
}

/// A program that lists an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lister {
    /// `tar -t`.
    Tar,
    /// `unzip -Z1`.
    Unzip,
}

/// A command of git.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitStep {
    /// Its name.
    pub subcommand: String,
    /// The parts of files and repository that it changes.
    pub parts: Vec<GitPart>,
    /// The folder of `-C`.
    pub folder: Option<Pattern>,
    /// Its options, without values.
    pub options: Vec<String>,
    /// The values of options, such as the name of a new branch.
    pub values: Vec<Pattern>,
    /// Its operands.
    pub operands: Vec<Pattern>,
    /// What is behind `--`.
    pub paths: Vec<Pattern>,
}

/// A word that names files. Pieces stand for letters, `*` and `?`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// As written.
    pub raw: String,
    /// Its letters; `None` is `*`, `Some(None)` is `?`.
    pub letters: Vec<Option<Option<char>>>,
}

impl Pattern {
    /// The word of these letters.
    pub(crate) fn of(text: &str) -> Self {
        Self { raw: text.to_owned(), letters: text.chars().map(|c| Some(Some(c))).collect() }
    }

    /// Whether it can stand for more than one name.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.literal().is_none()
    }

    /// The word, if it stands for nothing else.
    #[must_use]
    pub fn literal(&self) -> Option<String> {
        self.letters.iter().map(|letter| letter.flatten()).collect()
    }
}

impl Plan {
    /// Whether there is something to say before the command runs.
    #[must_use]
    pub fn is_worth_a_look(&self) -> bool {
        self.steps.iter().any(PlanStep::is_shown)
    }
}
