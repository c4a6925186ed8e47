//! Who answers: what is set explicitly, else a service whose key is there, else a server found on this machine, else the
//! assistant without a model.
//!
//! | variable | means |
//! |---|---|
//! | `COHAB_PROVIDER` | a wire or a vendor, `offline`, `scripted` |
//! | `COHAB_BASE_URL` | where it is; for `scripted` the path of the script |
//! | `COHAB_API_KEY`, `COHAB_MODEL` | its key and model |
//! | `ANTHROPIC_API_KEY`, `ANTHROPIC_BASE_URL`, ... | a vendor's own, as in the table of its wire |
//! | `OLLAMA_HOST` | one more place to look for a local server; where `ollama` is |
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
    vendor::{self, Spoken},
    wire::{Vendor, Wire},
};
use crate::{agent::port::ModelProvider, config::keys};

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
            name => wishes.hosted(spoken_by(name)?, wishes.origin.to_owned(), settings).await,
        };
    }
    if let Some(key) = &wishes.key {
        let message = format!("there is a key in {}, but not whose it is", key.place);
        return Err(ChoiceError::new(message, "set COHAB_PROVIDER, or `provider` under [model], to whose it is"));
    }
    if let Some((spoken, origin)) = wishes.by_key_variable() {
        return wishes.hosted(spoken, origin, settings).await;
    }
    let Some(mut found) = detect::find(local_hosts).await else { return Ok(Choice::Ready(offline())) };
    if let Some(model) = &wishes.model {
        found.choose(model);
    }
    let provider = local_provider(&found, settings)?;
    Ok(Choice::AskLocal { found, provider, otherwise: offline() })
}

/// All values of `model.provider`: wires, vendors and what needs neither.
pub(crate) fn provider_names() -> Vec<&'static str> {
    vendor::names().into_iter().chain(["offline", "scripted"]).collect()
}

fn spoken_by(name: &str) -> Result<Spoken, ChoiceError> {
    vendor::named(name).ok_or_else(|| {
        let names = provider_names();
        let guess =
            keys::nearest(name, &names).map(|nearest| format!("did you mean {nearest:?}? ")).unwrap_or_default();
        ChoiceError::new(format!("there is no model provider {name:?}"), format!("{guess}known: {}", names.join(", ")))
    })
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

/// An address and whose it is.
struct Place {
    base: Url,
    vendor: Option<&'static Vendor>,
    /// The vendor's own key may go there.
    is_owner: bool,
    /// It is where the vendor's own variable points, but no host of the vendor's.
    is_elsewhere: bool,
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
        let wire = Url::parse(base).ok().and_then(|url| vendor::at(&url)).map(|spoken| spoken.wire);
        Some(wire.map_or("openai-chat", |wire| wire.name()).to_owned())
    }

    fn scripted(&self) -> Result<Choice, ChoiceError> {
        let path = self.base_url.as_ref().ok_or_else(|| {
            ChoiceError::new("the scripted provider has no script", "set COHAB_BASE_URL to the path of a JSON file")
        })?;
        let provider =
            ScriptedProvider::load(Path::new(path)).map_err(|message| ChoiceError { message, hint: None })?;
        Ok(Choice::Ready(Arc::new(provider)))
    }

    async fn hosted(&self, spoken: Spoken, origin: String, settings: &ModelSettings) -> Result<Choice, ChoiceError> {
        let wire = spoken.wire;
        if let Some(name) = &self.missing_key_variable {
            let who = spoken.vendor.map_or(wire.name(), |vendor| vendor.name);
            let message = format!("the key of {who} should be in {name}, which is not set");
            return Err(ChoiceError::new(message, format!("set {name}, or change `api_key_env` under [model]")));
        }
        let place = self.place(spoken)?;
        let Place { vendor, is_owner, .. } = place;
        let key = self.key.clone().or_else(|| self.own_key(vendor?).filter(|_| is_owner));
        let usual_variable = vendor.filter(|_| is_owner).and_then(|vendor| vendor.key_variables.first());
        let key_place =
            key.as_ref().map_or_else(|| *usual_variable.unwrap_or(&"COHAB_API_KEY"), |key| &key.place).to_owned();
        if let (None, Some(vendor), Some(_), false) = (&key, vendor, usual_variable, place.is_elsewhere) {
            let message = format!("{} needs a key and none is set", vendor.name);
            return Err(ChoiceError::new(message, format!("set {key_place}, or `api_key` under [model]")));
        }
        let model = self.model_at(wire, &place).await?;
        let service = vendor.filter(|_| !place.is_elsewhere).map_or(wire.name(), |vendor| vendor.name).to_owned();
        let key = key.map(|key| key.secret);
        let endpoint = Endpoint {
            wire,
            vendor,
            service,
            base: place.base,
            model,
            key,
            key_place,
            origin,
            context_window_tokens: None,
        };
        build(endpoint, settings).map(Choice::Ready)
    }

    /// The model that is named, else the vendor's usual one; a server of the user's own says itself what it has.
    async fn model_at(&self, wire: &'static dyn Wire, place: &Place) -> Result<String, ChoiceError> {
        if let Some(model) = &self.model {
            return Ok(model.clone());
        }
        let usual = place.vendor.filter(|_| place.is_owner).map(|vendor| vendor.default_model);
        let usual = usual.filter(|model| !model.is_empty()).map(str::to_owned);
        let model = match usual {
            Some(usual) if !place.is_elsewhere => Some(usual),
            usual => detect::first_model(wire, &place.base).await.or(usual),
        };
        model.ok_or_else(|| {
            let message = format!("no model is named for {}", http::host_of(&place.base));
            ChoiceError::new(message, "set COHAB_MODEL, or `name` under [model]")
        })
    }

    /// Where the service is, and whose that place is.
    fn place(&self, spoken: Spoken) -> Result<Place, ChoiceError> {
        let usual = spoken.vendor.or_else(|| spoken.wire.vendors().first());
        let own_address =
            usual.and_then(|vendor| self.variable(vendor.base_url_variable).map(|value| (vendor.base_url_of)(&value)));
        let address = self.base_url.as_deref().or(own_address.as_deref());
        let Some(address) =
            address.or_else(|| usual.map(|vendor| vendor.base_url)).filter(|address| !address.is_empty())
        else {
            let name = usual.map_or(spoken.wire.name(), |vendor| vendor.name);
            return Err(ChoiceError::new(
                format!("{name} has no address that is the same for everybody"),
                "set COHAB_BASE_URL, or `base_url` under [model], to yours",
            ));
        };
        let base = parse_base(address)?;
        if own_address.as_deref() == Some(address) {
            let is_elsewhere = !usual.is_some_and(|vendor| vendor.owns(&base));
            return Ok(Place { base, vendor: usual, is_owner: true, is_elsewhere });
        }
        let at_address = spoken.wire.vendors().iter().find(|vendor| vendor.owns(&base));
        let vendor = spoken.vendor.or(at_address);
        let is_owner = vendor.is_some_and(|vendor| vendor.owns(&base));
        Ok(Place { base, vendor, is_owner, is_elsewhere: false })
    }

    /// The vendor of lowest rank whose own key is there, and the reason in words.
    fn by_key_variable(&self) -> Option<(Spoken, String)> {
        let mut keyed: Vec<_> = vendor::all()
            .filter(|(_, vendor)| vendor.lacks_only_key(self.model.is_some()))
            .filter_map(|(wire, vendor)| Some((wire, vendor, self.own_key(vendor)?.place)))
            .collect();
        keyed.sort_by_key(|(_, vendor, _)| vendor.rank);
        let mut keyed = keyed.into_iter();
        let (wire, vendor, variable) = keyed.next()?;
        let mut others: Vec<String> = Vec::new();
        for (.., other) in keyed {
            if other != variable && !others.contains(&other) {
                others.push(other);
            }
        }
        let mut origin = variable;
        if !others.is_empty() {
            origin.push_str(&format!(" (before {}; COHAB_PROVIDER decides otherwise)", others.join(", ")));
        }
        Some((Spoken { wire, vendor: Some(vendor) }, origin))
    }

    fn own_key(&self, vendor: &Vendor) -> Option<Key> {
        vendor
            .key_variables
            .iter()
            .find_map(|name| self.variable(name).map(|key| Key { secret: key.into(), place: (*name).to_owned() }))
    }

    fn variable(&self, name: &str) -> Option<String> {
        (self.environment)(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
    }
}

fn parse_base(address: &str) -> Result<Url, ChoiceError> {
    let hint = "write it as http://127.0.0.1:8080/v1 or https://host/v1";
    match Url::parse(address) {
        Ok(url) if matches!(url.scheme(), "http" | "https") && url.host_str().is_some() => Ok(url),
        Ok(_) => Err(ChoiceError::new("the base URL is neither http nor https", hint)),
        Err(error) => Err(ChoiceError::new(format!("the base URL is not valid: {error}"), hint)),
    }
}

fn local_provider(found: &LocalServer, settings: &ModelSettings) -> Result<Arc<dyn ModelProvider>, ChoiceError> {
    let base = parse_base(&found.url)?;
    let endpoint = Endpoint {
        wire: spoken_by(found.wire)?.wire,
        vendor: None,
        service: found.server.clone(),
        model: found.model.clone(),
        key: None,
        key_place: "COHAB_API_KEY".to_owned(),
        origin: format!("{} found at {}", found.server, http::host_of(&base)),
        context_window_tokens: found.context_window_tokens,
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
