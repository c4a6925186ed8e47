//! The inbox: what the assistant proposes to remember, until the user accepts or rejects it. Pure.
//!
//! A proposal is given to no question. Only the user makes something of it.

#[cfg(any(test, feature = "testing"))]
pub mod conformance;

use std::{
    fmt,
    path::{Path, PathBuf},
    str::FromStr,
};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::blocks::change::BlockEdit;
use crate::record::{LEAST_TRUST, NewMemory, Origin, Scope, Source};

/// Most proposals that wait; beyond, the oldest ones are deleted.
pub const MAX_WAITING: u64 = 200;
/// Longest proposal, in bytes of its JSON.
pub const MAX_BODY_BYTES: usize = 64 * 1024;

/// Number of a proposal. A store gives each number once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProposalId(pub u64);

impl fmt::Display for ProposalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for ProposalId {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}

/// What is proposed. Its JSON is how a store keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Proposed {
    /// A fact, as one line of clean text.
    Fact {
        /// The fact.
        text: String,
    },
    /// A skill that describes how something is done.
    Procedure {
        /// Its name: letters, digits, `-` and `_`.
        name: String,
        /// The text of its `SKILL.md`.
        text: String,
    },
    /// A change of a memory block.
    Block(BlockEdit),
}

impl Proposed {
    /// What makes two proposals for one scope the same: the text of a fact, the name of a procedure, the whole change of a block.
    #[must_use]
    pub fn key(&self) -> String {
        match self {
            // A fact has no line end.
            Self::Fact { text } => text.clone(),
            Self::Procedure { name, .. } => format!("procedure\n{name}"),
            Self::Block(edit) => format!("block\n{edit:?}"),
        }
    }
}

/// A proposal to be stored.
#[derive(Clone, Debug, PartialEq)]
pub struct NewProposal {
    /// What is proposed.
    pub what: Proposed,
    /// Where it would hold.
    pub scope: Scope,
    /// From 0 to 1: the least trust of what it was derived from.
    pub trust: f64,
    /// What it was derived from.
    pub sources: Vec<Source>,
    /// What speaks for it, in one line: "it went well 7 times".
    pub evidence: String,
    /// The folder in which it came up.
    pub folder: PathBuf,
}

impl NewProposal {
    /// Whether strangers may have written it.
    #[must_use]
    pub fn is_doubtful(&self) -> bool {
        self.trust.is_nan() || self.trust < LEAST_TRUST
    }

    /// The fact that it becomes when the user accepts it; `None` if it proposes no fact. The user's word raises its trust, unless strangers
    /// may have written it.
    #[must_use]
    pub fn accepted_fact(&self) -> Option<NewMemory> {
        let Proposed::Fact { text } = &self.what else { return None };
        let fact = NewMemory::stated(text.clone(), self.scope.clone(), Origin::Accepted, self.folder.clone());
        let trust = if self.is_doubtful() { self.trust } else { fact.trust };
        Some(NewMemory { trust, sources: self.sources.clone(), ..fact })
    }
}

/// A proposal that waits.
#[derive(Clone, Debug, PartialEq)]
pub struct Waiting {
    /// Its number.
    pub id: ProposalId,
    /// The proposal.
    pub new: NewProposal,
    /// The time at which it was proposed.
    pub at: Timestamp,
}

/// Keeps proposals.
pub trait Inbox {
    /// A failure of the store.
    type Error: std::error::Error;

    /// Stores a proposal. If the same waits for the same scope, its evidence and sources are replaced, and its trust is the lower one. `None` if
    /// the user rejected it, if it is a fact already, or if it is longer than [`MAX_BODY_BYTES`].
    ///
    /// # Errors
    /// It cannot be written.
    fn propose(&mut self, new: &NewProposal, now: Timestamp) -> Result<Option<ProposalId>, Self::Error>;

    /// The proposals for `folder`, or all with `None`, oldest first. One that another program changed is left out.
    ///
    /// # Errors
    /// They cannot be read.
    fn waiting(&self, folder: Option<&Path>) -> Result<Vec<Waiting>, Self::Error>;

    /// Deletes proposals; afterwards no file of the store contains their text.
    ///
    /// # Errors
    /// They cannot be deleted.
    fn withdraw(&mut self, ids: &[ProposalId]) -> Result<(), Self::Error>;

    /// Deletes a proposal, and never stores the same again for this scope.
    ///
    /// # Errors
    /// It cannot be written.
    fn reject(&mut self, proposal: &Waiting) -> Result<(), Self::Error>;

    /// How many proposals wait for `folder`, if a line about it is due: there is a newer one than at the last such line, which was at least a
    /// day ago. The line counts as shown.
    ///
    /// # Errors
    /// It cannot be read or written.
    fn due_notice(&mut self, folder: &Path, now: Timestamp) -> Result<Option<usize>, Self::Error>;
}
