//! Expires approvals: the user may have had something else in mind by then. The time counts from the approval, not from the question.

use async_trait::async_trait;
use cohab_agent::{Denial, Middleware, PlannedCall};
use cohab_policy::YES_HOLDS;
use tokio::time::Instant;

/// The reason for the model.
const REASON: &str = "the user's yes is more than ten minutes old; it was not run, and asking again is fine";

/// Whether an approval of that time has expired.
#[must_use]
pub fn is_too_old(said_at: Instant) -> bool {
    said_at.elapsed() > YES_HOLDS
}

/// Stands behind all middleware that can hold a call after its approval.
pub struct OldYes;

#[async_trait]
impl Middleware for OldYes {
    async fn before_tool(&self, call: &mut PlannedCall) -> Result<(), Denial> {
        match call.agreed_at.is_some_and(is_too_old) {
            true => Err(Denial::Refused { reason: REASON.into() }),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use cohab_agent::port::{Effect, Intent};
    use cohab_model_api::ToolCall;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_yes_that_waited_too_long_runs_nothing() {
        let call = ToolCall { id: "1".into(), name: "write".into(), args: Ok(serde_json::Map::new().into()) };
        let intent = Intent { title: String::new(), effect: Effect::Internal };
        let mut planned = PlannedCall::new(&call, serde_json::Map::new(), intent, "/".into());
        tokio::time::advance(YES_HOLDS * 2).await;
        assert_eq!(OldYes.before_tool(&mut planned).await, Ok(()), "nobody was asked");
        planned.agreed_at = Some(Instant::now());
        tokio::time::advance(YES_HOLDS).await;
        assert_eq!(OldYes.before_tool(&mut planned).await, Ok(()));
        tokio::time::advance(Duration::from_millis(1)).await;
        assert_eq!(OldYes.before_tool(&mut planned).await, Err(Denial::Refused { reason: REASON.into() }));
    }
}
