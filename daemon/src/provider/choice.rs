//! Chooses the provider of answers: the explicit setting, else a service with a key, else a server found on this machine, else the
//! offline assistant.
//!
//! | variable | means |
//! |---|---|
//! | `COHAB_PROVIDER` | a wire or a vendor, `offline`, `scripted` |
//! | `COHAB_BASE_URL` | where it is; for `scripted` the path of the script |
//! | `COHAB_API_KEY`, `COHAB_MODEL` | its key and model |
//! | `ANTHROPIC_API_KEY`, `ANTHROPIC_BASE_URL`, ... | a vendor's own, as in the table of its wire |
//! | `OLLAMA_HOST` | one more place to look for a local server; where `ollama` is |
//!
//! The variables win over the settings, but for a profile that the user asks for (`COHAB_PROFILE`), which has its service and its
//! key from nowhere else. A vendor's own key goes only to the vendor's own host or to where its own `*_BASE_URL` points; any other
//! address gets a key only from `COHAB_API_KEY` or the settings.

use std::{path::Path, sync::Arc};

use cohab_config::{keys, model_settings::ModelSettings};
use cohab_model_api::ModelProvider;
use cohab_wires::vendor::{self, Spoken};

use super::{
    detect::{self, LocalServer},
    key_store::KeyStores,
    scripted::ScriptedProvider,
    service::Service,
    wishes::Wishes,
};

/// Looks up a variable in the environment of the client. Never in the process's own.
pub type Environment<'a> = &'a (dyn Fn(&str) -> Option<String> + Send + Sync);

/// The chosen provider.
#[derive(Clone)]
pub enum Choice {
    /// This provider.
    Ready(Arc<dyn ModelProvider>),
    /// A server was found on this machine. It may be another user's, so the user is asked before its first use.
    AskLocal {
        /// The server found.
        found: LocalServer,
        /// The provider after a yes.
        provider: Arc<dyn ModelProvider>,
        /// The provider after a no.
        otherwise: Arc<dyn ModelProvider>,
    },
}

/// The kind of a provider.
pub(crate) enum Answerer {
    /// The offline assistant.
    Offline,
    /// The script at this path.
    Script(String),
    /// A configured service.
    Service(Service),
    /// A server that was found on this machine.
    Local(LocalServer, Service),
}

/// Settings that cannot work.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ChoiceError {
    /// One sentence.
    pub message: String,
    /// The remedy.
    pub hint: Option<String>,
}

impl ChoiceError {
    pub(super) fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: Some(hint.into()) }
    }
}

/// Chooses a provider. `local_hosts` are searched for local servers ([`detect::usual_hosts`]); `stores` hold the keys; `offline` is the
/// offline assistant.
///
/// # Errors
/// When an explicit setting cannot work; it is never replaced silently.
pub async fn choose(
    settings: &ModelSettings,
    environment: Environment<'_>,
    local_hosts: &[String],
    stores: &KeyStores,
    offline: impl FnOnce() -> Arc<dyn ModelProvider>,
) -> Result<Choice, ChoiceError> {
    Ok(match answerer(settings, environment, local_hosts).await? {
        Answerer::Offline => Choice::Ready(offline()),
        Answerer::Script(path) => Choice::Ready(scripted(&path)?),
        Answerer::Service(mut service) => {
            let model = service.model().await?;
            if settings.context_window_tokens.is_none() {
                service.learn_window(&model).await;
            }
            Choice::Ready(service.provider(model, settings, stores)?)
        }
        Answerer::Local(found, service) => {
            let provider = service.provider(found.model.clone(), settings, stores)?;
            Choice::AskLocal { found, provider, otherwise: offline() }
        }
    })
}

/// Chooses the kind of provider, without asking a service for its models.
///
/// # Errors
/// As [`choose`].
pub(crate) async fn answerer(
    settings: &ModelSettings,
    environment: Environment<'_>,
    local_hosts: &[String],
) -> Result<Answerer, ChoiceError> {
    let wishes = Wishes::of(settings, environment);
    if let Some(provider) = wishes.provider.clone().or_else(|| wishes.implied_provider()) {
        return match provider.as_str() {
            "offline" => Ok(Answerer::Offline),
            "scripted" => wishes.script().map(Answerer::Script),
            name => Service::of(&wishes, spoken_by(name)?, wishes.origin.clone()).map(Answerer::Service),
        };
    }
    if let Some(key) = &wishes.key {
        let message = format!("there is a key in {}, but not whose it is", key.place);
        let hint = format!("set COHAB_PROVIDER, or `provider` under {}, to whose it is", wishes.table);
        return Err(ChoiceError::new(message, hint));
    }
    if let Some((spoken, origin)) = wishes.by_key_variable() {
        return Service::of(&wishes, spoken, origin).map(Answerer::Service);
    }
    let Some(mut found) = detect::find(local_hosts).await else { return Ok(Answerer::Offline) };
    if let Some(model) = &wishes.model {
        found.choose(model);
    }
    let service = Service::found(&found, wishes.table)?;
    Ok(Answerer::Local(found, service))
}

pub(super) fn spoken_by(name: &str) -> Result<Spoken, ChoiceError> {
    vendor::named(name).ok_or_else(|| {
        let names = keys::provider_names();
        let guess =
            keys::nearest(name, &names).map(|nearest| format!("did you mean {nearest:?}? ")).unwrap_or_default();
        ChoiceError::new(format!("there is no model provider {name:?}"), format!("{guess}known: {}", names.join(", ")))
    })
}

fn scripted(path: &str) -> Result<Arc<dyn ModelProvider>, ChoiceError> {
    let provider = ScriptedProvider::load(Path::new(path)).map_err(|message| ChoiceError { message, hint: None })?;
    Ok(Arc::new(provider))
}

#[cfg(test)]
#[path = "choice_tests.rs"]
mod tests;
