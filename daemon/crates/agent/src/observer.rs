//! Observers of a turn: [`TurnObserver`] learns what happened and changes nothing. One enum, [`Fact`], is all that there is to learn.

use std::time::Duration;

use async_trait::async_trait;
use cohab_model_api::{ToolCall, ToolResult};

use super::{
    hook::{PlannedCall, TurnResult},
    port::{ApprovalAnswer, ApprovalQuestion, StepResult},
    state::{Record, TurnState},
};

/// Looks at a turn.
#[async_trait]
pub trait TurnObserver: Send + Sync {
    /// Notes a fact; most observers are interested in few. The turn waits for it: a record that is on disk on return is there before
    /// anything else happens. Only what must be on disk by then may wait, and only for the disk.
    async fn observe(&self, fact: Fact<'_>);
}

/// Something that happened in a turn. The first three are on the way to a step: each observer learns of them at its place in the list,
/// when the middleware before it has run. All others come afterwards, to the last of the list first.
#[derive(Clone, Copy, Debug)]
pub enum Fact<'a> {
    /// A step is about to begin.
    StepBegins(&'a TurnState),
    /// A request is about to be sent. Comes again for a request that was refused as too long.
    Requested,
    /// A call reached the observer's place in the list: nothing before it denied the call. What stands behind may still change or deny it.
    CallReached(&'a PlannedCall),
    /// Additions of the user are part of the conversation. The user learns of it after this.
    Extended(&'a TurnState),
    /// A model call is over, also one that failed or was cancelled. The cost of its usage is complete.
    ModelEnded(&'a Record),
    /// An allowed call has run with this outcome and was not cancelled. Calls that run at the same time end in any order.
    ToolRan(&'a PlannedCall, StepResult),
    /// A call is over, with the result for the model. Comes in the order of the calls, also for calls that could not be run.
    CallEnded(&'a ToolCall, StepResult, &'a ToolResult),
    /// The state holds the outcome of a step.
    StepEnded(&'a TurnState),
    /// The turn is over.
    TurnEnded(&'a TurnState, &'a TurnResult),
    /// The user answered a question after so long. Only an `ObservedApprover` knows of this.
    Answered(&'a ApprovalQuestion, &'a ApprovalAnswer, Duration),
    /// The user answered questions that were asked together, in their order.
    AllAnswered(&'a [ApprovalQuestion], &'a [ApprovalAnswer], Duration),
}
