//! The progress of a turn, for its status line.

use std::time::{Duration, Instant};

use cohab_protocol::{BudgetUsed, ChunkDelta, DaemonMessage, TurnId, Usage};

/// Longest title that is kept, in bytes.
const TITLE_MAX_BYTES: usize = 1024;
const SECOND: Duration = Duration::from_secs(1);

/// What is shown of a turn while it runs.
#[derive(Debug)]
pub(crate) struct TurnProgress {
    title: String,
    started_at: Instant,
    elapsed_s: u32,
    step: u32,
    usage: Option<Usage>,
    budget: Option<BudgetUsed>,
    quiet_since: Instant,
}

impl TurnProgress {
    /// Of the turn that begins now with this question.
    pub(crate) fn new(question: &str, now: Instant) -> Self {
        let line = question.lines().next().unwrap_or_default();
        let title = line[..cohab_term::wrap::char_boundary(line, TITLE_MAX_BYTES)].to_owned();
        Self { title, started_at: now, elapsed_s: 0, step: 0, usage: None, budget: None, quiet_since: now }
    }

    /// The beginning of the question, as the user typed it.
    pub(crate) fn title(&self) -> &str {
        &self.title
    }

    /// Number of the step, from 0.
    pub(crate) fn step(&self) -> u32 {
        self.step
    }

    /// Whole seconds that passed, as of the last event.
    pub(crate) fn elapsed_s(&self) -> u32 {
        self.elapsed_s
    }

    /// The moment of the last whole second that passed: what is shown of the time holds for it.
    pub(crate) fn shown_at(&self) -> Instant {
        self.started_at + SECOND * self.elapsed_s
    }

    /// Since the question.
    pub(crate) fn elapsed(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.started_at)
    }

    /// What it took, if anything is known.
    pub(crate) fn usage(&self) -> Option<&Usage> {
        self.usage.as_ref()
    }

    /// The tightest budget, if there is one.
    pub(crate) fn budget(&self) -> Option<&BudgetUsed> {
        self.budget.as_ref()
    }

    /// Since when nothing that is shown has come.
    pub(crate) fn quiet_since(&self) -> Instant {
        self.quiet_since
    }

    /// Something is drawn now.
    pub(crate) fn drawn(&mut self, now: Instant) {
        self.quiet_since = now;
    }

    /// Learns from what the daemon says about the turn with this id.
    pub(crate) fn heard(&mut self, message: &DaemonMessage, id: TurnId, now: Instant) {
        match message {
            DaemonMessage::AgentStreamChunk(chunk)
                if chunk.turn_id == id && !matches!(chunk.delta, ChunkDelta::Reasoning(_)) =>
            {
                self.drawn(now);
            }
            DaemonMessage::StepStarted(started) if started.turn_id == id => {
                self.step = self.step.max(started.step);
                self.drawn(now);
            }
            DaemonMessage::StepFinished(finished) if finished.turn_id == id => self.drawn(now),
            DaemonMessage::TurnProgress(progress) if progress.turn_id == id => self.usage = Some(progress.usage),
            DaemonMessage::BudgetUsed(used) if used.turn_id == id => self.budget = Some(*used),
            _ => {}
        }
    }

    /// Lets time pass. Returns whether another second is to be shown.
    pub(crate) fn tick(&mut self, now: Instant) -> bool {
        let elapsed_s = u32::try_from(self.elapsed(now).as_secs()).unwrap_or(u32::MAX);
        std::mem::replace(&mut self.elapsed_s, elapsed_s) != elapsed_s
    }

    /// When another second is to be shown.
    pub(crate) fn next_second(&self) -> Option<Instant> {
        self.started_at.checked_add(SECOND * self.elapsed_s.checked_add(1)?)
    }
}
