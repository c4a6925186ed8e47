//! Compares the state of a shell before and after a command, for receipts and undo. Pure: it starts no shell and reads no file.
//!
//! The shell writes a [`Listing`] with builtins only, by the function `__cohab_state` of [`script`]. Two listings give a
//! [`StateChange`]; a change and the shell's current state give an [`Undo`].

mod definitions;
mod listing;
mod part;
mod programs;
mod reading;
mod reported;
mod undo;
mod word;

use std::collections::{BTreeMap, btree_map::Entry};

pub use listing::{Listing, script};
pub use undo::Undo;

/// One property of a shell that a command can change.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Item {
    /// The working directory.
    Folder,
    /// An exported variable.
    Exported(String),
    /// `PS1` or `RPS1`, if not exported.
    Prompt(String),
    /// A variable that is not exported. Its value is private: the variable is only present or absent. If a variable decides which
    /// programs the shell runs, its value is kept as a hash.
    Variable(String),
    /// An alias; in zsh of a kind.
    Alias(AliasKind, String),
    /// An option that is on, or, absent, off.
    Option(OptionKind, String),
    /// A function: a hash of its definition and, for some in fish, its origin.
    Function(String),
    /// An abbreviation, as fish writes it.
    Abbreviation(String),
    /// The action at a signal or an event of the shell (bash, zsh): a hash.
    Trap(String),
    /// A function that fish calls by itself: the events.
    Handler(String),
    /// A name that the shell's own table resolves to a program outside of PATH (bash, zsh).
    Hashed(String),
    /// A builtin (bash, zsh): `on` or `off`.
    Builtin(String),
    /// All key bindings: a hash.
    Keys,
    /// A command of the line editor (zsh): a hash.
    Widget(String),
    /// The completion of a command's words (bash): a hash.
    Completion(String),
    /// A folder with a name (zsh).
    NamedFolder(String),
    /// The mask of new files' modes.
    Umask,
    /// The folders that `pushd` put aside, the newest first.
    DirectoryStack,
    /// A job, by its process id.
    Job(String),
}

impl Item {
    /// Whether no undo of ours brings it back, even if another command has changed it since.
    #[must_use]
    pub fn is_only_seen(&self) -> bool {
        match self {
            Self::Variable(_)
            | Self::Function(_)
            | Self::Trap(_)
            | Self::Handler(_)
            | Self::Hashed(_)
            | Self::Builtin(_)
            | Self::Keys
            | Self::Widget(_)
            | Self::Completion(_)
            | Self::NamedFolder(_) => true,
            Self::Folder
            | Self::Exported(_)
            | Self::Prompt(_)
            | Self::Alias(..)
            | Self::Option(..)
            | Self::Abbreviation(_)
            | Self::Umask
            | Self::DirectoryStack
            | Self::Job(_) => false,
        }
    }
}

/// The places in which an alias applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AliasKind {
    /// As the first word of a command.
    Command,
    /// As any word (zsh).
    Global,
    /// As the ending of a file's name (zsh).
    Suffix,
}

/// The builtin that sets an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OptionKind {
    /// `set -o`.
    Set,
    /// `shopt` (bash).
    Shopt,
}

/// One text, or the elements of a list (fish; the directory stack). Empty for items that only exist.
pub type Value = Vec<Vec<u8>>;

/// The state of a shell. An absent item is not set, off, or does not exist.
pub type Snapshot = BTreeMap<Item, Value>;

/// The change of one item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The value before; `None` if the item did not exist.
    pub before: Option<Value>,
    /// The value after; `None` if the item does not exist any more.
    pub after: Option<Value>,
}

/// Changes by item. Unchanged items are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StateChange {
    /// The steps, in the order of items.
    pub steps: BTreeMap<Item, Step>,
}

impl StateChange {
    /// The changes from one time to another. The end of a job is no change: jobs end by themselves.
    #[must_use]
    pub fn between(before: &Snapshot, after: &Snapshot) -> Self {
        let gone = before.iter().filter(|(item, _)| !matches!(item, Item::Job(_)) && !after.contains_key(*item));
        let gone = gone.map(|(item, value)| (item.clone(), Step { before: Some(value.clone()), after: None }));
        let new = after.iter().filter(|(item, value)| before.get(*item) != Some(value));
        let new = new.map(|(item, value)| {
            (item.clone(), Step { before: before.get(item).cloned(), after: Some(value.clone()) })
        });
        Self { steps: gone.chain(new).collect() }
    }

    /// Adds what changed later. What is again as it was is no change.
    pub fn then(&mut self, later: Self) {
        for (item, step) in later.steps {
            match self.steps.entry(item) {
                Entry::Vacant(entry) => {
                    entry.insert(step);
                }
                Entry::Occupied(mut entry) if entry.get().before != step.after => entry.get_mut().after = step.after,
                Entry::Occupied(entry) => {
                    entry.remove();
                }
            }
        }
    }

    /// Whether nothing changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }
}

#[cfg(test)]
mod tests;
