//! Who answers: what is set explicitly, else a service whose key is there, else a server found on this machine, else the
//! assistant without a model.
//!
//! | variable | means |
//! |---|---|
//! | `COHAB_PROVIDER` | `anthropic`, `openai-chat`, `offline`, `scripted` |
//! | `COHAB_BASE_URL` | where it is; for `scripted` the path of the script |
//! | `COHAB_API_KEY`, `COHAB_MODEL` | its key and model |
//! | `ANTHROPIC_API_KEY`, `ANTHROPIC_BASE_URL` | Anthropic's own |
//! | `OPENAI_API_KEY`, `OPENAI_BASE_URL` | OpenAI's own |
//! | `OLLAMA_HOST` | one more place to look for a local server |
//!
//! The variables win over the settings. A vendor's own key goes only to the vendor's own host or to where its own `*_BASE_URL`
//! points; any other address gets a key only from `COHAB_API_KEY` or the settings.

use std::{path::Path, sync::Arc};

use reqwest::Url;
use secrecy::SecretString;

use super::{
    detect::{self, LocalServer},
    http,
    http_provider::{Endpoint, HttpProvider},
    scripted::ScriptedProvider,
    settings::ModelSettings,
    wire::{WIRES, Wire},
};
use crate::agent::port::ModelProvider;

/// Looks up a variable in the environment of the client that asks. Never the process's own.
pub type Environment<'a> = &'a (dyn Fn(&str) -> Option<String> + Send + Sync);

/// Who answers.
#[derive(Clone)]
pub enum Choice {
    /// This one.
    Ready(Arc<dyn ModelProvider>),
    /// A server was found on this machine. It may be another user's, so the user is asked before its first use.
    AskLocal {
        /// What was found.
        found: LocalServer,
        /// Answers after a yes.
        provider: Arc<dyn ModelProvider>,
        /// Answers after a no.
        otherwise: Arc<dyn ModelProvider>,
    },
}

/// Settings that cannot work.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ChoiceError {
    /// One sentence.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
}

impl ChoiceError {
    fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: Some(hint.into()) }
    }
}

/// Decides. `local_hosts` is where to look for local servers ([`detect::usual_hosts`]); `offline` is the assistant without a
/// model.
///
/// # Errors
/// When what is set explicitly cannot work; nothing else is then taken silently in its place.
pub async fn choose(
    settings: &ModelSettings,
    environment: Environment<'_>,
    local_hosts: &[String],
    offline: impl FnOnce() -> Arc<dyn ModelProvider>,
) -> Result<Choice, ChoiceError> {
    let wishes = Wishes::of(settings, environment);
    if let Some(provider) = wishes.provider.clone().or_else(|| wishes.implied_provider()) {
        return match provider.as_str() {
            "offline" => Ok(Choice::Ready(offline())),
            "scripted" => wishes.scripted(),
            name => wishes.hosted(wire_named(name)?, wishes.origin.to_owned(), settings).await,
        };
    }
    if let Some(key) = &wishes.key {
        let message = format!("there is a key in {}, but not whose it is", key.place);
        return Err(ChoiceError::new(
            message,
            "set COHAB_PROVIDER, or `provider` under [model], to anthropic or openai-chat",
        ));
    }
    if let Some((wire, origin)) = wishes.by_key_variable() {
        return wishes.hosted(wire, origin, settings).await;
    }
    let Some(found) = detect::find(local_hosts).await else { return Ok(Choice::Ready(offline())) };
    let provider = local_provider(&found, &wishes, settings)?;
    Ok(Choice::AskLocal { found, provider, otherwise: offline() })
}

fn wire_named(name: &str) -> Result<&'static dyn Wire, ChoiceError> {
    WIRES.iter().copied().find(|wire| wire.name() == name).ok_or_else(|| {
        let names: Vec<&str> = WIRES.iter().map(|wire| wire.name()).chain(["offline", "scripted"]).collect();
        let nearest = names.iter().find(|known| known.starts_with(name)).or_else(|| {
            names.iter().min_by_key(|known| distance(known, name)).filter(|known| distance(known, name) <= MAX_EDITS)
        });
        let guess = nearest.map(|nearest| format!("did you mean {nearest:?}? ")).unwrap_or_default();
        ChoiceError::new(format!("there is no model provider {name:?}"), format!("{guess}known: {}", names.join(", ")))
    })
}

/// A name that differs in more characters is no slip.
const MAX_EDITS: usize = 4;

/// Edit distance in characters; names are short.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().take(64).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, a) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, b) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

/// What settings and variables say together.
struct Wishes<'a> {
    environment: Environment<'a>,
    provider: Option<String>,
    base_url: Option<String>,
    model: Option<String>,
    key: Option<Key>,
    /// Variable that should hold the key by the settings, but is not set.
    missing_key_variable: Option<String>,
    origin: &'static str,
}

/// A key and where it was found.
#[derive(Clone)]
struct Key {
    secret: SecretString,
    place: String,
}

impl<'a> Wishes<'a> {
    fn of(settings: &ModelSettings, environment: Environment<'a>) -> Self {
        let variable =
            |name: &str| environment(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
        let named = variable("COHAB_PROVIDER");
        // Another provider makes the file's address, model and key those of somebody else.
        let is_other = named.as_ref().is_some_and(|named| settings.provider.as_ref() != Some(named));
        let own = (!is_other).then_some(settings);
        let origin = match (&named, variable("COHAB_BASE_URL")) {
            (Some(_), _) => "COHAB_PROVIDER",
            (None, Some(_)) => "COHAB_BASE_URL",
            (None, None) => "the settings",
        };
        let key_of_variable = |name: &str| variable(name).map(|key| Key { secret: key.into(), place: name.to_owned() });
        let key_of_settings = |own: &ModelSettings| match (&own.api_key_env, &own.api_key) {
            (Some(name), _) => key_of_variable(name),
            (None, Some(secret)) => Some(Key { secret: secret.clone(), place: "`api_key` under [model]".to_owned() }),
            (None, None) => None,
        };
        // The file's key belongs to the file's address.
        let has_other_address =
            variable("COHAB_BASE_URL").is_some_and(|url| own.and_then(|own| own.base_url.as_ref()) != Some(&url));
        let own_key = own.filter(|_| !has_other_address);
        let key = key_of_variable("COHAB_API_KEY").or_else(|| own_key.and_then(key_of_settings));
        Self {
            environment,
            missing_key_variable: own_key.filter(|_| key.is_none()).and_then(|own| own.api_key_env.clone()),
            key,
            base_url: variable("COHAB_BASE_URL").or_else(|| own?.base_url.clone()),
            model: variable("COHAB_MODEL").or_else(|| own?.name.clone()),
            provider: named.or_else(|| settings.provider.clone()),
            origin,
        }
    }

    /// An address alone says enough: a vendor's own host speaks the vendor's wire, anything else what most servers speak.
    fn implied_provider(&self) -> Option<String> {
        let base = self.base_url.as_ref()?;
        let url = Url::parse(base).ok();
        let vendor = WIRES.iter().find(|wire| url.as_ref().is_some_and(|url| is_vendor_address(**wire, url)));
        Some(vendor.map_or("openai-chat", |wire| wire.name()).to_owned())
    }

    fn scripted(&self) -> Result<Choice, ChoiceError> {
        let path = self.base_url.as_ref().ok_or_else(|| {
            ChoiceError::new("the scripted provider has no script", "set COHAB_BASE_URL to the path of a JSON file")
        })?;
        let provider =
            ScriptedProvider::load(Path::new(path)).map_err(|message| ChoiceError { message, hint: None })?;
        Ok(Choice::Ready(Arc::new(provider)))
    }

    async fn hosted(
        &self,
        wire: &'static dyn Wire,
        origin: String,
        settings: &ModelSettings,
    ) -> Result<Choice, ChoiceError> {
        let vendor = wire.vendor();
        if let Some(name) = &self.missing_key_variable {
            let message = format!("the key of {} should be in {name}, which is not set", wire.name());
            return Err(ChoiceError::new(message, format!("set {name}, or change `api_key_env` under [model]")));
        }
        let own_address = self.variable(vendor.base_url_variable);
        let address = self.base_url.as_ref().or(own_address.as_ref()).map_or(vendor.base_url, String::as_str);
        let has_own_address = own_address.as_deref() == Some(address);
        let base = parse_base(address)?;
        let is_vendor = is_vendor_address(wire, &base);
        let key = self.key.clone().or_else(|| self.own_key(wire).filter(|_| is_vendor || has_own_address));
        let default_place = if is_vendor || has_own_address { vendor.key_variable } else { "COHAB_API_KEY" };
        let key_place = key.as_ref().map_or(default_place, |key| &key.place).to_owned();
        if key.is_none() && is_vendor {
            let message = format!("{} needs a key and none is set", vendor.name);
            return Err(ChoiceError::new(message, format!("set {key_place}, or `api_key` under [model]")));
        }
        let model = match self.model.clone() {
            Some(model) => model,
            None if is_vendor => vendor.default_model.to_owned(),
            None => {
                let first = detect::first_model(&base).await;
                first.or_else(|| has_own_address.then(|| vendor.default_model.to_owned())).ok_or_else(|| {
                    let message = format!("no model is named for {}", http::host_of(&base));
                    ChoiceError::new(message, "set COHAB_MODEL, or `name` under [model]")
                })?
            }
        };
        let service = if is_vendor { vendor.name } else { wire.name() }.to_owned();
        let key = key.map(|key| key.secret);
        build(Endpoint { wire, service, base, model, key, key_place, origin }, settings).map(Choice::Ready)
    }

    /// The first vendor whose own key is there, and the reason in words.
    fn by_key_variable(&self) -> Option<(&'static dyn Wire, String)> {
        let mut keyed = WIRES.iter().copied().filter(|wire| self.own_key(*wire).is_some());
        let wire = keyed.next()?;
        let mut origin = wire.vendor().key_variable.to_owned();
        let others: Vec<&str> = keyed.map(|wire| wire.vendor().key_variable).collect();
        if !others.is_empty() {
            origin.push_str(&format!(" (before {}; COHAB_PROVIDER decides otherwise)", others.join(", ")));
        }
        Some((wire, origin))
    }

    fn own_key(&self, wire: &dyn Wire) -> Option<Key> {
        let place = wire.vendor().key_variable;
        self.variable(place).map(|key| Key { secret: key.into(), place: place.to_owned() })
    }

    fn variable(&self, name: &str) -> Option<String> {
        (self.environment)(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
    }
}

/// Same scheme, host and port: a key does not go over plain HTTP either.
fn is_vendor_address(wire: &dyn Wire, base: &Url) -> bool {
    Url::parse(wire.vendor().base_url).is_ok_and(|vendor| vendor.origin() == base.origin())
}

fn parse_base(address: &str) -> Result<Url, ChoiceError> {
    let hint = "write it as http://127.0.0.1:8080/v1 or https://host/v1";
    match Url::parse(address) {
        Ok(url) if matches!(url.scheme(), "http" | "https") && url.host_str().is_some() => Ok(url),
        Ok(_) => Err(ChoiceError::new("the base URL is neither http nor https", hint)),
        Err(error) => Err(ChoiceError::new(format!("the base URL is not valid: {error}"), hint)),
    }
}

fn local_provider(
    found: &LocalServer,
    wishes: &Wishes<'_>,
    settings: &ModelSettings,
) -> Result<Arc<dyn ModelProvider>, ChoiceError> {
    let base = parse_base(&found.url)?;
    let endpoint = Endpoint {
        wire: wire_named("openai-chat")?,
        service: found.server.clone(),
        model: wishes.model.clone().unwrap_or_else(|| found.model.clone()),
        key: None,
        key_place: "COHAB_API_KEY".to_owned(),
        origin: format!("{} found at {}", found.server, http::host_of(&base)),
        base,
    };
    build(endpoint, settings)
}

fn build(endpoint: Endpoint, settings: &ModelSettings) -> Result<Arc<dyn ModelProvider>, ChoiceError> {
    let provider = HttpProvider::new(endpoint, settings).map_err(|message| ChoiceError { message, hint: None })?;
    Ok(Arc::new(provider))
}

#[cfg(test)]
#[path = "choice_tests.rs"]
mod tests;
