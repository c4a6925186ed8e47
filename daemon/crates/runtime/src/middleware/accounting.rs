//! Records the token usage of each answer, with its cost where that is known.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use async_trait::async_trait;
use cohab_agent::{Fact, TurnObserver, completion::Account};
use cohab_config::model_table::Prices;
use cohab_model_api::TokenUsage;
use cohab_store::{
    Store, UsageHold,
    row::{CallRow, CostSource, ModelKey},
};
use jiff::Timestamp;

/// Records the figures of one turn.
pub struct Accounting {
    /// The store for them.
    pub store: Arc<Store>,
    /// The recorded name of the session.
    pub session: String,
    /// The recorded id of the turn.
    pub turn: String,
    /// The model of the last answer.
    pub answered: Box<dyn Fn() -> Answered + Send + Sync>,
    /// When the last request was made.
    pub sent: Mutex<Option<Instant>>,
    /// Keeps the store's file open between the model calls of the turn.
    pub hold: Option<UsageHold>,
}

/// The model to account for.
pub struct Answered {
    /// Name of the wire.
    pub wire: String,
    /// The model.
    pub model: ModelKey,
    /// The prices that the user set for it.
    pub prices: Option<Prices>,
}

#[async_trait]
impl TurnObserver for Accounting {
    async fn observe(&self, fact: Fact<'_>) {
        if let Fact::Requested = fact {
            *self.sent.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        }
    }
}

impl Accounting {
    /// Accounts with this.
    #[must_use]
    pub fn account(self: Arc<Self>) -> Account {
        Arc::new(move |usage| self.record(usage))
    }

    fn record(&self, usage: &mut TokenUsage) {
        let Answered { wire, model, prices } = (self.answered)();
        let reported = usage.cost_microusd.map(|_| CostSource::Provider);
        let by_prices = || prices.and_then(|prices| prices.cost_microusd(usage));
        let computed = if reported.is_some() { None } else { by_prices() };
        usage.cost_microusd = usage.cost_microusd.or(computed);
        let sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.store.record(CallRow {
            at: Timestamp::now(),
            session: self.session.clone(),
            turn: self.turn.clone(),
            wire,
            model,
            usage: *usage,
            cost_source: reported.or(computed.map(|_| CostSource::Prices)),
            took_ms: sent.map(|sent| u64::try_from(sent.elapsed().as_millis()).unwrap_or(u64::MAX)),
        });
    }
}
