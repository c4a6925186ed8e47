//! The words that the user added to a turn, until the turn takes them and the client knows.

use std::collections::VecDeque;

use cohab_protocol::MAX_QUERY_BYTES;

/// Additions that wait; the client keeps those beyond, since they are never reported.
pub(super) const MAX_WAITING: usize = 8;

/// The additions of one turn.
#[derive(Debug, Default)]
pub(super) struct Additions {
    /// Number of the last one that was accepted.
    last: u32,
    waiting: VecDeque<(u32, String)>,
    /// Taken, and not yet reported to the client.
    taken: VecDeque<u32>,
    /// Number of the last one that was reported.
    reported: u32,
}

impl Additions {
    /// Keeps words that are new and fit.
    pub fn accept(&mut self, number: u32, text: String) {
        let fits = self.waiting.len() < MAX_WAITING && text.len() <= MAX_QUERY_BYTES;
        if number > self.last && fits {
            self.last = number;
            self.waiting.push_back((number, text));
        }
    }

    /// Gives those that wait, each once.
    pub fn take(&mut self) -> Vec<String> {
        let waiting = std::mem::take(&mut self.waiting);
        self.taken.extend(waiting.iter().map(|(number, _)| *number));
        waiting.into_iter().map(|(_, text)| text).collect()
    }

    /// Whether the client was informed that these words are part of the conversation.
    pub fn is_reported(&self, number: u32) -> bool {
        self.reported >= number
    }

    /// The number of the oldest words that were taken and not reported. They are reported now.
    pub fn report(&mut self) -> Option<u32> {
        self.reported = self.taken.pop_front()?;
        Some(self.reported)
    }

    /// How many were taken and not reported.
    #[cfg(test)]
    pub fn unreported(&self) -> usize {
        self.taken.len()
    }
}
