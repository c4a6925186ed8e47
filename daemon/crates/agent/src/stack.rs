//! The stack: the one list of what stands around the loop of a turn, middleware and observers, outermost first.
//!
//! On the way to a step, hooks and facts run in the order of the list, each observer at its place: one outside of the gate learns of the
//! calls that the model wants, one inside of those that may run. On the way back they run in reverse.

use std::{ops::ControlFlow, sync::Arc};

use cohab_model_api::{ModelRequest, Overflow, ToolResult};

use super::{
    hook::{Denial, Middleware, PlannedCall, TurnResult},
    observer::{Fact, TurnObserver},
    plan::StepKind,
    state::TurnState,
};

/// Middleware and observers, outermost first.
#[derive(Clone, Default)]
pub struct TurnStack(Vec<Entry>);

#[derive(Clone)]
enum Entry {
    Change(Arc<dyn Middleware>),
    Observe(Arc<dyn TurnObserver>),
}

impl TurnStack {
    /// Adds middleware inside of all that is there.
    pub fn change(&mut self, middleware: Arc<dyn Middleware>) {
        self.0.push(Entry::Change(middleware));
    }

    /// Adds an observer inside of all that is there.
    pub fn observe(&mut self, observer: Arc<dyn TurnObserver>) {
        self.0.push(Entry::Observe(observer));
    }

    /// Adds middleware that observes the turn, too. Before a step its hook runs first.
    pub fn change_and_observe<T: Middleware + TurnObserver + 'static>(&mut self, both: Arc<T>) {
        self.change(Arc::clone(&both) as _);
        self.observe(both);
    }

    fn middleware(&self) -> impl DoubleEndedIterator<Item = &Arc<dyn Middleware>> {
        self.0.iter().filter_map(|entry| match entry {
            Entry::Change(middleware) => Some(middleware),
            Entry::Observe(_) => None,
        })
    }

    pub(super) async fn before_step(&self, step: StepKind, state: &mut TurnState) -> ControlFlow<TurnResult> {
        for entry in &self.0 {
            match entry {
                Entry::Change(middleware) => middleware.before_step(step, state).await?,
                Entry::Observe(observer) => observer.observe(Fact::StepBegins(state)).await,
            }
        }
        ControlFlow::Continue(())
    }

    pub(super) fn pending_notes(&self) -> impl Iterator<Item = String> {
        self.middleware().filter_map(|middleware| middleware.pending_notes())
    }

    /// Whether a request that was refused with these sizes is shorter now.
    pub(super) async fn before_model(&self, request: &mut ModelRequest, refused: Option<Overflow>) -> bool {
        let mut is_shorter = false;
        for entry in &self.0 {
            match entry {
                Entry::Change(middleware) => is_shorter |= middleware.before_model(request, refused).await,
                Entry::Observe(observer) => observer.observe(Fact::Requested).await,
            }
        }
        is_shorter
    }

    pub(super) async fn before_tools(&self, calls: &[PlannedCall]) -> ControlFlow<()> {
        for middleware in self.middleware() {
            middleware.before_tools(calls).await?;
        }
        ControlFlow::Continue(())
    }

    pub(super) async fn before_tool(&self, call: &mut PlannedCall) -> Result<(), Denial> {
        for entry in &self.0 {
            match entry {
                Entry::Change(middleware) => middleware.before_tool(call).await?,
                Entry::Observe(observer) => observer.observe(Fact::CallReached(call)).await,
            }
        }
        Ok(())
    }

    pub(super) async fn after_tool(&self, result: &mut ToolResult) {
        for middleware in self.middleware().rev() {
            middleware.after_tool(result).await;
        }
    }

    /// Tells the observers what came of a step, innermost first.
    pub(super) async fn tell(&self, fact: Fact<'_>) {
        for entry in self.0.iter().rev() {
            if let Entry::Observe(observer) = entry {
                observer.observe(fact).await;
            }
        }
    }
}

#[cfg(test)]
mod tests;
