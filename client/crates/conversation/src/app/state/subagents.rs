//! The subagents that work for a turn.

use std::time::{Duration, Instant};

use cohab_protocol::{SubagentProgress, SubagentState};

use crate::ui::subagents::ShownSubagent;

/// Most that are remembered.
const MAX_KEPT: usize = 64;

/// The subagents of a turn since the last moment at which none was at work.
#[derive(Debug, Default)]
pub(crate) struct Subagents(Vec<KnownSubagent>);

#[derive(Debug)]
struct KnownSubagent {
    progress: SubagentProgress,
    began: Instant,
}

impl Subagents {
    /// Takes the news of one. Returns it as it is now.
    pub(crate) fn heard(&mut self, progress: SubagentProgress, now: Instant) -> Option<ShownSubagent> {
        if self.0.iter().all(|kept| matches!(kept.progress.state, SubagentState::Ended(_))) {
            self.0.clear();
        }
        let began = now.checked_sub(Duration::from_millis(progress.elapsed_ms)).unwrap_or(now);
        let known = self.0.iter().position(|kept| kept.progress.number == progress.number);
        let at = match known {
            Some(at) => {
                self.0[at].progress = progress;
                at
            }
            None if self.0.len() == MAX_KEPT => return None,
            None => {
                self.0.push(KnownSubagent { progress, began });
                self.0.len() - 1
            }
        };
        self.0.get(at).map(|kept| kept.shown(now))
    }

    /// Those to be shown, by number: none if none is at work.
    pub(crate) fn shown(&self, now: Instant) -> Vec<ShownSubagent> {
        if self.0.iter().all(|kept| matches!(kept.progress.state, SubagentState::Ended(_))) {
            return Vec::new();
        }
        let mut shown: Vec<ShownSubagent> = self.0.iter().map(|kept| kept.shown(now)).collect();
        shown.sort_by_key(|one| one.progress.number);
        shown
    }
}

impl KnownSubagent {
    fn shown(&self, now: Instant) -> ShownSubagent {
        let elapsed_s = match self.progress.state {
            SubagentState::Working(_) => now.saturating_duration_since(self.began).as_secs(),
            SubagentState::Ended(_) => self.progress.elapsed_ms / 1_000,
        };
        ShownSubagent { progress: self.progress.clone(), elapsed_s }
    }
}
