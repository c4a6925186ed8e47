//! What came of the last commands, for a daemon that lost its connection and asks again.

use std::collections::VecDeque;

use cohab_protocol::{CallId, CommandExecutionResult};

/// Results kept for a daemon that asks again after a lost connection.
const KEPT_RESULTS: usize = 64;

/// Results of the last commands. A call id that comes again is answered from here, never run again.
#[derive(Debug, Default)]
pub struct ResultJournal {
    results: VecDeque<CommandExecutionResult>,
}

impl ResultJournal {
    /// Keeps a result.
    pub fn record(&mut self, result: CommandExecutionResult) {
        if self.results.len() == KEPT_RESULTS {
            self.results.pop_front();
        }
        self.results.push_back(result);
    }

    /// The result of a call that ended before.
    #[must_use]
    pub fn find(&self, call_id: CallId) -> Option<&CommandExecutionResult> {
        self.results.iter().find(|result| result.call_id == call_id)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use cohab_protocol::{CommandEnding, EnvDelta, RunMode};

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
}
