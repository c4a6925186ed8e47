//! How a conversation is shortened: who sums it up, and who accounts for that.

use std::sync::{Arc, Mutex};

use super::{Assembly, Resolved, TurnSettings};
use crate::{
    agent::{
        TurnError,
        port::{Message, ModelProvider, TokenUsage},
    },
    compaction::{self, Compactor, Shortened, Sliding, Strategy, Summarize, Truncate},
    context::gap::Target,
    jobs::Role,
    middleware::{
        accounting::{Accounting, Answered},
        compaction::Spent,
        window::{Room, Window},
    },
    provider::choice::Choice,
    server::session::Session,
};

/// A conversation of at most this many tokens is short enough.
const SHORT_TOKENS: u64 = 2_000;

/// Who sums conversations up.
pub(super) struct Summing {
    provider: Arc<dyn ModelProvider>,
    /// Estimate that a request to it may have.
    request_tokens: u64,
    accounting: Arc<Accounting>,
}

impl Summing {
    /// What shortens conversations by `strategy`; what that takes is put down in `spent`.
    pub(super) fn compactor(self, strategy: Strategy, spent: &Spent) -> Arc<dyn Compactor> {
        match strategy {
            Strategy::Truncate => Arc::new(Truncate),
            Strategy::Sliding => Arc::new(Sliding),
            Strategy::Summarize => {
                Arc::new(Summarize::new(self.provider, self.request_tokens, spent.account(self.accounting)))
            }
        }
    }
}

impl Assembly {
    /// The model of the role, else the main one.
    pub(super) async fn summing(
        &self,
        resolved: &Resolved,
        main: &Arc<dyn ModelProvider>,
        session: &Session,
        turn: String,
    ) -> Summing {
        let TurnSettings { model, models, jobs, .. } = &resolved.settings;
        let own = resolved.bench.of_role(Role::Compactor).await;
        let profile = if own.is_some() { jobs.roles.get(&Role::Compactor) } else { None };
        let settings = profile.map_or(Some(model), |name| jobs.profiles.get(name)).cloned();
        let (provider, models) = (own.unwrap_or_else(|| Arc::clone(main)), Arc::clone(models));
        let room = {
            let provider = Arc::clone(&provider);
            move || Self::room(provider.as_ref(), settings.as_ref(), &models)
        };
        let store = Arc::clone(&self.parts.store);
        store.ready().await;
        let request_tokens = {
            let room = room.clone();
            Window::new(Arc::clone(&store), Box::new(move || room().0)).request_tokens()
        };
        let wire = provider.info().wire;
        let answered = move || {
            let (Room { model, .. }, prices) = room();
            Answered { wire: wire.clone(), model, prices }
        };
        let (session, answered) = (session.key().to_string(), Box::new(answered));
        let accounting = Arc::new(Accounting { store, session, turn, answered, sent: Mutex::default() });
        Summing { provider, request_tokens, accounting }
    }

    /// Because the user wants it shorter.
    pub(super) async fn shorten_now(
        &self,
        session: &Session,
        messages: &[Message],
    ) -> Result<(Shortened, TokenUsage), TurnError> {
        let resolved = self.resolve(&session.variables()).await?;
        let main = match resolved.choice.clone() {
            Choice::Ready(provider) => provider,
            Choice::AskLocal { found, provider, .. } if self.known_servers.contains(&found.url, &found.server) => {
                provider
            }
            Choice::AskLocal { otherwise, .. } => otherwise,
        };
        let summing = self.summing(&resolved, &main, session, uuid::Uuid::now_v7().to_string()).await;
        let spent = Spent::default();
        let compactor = summing.compactor(resolved.settings.context.strategy, &spent);
        let tokens = (compaction::tokens(messages) / 2).max(SHORT_TOKENS);
        let shortened = compactor.shorten(messages, Target { tokens, messages: usize::MAX }).await;
        Ok((shortened, spent.take().unwrap_or_default()))
    }
}
