//! Pauses a turn at the user's request: no request is sent and no tool starts until the turn continues.

use std::{ops::ControlFlow, sync::Arc};

use async_trait::async_trait;
use cohab_agent::{Denial, Middleware, PlannedCall, TurnState, hook::TurnResult, plan::StepKind};
use tokio::sync::watch;

use super::turn_clock::TurnClock;

/// Receives whether the turn is paused.
pub type Tell = Box<dyn Fn(bool) + Send + Sync>;

/// Pauses one turn. Stands before the question for consent and behind it: the user may pause while the question is open.
pub struct Pause {
    is_wanted: watch::Receiver<bool>,
    clock: Arc<TurnClock>,
    tell: Tell,
}

impl Pause {
    /// Pauses while `is_wanted` is true.
    #[must_use]
    pub fn new(is_wanted: watch::Receiver<bool>, clock: Arc<TurnClock>, tell: Tell) -> Self {
        Self { is_wanted, clock, tell }
    }

    async fn hold(&self) {
        let mut is_wanted = self.is_wanted.clone();
        if !*is_wanted.borrow() {
            return;
        }
        (self.tell)(true);
        // The session is gone: the turn continues, and is cancelled with it.
        let _ = self.clock.stands_still(is_wanted.wait_for(|is_wanted| !is_wanted)).await;
        (self.tell)(false);
    }
}

#[async_trait]
impl Middleware for Pause {
    async fn before_step(&self, _step: StepKind, _state: &mut TurnState) -> ControlFlow<TurnResult> {
        self.hold().await;
        ControlFlow::Continue(())
    }

    async fn before_tool(&self, _call: &mut PlannedCall) -> Result<(), Denial> {
        self.hold().await;
        Ok(())
    }
}

#[cfg(test)]
#[path = "pause_tests.rs"]
mod tests;
