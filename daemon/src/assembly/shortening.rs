//! How a conversation is shortened: who sums it up, and who accounts for that.

use std::sync::{Arc, Mutex};

use super::Assembly;
use crate::{
    agent::{
        TurnError,
        port::{Message, ModelProvider, TokenUsage},
    },
    compaction::{self, Account, Compactor, Shortened, Sliding, Strategy, Summarize, Truncate},
    context::gap::Target,
    middleware::{accounting::Accounting, compaction::Spent, window::Window},
    provider::choice::Choice,
    server::session::Session,
};

/// A conversation of at most this many tokens is short enough.
const SHORT_TOKENS: u64 = 2_000;

/// What shortens conversations by `strategy`. `provider`, whose requests `window` fits, writes the summaries.
pub(super) fn compactor(
    strategy: Strategy,
    provider: &Arc<dyn ModelProvider>,
    window: &Window,
    account: Account,
) -> Arc<dyn Compactor> {
    match strategy {
        Strategy::Truncate => Arc::new(Truncate),
        Strategy::Sliding => Arc::new(Sliding),
        Strategy::Summarize => Arc::new(Summarize::new(Arc::clone(provider), window.request_tokens(), account)),
    }
}

impl Assembly {
    /// Because the user wants it shorter.
    pub(super) async fn shorten_now(
        &self,
        session: &Session,
        messages: &[Message],
    ) -> Result<(Shortened, TokenUsage), TurnError> {
        let (settings, choice) = self.resolve(&session.variables()).await?;
        let provider = match choice {
            Choice::Ready(provider) => provider,
            Choice::AskLocal { found, provider, .. } if self.known_servers.contains(&found.url, &found.server) => {
                provider
            }
            Choice::AskLocal { otherwise, .. } => otherwise,
        };
        let (window, model, prices) = self.window(provider.as_ref(), &settings);
        let store = Arc::clone(&self.parts.store);
        store.ready().await;
        let (wire, turn) = (provider.info().wire, uuid::Uuid::now_v7().to_string());
        let accounting =
            Accounting { store, session: session.key().to_string(), turn, wire, model, prices, sent: Mutex::default() };
        let spent = Spent::default();
        let account = spent.account(Arc::new(accounting));
        let compactor = compactor(settings.context.strategy, &provider, &window, account);
        let tokens = (compaction::tokens(messages) / 2).max(SHORT_TOKENS);
        let shortened = compactor.shorten(messages, Target { tokens, messages: usize::MAX }).await;
        Ok((shortened, spent.take().unwrap_or_default()))
    }
}
