//! Makes a request fit the model's context, and learns context size and token factor from answers and refusals.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use async_trait::async_trait;
use cohab_agent::{Fact, Middleware, TurnObserver};
use cohab_context::{
    analysis::Capacity,
    fit::{fit_request, request_tokens},
};
use cohab_model_api::{
    ModelRequest, Overflow, TokenUsage,
    window_size::{ContextWindow, WindowSources, request_budget},
};
use cohab_store::{Store, row::ModelKey};

/// Size of the request after a refused one without a stated context size, in percent.
const RETRY_PERCENT: u64 = 70;
/// Believed ratios between a service's own count of a request and the estimate.
const BELIEVED_RATIOS: std::ops::RangeInclusive<f64> = 0.5..=4.0;

/// How much the model that answers takes.
pub struct ModelCapacity {
    /// Which model.
    pub model: ModelKey,
    /// The sources for its context size.
    pub sources: WindowSources,
    /// Longest answer, if limited.
    pub max_output_tokens: Option<u64>,
}

/// Fits the requests of one turn.
pub struct Window {
    store: Arc<Store>,
    room: Box<dyn Fn() -> ModelCapacity + Send + Sync>,
    /// The estimate of the request that was made last.
    estimate: AtomicU64,
    /// Largest allowed estimate after a refusal.
    most: AtomicU64,
}

impl Window {
    /// `room` is called each time: another model may take over in the turn. Learned facts go into `store`.
    #[must_use]
    pub fn new(store: Arc<Store>, room: Box<dyn Fn() -> ModelCapacity + Send + Sync>) -> Self {
        let (estimate, most) = (AtomicU64::new(0), AtomicU64::new(u64::MAX));
        Self { store, room, estimate, most }
    }

    /// The context size as it is known now.
    #[must_use]
    pub fn in_use(&self) -> ContextWindow {
        let ModelCapacity { model, sources, .. } = (self.room)();
        sources.decide(self.store.learned(&model).window_tokens)
    }

    /// The model's capacity, as far as it is known.
    #[must_use]
    pub fn capacity(&self) -> Capacity {
        let ModelCapacity { model, max_output_tokens, .. } = (self.room)();
        Capacity { window: self.in_use(), max_output_tokens, factor: self.store.learned(&model).factor }
    }

    /// The largest estimate that a request may have.
    #[must_use]
    pub fn request_tokens(&self) -> u64 {
        let ModelCapacity { model, sources, max_output_tokens } = (self.room)();
        let learned = self.store.learned(&model);
        learned.estimate_for(request_budget(sources.decide(learned.window_tokens).tokens, max_output_tokens))
    }

    fn fit(&self, request: &mut ModelRequest) -> u64 {
        let most = self.most.load(Ordering::Relaxed);
        let estimate = fit_request(request, self.request_tokens().min(most));
        self.estimate.store(estimate, Ordering::Relaxed);
        estimate
    }

    /// Fits a request that was refused with these sizes. Returns whether it is shorter now.
    fn fit_refused(&self, request: &mut ModelRequest, sizes: Overflow) -> bool {
        let refused = request_tokens(request);
        self.store.learn(&(self.room)().model, |learned| {
            if let Some(tokens) = sizes.prompt_tokens {
                learned.observe(tokens, refused);
            }
            if let Some(tokens) = sizes.window_tokens {
                learned.refused_above(tokens);
            }
        });
        // The context size in the settings may be larger than the service's.
        self.most.fetch_min(self.after_refusal(refused, sizes), Ordering::Relaxed);
        self.fit(request) < refused
    }

    fn learn_from(&self, usage: &TokenUsage) {
        let in_use = self.in_use();
        let estimate = self.estimate.load(Ordering::Relaxed);
        if let Some(sent) = usage.sent() {
            self.store.learn(&(self.room)().model, |learned| {
                learned.observe(sent, estimate);
                learned.in_use = Some(in_use);
            });
        }
    }

    /// The largest estimate after a request of `refused` tokens was refused with `sizes`.
    fn after_refusal(&self, refused: u64, sizes: Overflow) -> u64 {
        let told_ratio = sizes.prompt_tokens.map(|tokens| tokens as f64 / refused.max(1) as f64);
        let told_ratio = told_ratio.filter(|ratio| BELIEVED_RATIOS.contains(ratio));
        let unaided = refused / 100 * RETRY_PERCENT;
        let Some(window_tokens) = sizes.window_tokens else { return unaided };
        let ModelCapacity { model, max_output_tokens, .. } = (self.room)();
        let budget = request_budget(window_tokens, max_output_tokens);
        match told_ratio {
            Some(ratio) => (budget as f64 / ratio) as u64,
            None => self.store.learned(&model).estimate_for(budget).min(unaided),
        }
    }
}

#[async_trait]
impl Middleware for Window {
    async fn before_model(&self, request: &mut ModelRequest, refused: Option<Overflow>) -> bool {
        self.fit(request);
        refused.is_some_and(|sizes| self.fit_refused(request, sizes))
    }
}

#[async_trait]
impl TurnObserver for Window {
    async fn observe(&self, fact: Fact<'_>) {
        if let Fact::ModelEnded(record) = fact {
            record.usage().into_iter().for_each(|usage| self.learn_from(usage));
        }
    }
}

#[cfg(test)]
#[path = "model_capacity_tests.rs"]
mod tests;
