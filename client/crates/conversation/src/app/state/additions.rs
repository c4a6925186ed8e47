//! Words that the user added to a turn, until the daemon says that the model reads them.

use std::collections::VecDeque;

/// Additions that wait to be read.
const MAX_UNREAD: usize = 8;

/// The additions of one turn, numbered from 1.
#[derive(Debug, Default)]
pub(crate) struct Additions {
    last: u32,
    unread: VecDeque<(u32, String)>,
}

impl Additions {
    /// Keeps an addition. False if too many wait.
    pub(crate) fn add(&mut self, words: &str) -> bool {
        let has_room = self.unread.len() < MAX_UNREAD;
        if has_room {
            self.last += 1;
            self.unread.push_back((self.last, words.to_owned()));
        }
        has_room
    }

    /// The unread ones, oldest first.
    pub(crate) fn unread(&self) -> impl DoubleEndedIterator<Item = (u32, &str)> {
        self.unread.iter().map(|(number, words)| (*number, words.as_str()))
    }

    /// The additions up to this number are read.
    pub(crate) fn read(&mut self, number: u32) {
        self.unread.retain(|(unread, _)| *unread > number);
    }

    /// Takes the unread ones, oldest first.
    pub(crate) fn take_unread(&mut self) -> Vec<String> {
        std::mem::take(&mut self.unread).into_iter().map(|(_, words)| words).collect()
    }
}
