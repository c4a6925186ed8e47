//! The place of a change or command among several of one answer. It travels among the reasons of a question, as text.

use std::fmt;

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// Changes of files.
    Change,
    /// Commands.
    Command,
}

impl Counted {
    fn word(self) -> &'static str {
        match self {
            Self::Change => "change",
            Self::Command => "command",
        }
    }
}

/// The place, from 1 to `count`. `Display` is a phrase; [`read`](Self::read) recognizes it.
///
/// ```
/// use cohab_types::place_in_answer::{Counted, PlaceInAnswer};
/// let place = PlaceInAnswer { what: Counted::Change, number: 1, count: 2 };
/// assert_eq!(place.to_string(), "change 1 of 2 in this answer");
/// assert_eq!(PlaceInAnswer::read("change 1 of 2 in this answer"), Some(place));
/// assert_eq!(PlaceInAnswer::read("change 1 of 2 in this answer, and more"), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlaceInAnswer {
    /// What is counted.
    pub what: Counted,
    /// Its number.
    pub number: usize,
    /// How many there are.
    pub count: usize,
}

impl fmt::Display for PlaceInAnswer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {} of {} in this answer", self.what.word(), self.number, self.count)
    }
}

impl PlaceInAnswer {
    /// The place that a reason tells; `None` for any other reason.
    #[must_use]
    pub fn read(reason: &str) -> Option<Self> {
        let words: Vec<&str> = reason.split(' ').collect();
        let [word, number, _, count, ..] = words[..] else { return None };
        let what = [Counted::Change, Counted::Command].into_iter().find(|what| what.word() == word)?;
        let place = Self { what, number: number.parse().ok()?, count: count.parse().ok()? };
        (place.to_string() == reason).then_some(place)
    }
}
