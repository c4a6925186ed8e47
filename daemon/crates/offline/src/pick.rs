//! A choice among the things of an earlier answer: "the first one", "them".

/// A choice among several things.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pick {
    /// Counted from 0.
    Nth(usize),
    Last,
    /// "them", "all", "both".
    All,
}

impl Pick {
    /// The choice that a word means.
    pub(super) fn read(norm: &str) -> Option<Self> {
        const ORDINALS: [&str; 5] = ["first", "second", "third", "fourth", "fifth"];
        match norm {
            "last" => Some(Self::Last),
            "them" | "those" | "these" | "all" | "both" | "every" => Some(Self::All),
            _ => ORDINALS.iter().position(|word| *word == norm).map(Self::Nth),
        }
    }

    /// The chosen things.
    pub(super) fn of<T: Clone>(self, things: &[T]) -> Vec<T> {
        match self {
            Self::Nth(index) => things.get(index).cloned().into_iter().collect(),
            Self::Last => things.last().cloned().into_iter().collect(),
            Self::All => things.to_vec(),
        }
    }
}
