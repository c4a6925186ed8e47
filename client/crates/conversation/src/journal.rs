//! The results of the last commands, kept for a daemon that lost its connection and asks again.

use std::collections::VecDeque;

use cohab_protocol::{CallId, CommandExecutionResult, TurnId};

/// Results kept for a daemon that asks again after a lost connection.
const KEPT_RESULTS: usize = 64;

/// Ids kept of commands that were begun: longer than their results, so that a late repeat is refused and not run.
const KEPT_IDS: usize = 4096;

/// Ids kept of turns that were begun here.
const KEPT_TURNS: usize = 64;

/// Results of the last commands. A call id that comes again is answered from here, never run again.
#[derive(Debug, Default)]
pub(crate) struct ResultJournal {
    turns: VecDeque<TurnId>,
    begun: VecDeque<CallId>,
    results: VecDeque<CommandExecutionResult>,
}

impl ResultJournal {
    /// Notes that a turn begins here: all its commands for this shell come to this journal.
    pub(crate) fn begin_turn(&mut self, turn_id: TurnId) {
        if self.turns.len() == KEPT_TURNS {
            self.turns.pop_front();
        }
        self.turns.push_back(turn_id);
    }

    /// Whether a turn was begun here: then a command of it that was not begun has never run in this shell.
    #[must_use]
    pub(crate) fn is_of_here(&self, turn_id: TurnId) -> bool {
        self.turns.contains(&turn_id)
    }

    /// Notes that a command is given to the shell.
    pub(crate) fn begin(&mut self, call_id: CallId) {
        if self.begun.len() == KEPT_IDS {
            self.begun.pop_front();
        }
        self.begun.push_back(call_id);
    }

    /// Whether a command was given to the shell before.
    #[must_use]
    pub(crate) fn has_begun(&self, call_id: CallId) -> bool {
        self.begun.contains(&call_id)
    }

    /// Keeps a result.
    pub(crate) fn record(&mut self, result: CommandExecutionResult) {
        if self.results.len() == KEPT_RESULTS {
            self.results.pop_front();
        }
        self.results.push_back(result);
    }

    /// The result of a call that ended before.
    #[must_use]
    pub(crate) fn find(&self, call_id: CallId) -> Option<&CommandExecutionResult> {
        self.results.iter().find(|result| result.call_id == call_id)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use cohab_protocol::{CommandEnding, EnvDelta, RunMode, StateAfter};

    use super::*;

    fn result(call_id: CallId) -> CommandExecutionResult {
        CommandExecutionResult {
            call_id,
            ending: CommandEnding::Exited,
            exit_code: Some(0),
            output: String::new(),
            total_bytes: 0,
            truncated_bytes: 0,
            cwd: Path::new("/").into(),
            env_delta: EnvDelta::default(),
            duration_ms: 1,
            mode: RunMode::Live,
            state_after: StateAfter::Prompt,
            first_run: None,
        }
    }

    #[test]
    fn the_newest_results_are_kept() {
        let mut journal = ResultJournal::default();
        let ids: Vec<CallId> = (0..=KEPT_RESULTS).map(|_| CallId::fresh()).collect();
        for id in &ids {
            journal.record(result(*id));
        }
        assert!(journal.find(ids[0]).is_none());
        assert!(ids[1..].iter().all(|id| journal.find(*id).is_some_and(|found| found.call_id == *id)));
    }

    #[test]
    fn the_last_turns_are_known_to_be_of_here() {
        let mut journal = ResultJournal::default();
        let ids: Vec<TurnId> = (0..=KEPT_TURNS).map(|_| TurnId::fresh()).collect();
        ids.iter().for_each(|id| journal.begin_turn(*id));
        assert!(!journal.is_of_here(ids[0]) && !journal.is_of_here(TurnId::fresh()));
        assert!(ids[1..].iter().all(|id| journal.is_of_here(*id)));
    }

    #[test]
    fn what_was_begun_is_known_longer_than_its_result() {
        let mut journal = ResultJournal::default();
        let ids: Vec<CallId> = (0..=KEPT_IDS).map(|_| CallId::fresh()).collect();
        ids.iter().for_each(|id| journal.begin(*id));
        assert!(!journal.has_begun(ids[0]), "the memory is bounded");
        assert!(ids[1..].iter().all(|id| journal.has_begun(*id)));
    }
}
