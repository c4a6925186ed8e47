//! A turn behind the prompt: where the assistant is, and what waits for the user's return.

use std::collections::VecDeque;

use cohab_protocol::ChunkDelta;
use cohab_term::wrap::char_boundary;

use super::asked::Asked;

/// Questions that wait for the end of the turn.
const QUEUE_MAX: usize = 8;
/// Text kept for the user's return; of the rest only the length.
const KEPT_BYTES: usize = 1024 * 1024;

/// Where the assistant is during a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Presence {
    /// At the terminal, or a command of the turn is.
    #[default]
    Here,
    /// The shell has been asked for its prompt.
    Leaving,
    /// The terminal is the user's, nothing is drawn.
    Away,
    /// The relay has been asked for the terminal, and waits for a good moment.
    ComingBack,
}

/// What there is to know about a turn behind the prompt.
#[derive(Debug, Default)]
pub(crate) struct BackgroundTurn {
    pub place: Presence,
    /// Keys of the user wait for the shell.
    pub keys_wait: bool,
    pub has_told: bool,
    /// Text came that was not shown.
    pub has_text: bool,
    kept_bytes: usize,
    pub left_out_bytes: u64,
    pub queue: VecDeque<Asked>,
    /// The last of the queue was asked for, and the relay has not yet put its line away.
    pub is_asking: bool,
    /// What was said of an entered question stands first.
    pub has_answered_line: bool,
    pub is_stopped: bool,
}

impl BackgroundTurn {
    /// Keeps a question for the end of the turn. False if too many wait.
    pub(crate) fn keep(&mut self, asked: Asked) -> bool {
        let has_room = self.queue.len() < QUEUE_MAX;
        if has_room {
            self.queue.push_back(asked);
        }
        has_room
    }

    /// Whether the terminal is the shell's although a turn is on.
    pub(crate) fn is_away(&self) -> bool {
        matches!(self.place, Presence::Away | Presence::ComingBack)
    }

    /// Keys of the user wait for the shell.
    pub(crate) fn keys_wait(&mut self) {
        self.keys_wait = true;
    }

    /// Counts what comes while nothing is shown, and cuts what is too much.
    pub(crate) fn admit(&mut self, delta: ChunkDelta) -> ChunkDelta {
        if self.place == Presence::Here {
            return delta;
        }
        match delta {
            ChunkDelta::Text(mut text) => {
                self.has_text |= !text.is_empty();
                let kept = char_boundary(&text, KEPT_BYTES.saturating_sub(self.kept_bytes));
                self.left_out_bytes += u64::try_from(text.len() - kept).unwrap_or(u64::MAX);
                // Behind a gap nothing is kept, so that the beginning stays whole.
                self.kept_bytes = if kept < text.len() { KEPT_BYTES } else { self.kept_bytes + kept };
                text.truncate(kept);
                ChunkDelta::Text(text)
            }
            ChunkDelta::Reset => {
                (self.kept_bytes, self.left_out_bytes) = (0, 0);
                ChunkDelta::Reset
            }
            reasoning @ ChunkDelta::Reasoning(_) => reasoning,
        }
    }

    /// The terminal is ours again: only the questions that wait stay, and whether the hint was given.
    pub(crate) fn come_back(&mut self) {
        let (queue, has_told) = (std::mem::take(&mut self.queue), self.has_told);
        *self = Self { queue, has_told, ..Self::default() };
    }

    /// Forgets the questions that wait; how many they were, in words.
    pub(crate) fn drop_queue(&mut self) -> Option<String> {
        match std::mem::take(&mut self.queue).len() {
            0 => None,
            1 => Some("1 queued question was dropped.".to_owned()),
            count => Some(format!("{count} queued questions were dropped.")),
        }
    }

    /// What is said when the user stops the turn. Nothing of what was queued is asked then.
    pub(crate) fn stopped_remark(&mut self, stopped: &str) -> String {
        self.drop_queue().map_or_else(|| stopped.to_owned(), |dropped| format!("{stopped} {dropped}"))
    }
}
