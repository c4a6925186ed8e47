//! What each step of the live shell gets apart from the state, and where the shell's output goes.

use std::time::Instant;

use super::{
    api::{Effects, Probe},
    filter::HideFilter,
    guard::GuardFilter,
};

/// The context of each step apart from the state.
pub(super) struct StepContext<'a> {
    pub probe: &'a dyn Probe,
    pub now: Instant,
    pub fx: &'a mut Effects,
}

/// The part of the shell's output that the terminal gets.
#[derive(Debug)]
pub(super) enum View {
    Shown,
    Hidden(HideFilter),
    /// An agent's command writes.
    Guarded(GuardFilter),
}

impl View {
    pub fn hidden() -> Self {
        Self::Hidden(HideFilter::default())
    }
}
