//! Keeps what each answer took, and says what it cost where that is known.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use async_trait::async_trait;

use jiff::Timestamp;

use crate::{
    agent::{
        Middleware,
        port::{ModelRequest, TokenUsage},
    },
    context::model_table::Prices,
    store::{
        Store,
        row::{CallRow, CostSource, ModelKey},
    },
};

/// Keeps the figures of one turn.
pub struct Accounting {
    /// Where they go.
    pub store: Arc<Store>,
    /// Whose turn it is, as it is written down.
    pub session: String,
    /// The turn, as it is written down.
    pub turn: String,
    /// Name of the wire.
    pub wire: String,
    /// Who answers.
    pub model: ModelKey,
    /// What the user says that it costs.
    pub prices: Option<Prices>,
    /// When the last request was made.
    pub sent: Mutex<Option<Instant>>,
}

#[async_trait]
impl Middleware for Accounting {
    async fn before_model(&self, _request: &mut ModelRequest) {
        *self.sent.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    fn after_model(&self, usage: &mut TokenUsage) {
        let reported = usage.cost_microusd.map(|_| CostSource::Provider);
        let by_prices = || self.prices.and_then(|prices| prices.cost_microusd(usage));
        let computed = if reported.is_some() { None } else { by_prices() };
        usage.cost_microusd = usage.cost_microusd.or(computed);
        let sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.store.record(CallRow {
            at: Timestamp::now(),
            session: self.session.clone(),
            turn: self.turn.clone(),
            wire: self.wire.clone(),
            model: self.model.clone(),
            usage: *usage,
            cost_source: reported.or(computed.map(|_| CostSource::Prices)),
            took_ms: sent.map(|sent| u64::try_from(sent.elapsed().as_millis()).unwrap_or(u64::MAX)),
        });
    }
}
