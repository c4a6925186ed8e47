//! The session record holds a session's unsaved events and the state of its shell.

use std::{
    collections::VecDeque,
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError},
};

use cohab_context::query::{FAILED_OUTPUT_BYTES, MAX_HISTORY_EVENTS, OUTPUT_BYTES, PastCommand};
use cohab_store::sessions::{Left, event::Event, steps::recover::Unfinished};
use cohab_text::{cut::tail, sanitize::sanitize};
use cohab_types::command::{CommandOutcome, MASKED};
use jiff::Timestamp;

use super::StoredMessages;

/// Variables of which it is known how they were left.
const MAX_VARIABLES: usize = 64;
/// Longest value of one, in bytes.
const MAX_VALUE_BYTES: usize = 4 * 1024;

/// State between turns, in memory.
#[derive(Debug, Default)]
pub struct SessionRecord {
    state: Mutex<SessionRecordState>,
    restoring: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct SessionRecordState {
    /// The user's commands since the last question: they are stored with the next one, as they go to the model then.
    commands: VecDeque<(Timestamp, Event)>,
    left: Left,
    is_restored: bool,
    unfinished: Option<Unfinished>,
    stored: Option<StoredMessages>,
}

impl SessionRecord {
    fn state(&self) -> MutexGuard<'_, SessionRecordState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a command of the user.
    pub fn command_ran(&self, command: &PastCommand) {
        let longest = if command.exit_code == 0 { OUTPUT_BYTES } else { FAILED_OUTPUT_BYTES };
        let event = Event::Shell {
            line: command.line.as_deref().map(sanitize),
            exit_code: command.exit_code,
            cwd: command.cwd.to_string_lossy().into_owned(),
            duration_ms: u64::try_from(command.duration.as_millis()).unwrap_or(u64::MAX),
            output_tail: tail(&sanitize(&command.output_tail), longest).to_owned(),
        };
        let mut state = self.state();
        if state.commands.len() == MAX_HISTORY_EVENTS {
            state.commands.pop_front();
        }
        state.left.cwd = command.cwd.to_string_lossy().into_owned();
        state.commands.push_back((Timestamp::now(), event));
    }

    pub(super) fn take_commands(&self) -> VecDeque<(Timestamp, Event)> {
        std::mem::take(&mut self.state().commands)
    }

    /// Notes a command of the assistant that ran in the live shell.
    pub(super) fn shell_changed(&self, outcome: &CommandOutcome) {
        let mut state = self.state();
        state.left.cwd = outcome.cwd.to_string_lossy().into_owned();
        let environment = &mut state.left.environment;
        for change in &outcome.env_delta {
            environment.remove(&change.name);
            // A value that looks secret was masked, for the model and for us.
            let value = change.value.as_ref().filter(|value| *value != MASKED && value.len() <= MAX_VALUE_BYTES);
            if let Some(value) = value.filter(|_| environment.len() < MAX_VARIABLES) {
                environment.insert(change.name.clone(), value.clone());
            }
        }
    }

    /// What of the conversation is stored, as far as it is known. Unknown from here on.
    pub(super) fn take_stored(&self) -> Option<StoredMessages> {
        self.state().stored.take()
    }

    pub(super) fn set_stored(&self, stored: StoredMessages) {
        self.state().stored = Some(stored);
    }

    /// The state of the shell; `cwd` where none was reported yet.
    pub(super) fn left(&self, cwd: &Path) -> Left {
        let mut left = self.state().left.clone();
        if left.cwd.is_empty() {
            left.cwd = cwd.to_string_lossy().into_owned();
        }
        left
    }

    /// Marks the state of an earlier daemon as restored. False if it was restored before.
    pub fn restore_once(&self) -> bool {
        !std::mem::replace(&mut self.state().is_restored, true)
    }

    /// Held while the state of an earlier daemon is restored; every user of that state waits for it.
    pub async fn restoring(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.restoring.lock().await
    }

    /// The turn that the end of an earlier daemon interrupted; the conversation then ends with a note on that.
    #[must_use]
    pub fn unfinished(&self) -> Option<Unfinished> {
        self.state().unfinished.clone()
    }

    /// The same, once: it continues now, or never will.
    pub fn take_unfinished(&self) -> Option<Unfinished> {
        self.state().unfinished.take()
    }

    /// Notes that the end of an earlier daemon interrupted this turn.
    pub fn was_interrupted(&self, unfinished: Unfinished) {
        self.state().unfinished = Some(unfinished);
    }

    /// Continues from the last state of a shell.
    pub fn go_on_from(&self, left: Left) {
        self.state().left.environment = left.environment;
    }
}
