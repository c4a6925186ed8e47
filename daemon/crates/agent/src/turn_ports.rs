//! All that the loop asks beside the model, the tools and the middleware.

use std::sync::Arc;

use crate::{
    completion::Account,
    goal::Goal,
    port::{BeforeStop, Deadline, KnownAnswers, TakeAdditions, TakeSpent},
};

/// What the loop asks at one place each: middleware is a chain, these are not. All of them may be missing.
#[derive(Clone, Default)]
pub struct TurnPorts {
    /// Answers before the first step.
    pub known_answers: Option<Arc<dyn KnownAnswers>>,
    /// What the user adds to the turn.
    pub additions: Option<TakeAdditions>,
    /// Accounts for each answer of the model, and for the part of one, before an observer learns of it.
    pub account: Option<Account>,
    /// What tools of the turn took beside its own model calls.
    pub spent_beside: Option<TakeSpent>,
    /// What the turn works for until a check succeeds. An observer of the turn, too.
    pub goal: Option<Arc<Goal>>,
    /// May have the model continue where it ends its answer.
    pub before_stop: Option<Arc<dyn BeforeStop>>,
    /// Ends the turn in the middle of a step.
    pub deadline: Option<Arc<dyn Deadline>>,
}
