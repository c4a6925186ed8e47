//! Auxiliary models sum conversations up and name them; each has its accounting. They do not answer turns.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use cohab_agent::{TurnError, completion::Account};
use cohab_config::{model_roles::Role, strategy::Strategy};
use cohab_context::{
    compaction::{self, Compactor, Shortened, Sliding, Summarize, Truncate},
    elision::Target,
};
use cohab_model_api::{Message, ModelProvider, TokenUsage};
use cohab_models::{
    resolution::Choice,
    scrubbed::{Withheld, WithheldProvider},
};
use cohab_runtime::middleware::{
    accounting::{Accounting, Answered},
    auto_title::{TitleModel, TitleModelFactory},
    compaction::Spent,
    model_capacity::{ModelCapacity, Window},
};
use cohab_session::session::Session;
use cohab_store::Store;
use futures::FutureExt as _;

use super::{Assembly, Resolved, TurnSettings};

/// A conversation of at most this many tokens is short enough.
const SHORT_TOKENS: u64 = 2_000;

/// Who sums conversations up.
pub(super) struct Summarizer {
    pub provider: Arc<dyn ModelProvider>,
    /// Most tokens of a request to it, by the estimate.
    pub request_tokens: u64,
    /// Records its usage.
    pub account: Account,
}

impl Summarizer {
    /// What shortens conversations by `strategy`; what that takes is put down in `spent`.
    pub(super) fn compactor(self, strategy: Strategy, spent: &Spent) -> Arc<dyn Compactor> {
        match strategy {
            Strategy::Truncate => Arc::new(Truncate),
            Strategy::Sliding => Arc::new(Sliding),
            Strategy::Summarize => {
                Arc::new(Summarize::new(self.provider, self.request_tokens, spent.account(self.account)))
            }
        }
    }
}

/// Who does work beside the answers.
struct AuxiliaryModel {
    /// As what; `None` for the main model.
    role: Option<Role>,
    provider: Arc<dyn ModelProvider>,
    settings: TurnSettings,
    store: Arc<Store>,
    withheld: Withheld,
}

impl AuxiliaryModel {
    /// With what it may be asked, and what accounts for that.
    async fn ready(self, session: String, turn: String) -> Summarizer {
        let Self { role, provider, settings: TurnSettings { model, models, jobs, .. }, store, withheld } = self;
        let provider = WithheldProvider::around(provider, &withheld);
        let profile = role.and_then(|role| jobs.roles.get(&role));
        let settings = profile.map_or(Some(&model), |name| jobs.profiles.get(name)).cloned();
        let room = {
            let provider = Arc::clone(&provider);
            move || Assembly::room(provider.as_ref(), settings.as_ref(), &models)
        };
        store.ready().await;
        let request_tokens = {
            let room = room.clone();
            Window::new(Arc::clone(&store), Box::new(move || room().0)).request_tokens()
        };
        let wire = provider.info().wire;
        let answered = move || {
            let (ModelCapacity { model, .. }, prices) = room();
            Answered { wire: wire.clone(), model, prices }
        };
        let answered = Box::new(answered);
        let accounting = Arc::new(Accounting { store, session, turn, answered, sent: Mutex::default(), hold: None });
        Summarizer { provider, request_tokens, account: accounting.account() }
    }
}

impl Assembly {
    fn withheld_at(&self, cwd: PathBuf) -> Withheld {
        self.withheld(move || cwd.clone())
    }

    /// A model beside the main one, ready to be asked and accounted for; `role` is absent for the main one itself. `whom` are the session
    /// and the turn.
    pub(super) async fn beside(
        &self,
        role: Option<Role>,
        provider: Arc<dyn ModelProvider>,
        resolved: &Resolved,
        cwd: &Path,
        whom: (&str, &str),
    ) -> Summarizer {
        let clerk = AuxiliaryModel {
            role,
            provider,
            settings: resolved.settings.clone(),
            store: Arc::clone(&self.parts.store),
            withheld: self.withheld_at(cwd.to_owned()),
        };
        clerk.ready(whom.0.to_owned(), whom.1.to_owned()).await
    }

    /// The model of the role, else the main one.
    pub(super) async fn summing(
        &self,
        resolved: &Resolved,
        main: &Arc<dyn ModelProvider>,
        session: &Session,
        turn: String,
    ) -> Summarizer {
        let own = resolved.pool.of_role(Role::Compactor).await;
        let role = own.as_ref().map(|_| Role::Compactor);
        let provider = own.unwrap_or_else(|| Arc::clone(main));
        self.beside(role, provider, resolved, &session.cwd(), (&session.key().to_string(), &turn)).await
    }

    /// Who names conversations, got ready when it is asked for; `None` if no model has that role.
    pub(super) fn namer(&self, resolved: &Resolved, session: &Session, turn: String) -> Option<TitleModelFactory> {
        resolved.settings.jobs.roles.get(&Role::Namer)?;
        let (pool, settings) = (Arc::clone(&resolved.pool), resolved.settings.clone());
        let (store, withheld) = (Arc::clone(&self.parts.store), self.withheld_at(session.cwd()));
        let session = session.key().to_string();
        Some(Box::new(move || {
            let (pool, settings, store) = (Arc::clone(&pool), settings.clone(), Arc::clone(&store));
            let (session, turn, withheld) = (session.clone(), turn.clone(), Arc::clone(&withheld));
            async move {
                let provider = pool.of_role(Role::Namer).await?;
                let clerk = AuxiliaryModel { role: Some(Role::Namer), provider, settings, store, withheld };
                let Summarizer { provider, account, .. } = clerk.ready(session, turn).await;
                Some(TitleModel { provider, account })
            }
            .boxed()
        }))
    }

    /// The model that was chosen; a server on this machine only if the user agreed to it before.
    pub(super) fn agreed(&self, choice: Choice) -> Arc<dyn ModelProvider> {
        match choice {
            Choice::Ready(provider) => provider,
            Choice::AskLocal { found, provider, .. } if self.known_servers.contains(&found.url, &found.server) => {
                provider
            }
            Choice::AskLocal { otherwise, .. } => otherwise,
        }
    }

    /// Shortens the conversation at the user's request.
    pub(super) async fn shorten_now(
        &self,
        session: &Session,
        messages: &[Message],
    ) -> Result<(Shortened, TokenUsage), TurnError> {
        let resolved = self.resolve(&session.variables()).await?;
        let main = self.agreed(resolved.choice.clone());
        let summing = self.summing(&resolved, &main, session, uuid::Uuid::now_v7().to_string()).await;
        let spent = Spent::default();
        let compactor = summing.compactor(resolved.settings.context.strategy, &spent);
        let tokens = (compaction::tokens(messages) / 2).max(SHORT_TOKENS);
        let shortened = compactor.shorten(messages, Target { tokens, messages: usize::MAX }).await;
        Ok((shortened, spent.take().unwrap_or_default()))
    }
}
