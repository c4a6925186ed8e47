//! A provider that gets its key when the first question needs it. A command may ask for a passphrase, or a keyring to be unlocked;
//! neither should happen because a shell was opened.

use std::{sync::Arc, time::Duration};

use cohab_config::model_settings::ModelSettings;
use cohab_model_api::{ModelEvent, ModelInfo, ModelRequest, ModelService, ProviderError, ProviderErrorKind, Scrubbed};
use futures::{
    StreamExt as _, future,
    stream::{self, BoxStream},
};
use secrecy::{ExposeSecret as _, SecretString};
use tokio::{sync::Mutex, time::Instant};

use super::{
    http,
    http_provider::{Endpoint, HttpProvider},
    key::ApiKey,
    key_store::KeyStores,
    scrubbed::RemoteModel,
};

/// Lifetime of a key in memory.
const KEEP: Duration = Duration::from_secs(300);

/// The provider.
pub(crate) struct LazyKeyProvider {
    shared: Arc<Shared>,
}

struct Shared {
    endpoint: Endpoint,
    settings: ModelSettings,
    key: ApiKey,
    account: String,
    stores: KeyStores,
    /// Locked while the key is fetched, so that concurrent questions fetch once.
    ready: Mutex<Option<Ready>>,
}

struct Ready {
    /// The time of fetching the key; `None` once it was refused.
    since: Option<Instant>,
    key: SecretString,
    provider: Arc<HttpProvider>,
}

impl LazyKeyProvider {
    /// A provider for `endpoint`, whose key is `key`, kept as `account` if it is in a store.
    pub(crate) fn new(
        endpoint: Endpoint,
        key: ApiKey,
        account: String,
        settings: &ModelSettings,
        stores: &KeyStores,
    ) -> Self {
        let (settings, stores) = (settings.clone(), stores.clone());
        Self { shared: Arc::new(Shared { endpoint, settings, key, account, stores, ready: Mutex::default() }) }
    }
}

impl Shared {
    async fn provider(&self) -> Result<Arc<HttpProvider>, ProviderError> {
        let mut ready = self.ready.lock().await;
        let is_fresh = |known: &&Ready| known.since.is_some_and(|since| since.elapsed() < KEEP);
        if let Some(known) = ready.as_ref().filter(is_fresh) {
            return Ok(Arc::clone(&known.provider));
        }
        let key = self
            .key
            .secret(&self.stores, &self.account)
            .await
            .map_err(|error| self.failure(ProviderErrorKind::Auth, &error.message, Some(error.hint)))?;
        // With the same key the provider stays: the facts that it learned about the service, and its connections.
        let known = ready.take().filter(|known| known.key.expose_secret() == key.expose_secret());
        let provider = match known {
            Some(known) => known.provider,
            None => Arc::new(self.with_key(key.clone())?),
        };
        *ready = Some(Ready { since: Some(Instant::now()), key, provider: Arc::clone(&provider) });
        Ok(provider)
    }

    fn with_key(&self, secret: SecretString) -> Result<HttpProvider, ProviderError> {
        let endpoint = Endpoint { key: Some(secret), ..self.endpoint.clone() };
        HttpProvider::new(endpoint, &self.settings)
            .map_err(|message| self.failure(ProviderErrorKind::Network, &message, None))
    }

    fn failure(&self, kind: ProviderErrorKind, what: &str, hint: Option<String>) -> ProviderError {
        let Endpoint { service, base, .. } = &self.endpoint;
        let message = format!("{service} ({}) was not asked: {what}", http::host_of(base));
        ProviderError { kind, message, hint, retry_after: None, overflow: None }
    }
}

impl RemoteModel for LazyKeyProvider {
    fn info(&self) -> ModelInfo {
        self.shared.endpoint.info()
    }

    fn service(&self) -> ModelService {
        self.shared.endpoint.service(&self.shared.settings)
    }

    fn send(&self, request: Scrubbed<ModelRequest>) -> BoxStream<'static, ModelEvent> {
        let shared = Arc::clone(&self.shared);
        let answer = async move {
            match shared.provider().await {
                Ok(provider) => {
                    let events = provider.send(request);
                    events.then(move |event| forget_refused(Arc::clone(&shared), event)).boxed()
                }
                Err(error) => stream::once(future::ready(ModelEvent::Failed(error))).boxed(),
            }
        };
        stream::once(answer).flatten().boxed()
    }
}

/// A refused key is fetched again for the next question: it may have been changed.
async fn forget_refused(shared: Arc<Shared>, event: ModelEvent) -> ModelEvent {
    if matches!(&event, ModelEvent::Failed(error) if error.kind == ProviderErrorKind::Auth)
        && let Some(ready) = shared.ready.lock().await.as_mut()
    {
        ready.since = None;
    }
    event
}

#[cfg(test)]
#[path = "lazy_key_tests.rs"]
mod tests;
