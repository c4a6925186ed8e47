//! The timeline is a session's outgoing queue and its memory for a client that returns. Pure.
//!
//! Entries wait behind a cursor until the client can take them. Waiting text is joined, so a slow reader gets fewer and larger chunks
//! and `seq` has no gaps. Sent entries are kept, within a bound, until the next turn.

use std::{collections::VecDeque, sync::Arc};

use cohab_protocol::{AgentStreamChunk, ChunkDelta, DaemonMessage, ResumePoint, TurnId, codec};

/// A turn waits while more than this is queued, in bytes.
pub const MAX_WAITING_BYTES: usize = 1024 * 1024;
/// Sent entries are kept for a replay up to this size, in bytes.
pub const MAX_KEPT_BYTES: usize = 4 * 1024 * 1024;
/// Waiting text is joined up to this size of a chunk, in bytes.
const MAX_JOINED_BYTES: usize = 32 * 1024;
/// Size of an entry besides its text, in bytes; for the bounds above.
const ENTRY_BYTES: usize = 128;

/// The outgoing messages of one session.
#[derive(Debug, Default)]
pub struct Timeline {
    entries: VecDeque<TimelineEntry>,
    /// Index of the first waiting entry.
    cursor: usize,
    turn_id: Option<TurnId>,
    next_seq: u64,
    sent_bytes: usize,
    waiting_bytes: usize,
}

#[derive(Debug)]
struct TimelineEntry {
    /// Shared with the sender: it may be megabytes.
    message: Arc<DaemonMessage>,
    bytes: usize,
}

/// The degree to which a client's resume request was met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resumed {
    /// All chunks from the requested one on will be sent.
    Complete,
    /// Some requested chunks are no longer kept.
    Gap,
    /// The turn is not the current one; nothing is sent again.
    OtherTurn,
}

impl Timeline {
    /// Starts a turn: chunks count from 0, sent entries are forgotten.
    pub fn begin(&mut self, turn_id: TurnId) {
        self.entries.drain(..self.cursor);
        (self.cursor, self.sent_bytes) = (0, 0);
        (self.turn_id, self.next_seq) = (Some(turn_id), 0);
        self.push(DaemonMessage::TurnStarted { turn_id });
    }

    /// Whether a turn may add more now.
    #[must_use]
    pub fn has_room(&self) -> bool {
        self.waiting_bytes < MAX_WAITING_BYTES
    }

    /// Whether anything waits to be sent.
    #[must_use]
    pub fn has_waiting(&self) -> bool {
        self.cursor < self.entries.len()
    }

    /// Chunks of the turn so far.
    #[must_use]
    pub fn chunks(&self) -> u64 {
        self.next_seq
    }

    /// Adds a message that is not a chunk.
    pub fn push(&mut self, message: DaemonMessage) {
        let bytes = ENTRY_BYTES + codec::encoded_len(&message).unwrap_or(0);
        self.append(message, bytes);
    }

    /// Adds to the answer of the running turn.
    pub fn push_delta(&mut self, delta: ChunkDelta) {
        let Some(turn_id) = self.turn_id else { return };
        let has_waiting = self.has_waiting();
        if let Some(last) = self.entries.back_mut().filter(|_| has_waiting)
            && let DaemonMessage::AgentStreamChunk(chunk) = Arc::make_mut(&mut last.message)
            && chunk.turn_id == turn_id
            && let Some(more) = join(&mut chunk.delta, &delta)
        {
            last.bytes += more;
            self.waiting_bytes += more;
            return;
        }
        let bytes = ENTRY_BYTES + text_of(&delta).map_or(0, str::len);
        let message = DaemonMessage::AgentStreamChunk(AgentStreamChunk { turn_id, seq: self.next_seq, delta });
        self.next_seq += 1;
        self.append(message, bytes);
    }

    /// Takes the next message to send. Messages that `is_moot` by now are skipped.
    pub fn next(&mut self, is_moot: impl Fn(&DaemonMessage) -> bool) -> Option<Arc<DaemonMessage>> {
        while let Some(entry) = self.entries.get(self.cursor) {
            self.cursor += 1;
            self.waiting_bytes -= entry.bytes;
            self.sent_bytes += entry.bytes;
            if !is_moot(&entry.message) {
                let message = Arc::clone(&entry.message);
                self.forget_oldest();
                return Some(message);
            }
        }
        self.forget_oldest();
        None
    }

    /// Forgets sent messages that would not be sent again: they may be megabytes.
    pub fn forget_moot(&mut self, is_moot: impl Fn(&DaemonMessage) -> bool) {
        let waiting = self.entries.split_off(self.cursor);
        self.entries.retain(|entry| !is_moot(&entry.message));
        let kept = self.entries.len();
        self.entries.extend(waiting);
        self.move_cursor(kept);
    }

    /// Moves the cursor for a client that returns.
    pub fn resume(&mut self, from: ResumePoint) -> Resumed {
        if self.turn_id != Some(from.turn_id) {
            return Resumed::OtherTurn;
        }
        let seen =
            self.entries.iter().rposition(|entry| seq_of(entry, from.turn_id).is_some_and(|seq| seq < from.next_seq));
        let first_kept = self.entries.iter().find_map(|entry| seq_of(entry, from.turn_id)).unwrap_or(self.next_seq);
        self.move_cursor(seen.map_or(0, |index| index + 1));
        if first_kept > from.next_seq { Resumed::Gap } else { Resumed::Complete }
    }

    /// Skips all waiting entries: no client is attached that would understand them.
    pub fn skip(&mut self) {
        self.move_cursor(self.entries.len());
        self.forget_oldest();
    }

    fn append(&mut self, message: DaemonMessage, bytes: usize) {
        self.waiting_bytes += bytes;
        self.entries.push_back(TimelineEntry { message: Arc::new(message), bytes });
    }

    fn move_cursor(&mut self, cursor: usize) {
        let bytes = |entries: &mut dyn Iterator<Item = &TimelineEntry>| entries.map(|entry| entry.bytes).sum();
        self.cursor = cursor;
        self.sent_bytes = bytes(&mut self.entries.iter().take(cursor));
        self.waiting_bytes = bytes(&mut self.entries.iter().skip(cursor));
    }

    fn forget_oldest(&mut self) {
        while self.sent_bytes > MAX_KEPT_BYTES && self.cursor > 0 {
            let Some(entry) = self.entries.pop_front() else { return };
            self.cursor -= 1;
            self.sent_bytes -= entry.bytes;
        }
    }
}

fn seq_of(entry: &TimelineEntry, turn_id: TurnId) -> Option<u64> {
    match &*entry.message {
        DaemonMessage::AgentStreamChunk(chunk) if chunk.turn_id == turn_id => Some(chunk.seq),
        _ => None,
    }
}

fn text_of(delta: &ChunkDelta) -> Option<&str> {
    match delta {
        ChunkDelta::Text(text) | ChunkDelta::Reasoning(text) => Some(text),
        ChunkDelta::Reset => None,
    }
}

/// Appends `more` to `delta` if both are of one kind and the result is small enough. Returns the added bytes.
fn join(delta: &mut ChunkDelta, more: &ChunkDelta) -> Option<usize> {
    let (text, more) = match (delta, more) {
        (ChunkDelta::Text(text), ChunkDelta::Text(more)) => (text, more),
        (ChunkDelta::Reasoning(text), ChunkDelta::Reasoning(more)) => (text, more),
        _ => return None,
    };
    (text.len() + more.len() <= MAX_JOINED_BYTES).then(|| {
        text.push_str(more);
        more.len()
    })
}

#[cfg(test)]
mod tests;
