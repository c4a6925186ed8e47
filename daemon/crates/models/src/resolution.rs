//! Decides which model answers: the one that is set explicitly, else a service whose key is there, else a server found on this
//! machine, else the built-in assistant.
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

use cohab_config::model_settings::ModelSettings;
use cohab_model_api::ModelProvider;

pub use super::choice_error::ChoiceError;
pub use super::requested_model::Environment;
use super::{
    choice_error,
    detect::{self, LocalServer},
    key_store::KeyStores,
    requested_model::RequestedModel,
    resolved_endpoint::ResolvedEndpoint,
    scripted::ScriptedProvider,
};

/// Who answers.
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

/// What kind of thing answers.
pub enum Answerer {
    /// The assistant without a model.
    Offline,
    /// The script at this path.
    Script(String),
    /// A service that is set up.
    Service(ResolvedEndpoint),
    /// A server that was found on this machine.
    Local(LocalServer, ResolvedEndpoint),
}

/// Chooses a provider. `local_hosts` are searched for local servers ([`detect::usual_hosts`]); `stores` hold the keys; `offline` is the
/// built-in assistant.
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
pub async fn answerer(
    settings: &ModelSettings,
    environment: Environment<'_>,
    local_hosts: &[String],
) -> Result<Answerer, ChoiceError> {
    let wanted = RequestedModel::of(settings, environment);
    if let Some(provider) = wanted.provider.clone().or_else(|| wanted.implied_provider()) {
        return match provider.as_str() {
            "offline" => Ok(Answerer::Offline),
            "scripted" => wanted.script().map(Answerer::Script),
            name => ResolvedEndpoint::of(&wanted, choice_error::spoken_by(name)?, wanted.origin.clone())
                .map(Answerer::Service),
        };
    }
    if let Some(key) = &wanted.key {
        let message = format!("there is a key in {}, but its provider is unknown", key.place);
        let hint = format!("set COHAB_PROVIDER, or `provider` under {}, to its provider", wanted.table);
        return Err(ChoiceError::new(message, hint));
    }
    if let Some((spoken, origin)) = wanted.by_key_variable() {
        return ResolvedEndpoint::of(&wanted, spoken, origin).map(Answerer::Service);
    }
    let Some(mut found) = detect::find(local_hosts).await else { return Ok(Answerer::Offline) };
    if let Some(model) = &wanted.model {
        found.choose(model);
    }
    let service = ResolvedEndpoint::found(&found, wanted.table)?;
    Ok(Answerer::Local(found, service))
}

fn scripted(path: &str) -> Result<Arc<dyn ModelProvider>, ChoiceError> {
    let provider = ScriptedProvider::load(Path::new(path)).map_err(|message| ChoiceError { message, hint: None })?;
    Ok(Arc::new(provider))
}

#[cfg(test)]
#[path = "resolution_tests.rs"]
mod tests;
