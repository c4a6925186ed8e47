//! A service as requests are sent to it: its address, its vendor, the way to its key.

use std::sync::Arc;

use cohab_config::{keys, model_settings::ModelSettings};
use cohab_model_api::ModelProvider;
use cohab_wires::{
    vendor::Spoken,
    wire::{Vendor, Wire},
};
use reqwest::Url;

use super::{
    choice_error::{self, ChoiceError},
    detect::{self, LocalServer},
    http,
    http_provider::{Endpoint, HttpProvider},
    key::{ApiKey, Source},
    key_store::KeyStores,
    lazy_key::LazyKeyProvider,
    requested_model::RequestedModel,
    scrubbed::ScrubbedProvider,
};

/// A service and the way to its key. Its model is not settled yet.
pub struct ResolvedEndpoint {
    /// Its protocol.
    pub(crate) wire: &'static dyn Wire,
    /// The vendor, if it is a known one.
    pub(crate) vendor: Option<&'static Vendor>,
    /// The service for people.
    pub name: String,
    /// Base URL.
    pub base: Url,
    /// The key, if it gets one.
    pub key: Option<ApiKey>,
    /// Where the key comes from, or would come from.
    pub key_place: String,
    /// The key's name in the stores. It names vendor or host, so that a stored key goes to no other.
    pub account: String,
    /// Model that was asked for.
    pub(crate) wanted_model: Option<String>,
    origin: String,
    /// The vendor's usual model, where the vendor's own models are.
    usual_model: Option<&'static str>,
    /// Whether the vendor's own variable points to a host that is not the vendor's.
    is_elsewhere: bool,
    table: String,
    /// Size of the model's context in tokens, if the service reported it.
    context_window_tokens: Option<u64>,
}

/// An address and its owner.
struct OwnedAddress {
    base: Url,
    vendor: Option<&'static Vendor>,
    /// Whether the vendor's own key may go there.
    is_owner: bool,
    is_elsewhere: bool,
}

impl ResolvedEndpoint {
    /// The service that `spoken` means, with what else was asked for.
    ///
    /// # Errors
    /// It needs a key and has none, or has no address.
    pub(super) fn of(wanted: &RequestedModel<'_>, spoken: Spoken, origin: String) -> Result<Self, ChoiceError> {
        let wire = spoken.wire;
        if let Some(name) = &wanted.missing_key_variable {
            let who = spoken.vendor.map_or(wire.name(), |vendor| vendor.name);
            let message = format!("the key of {who} should be in {name}, which is not set");
            return Err(ChoiceError::new(
                message,
                format!("set {name}, or change `api_key_env` under {}", wanted.table),
            ));
        }
        let OwnedAddress { base, vendor, is_owner, is_elsewhere } = place(wanted, spoken)?;
        let key = wanted.key.clone().or_else(|| wanted.own_key(vendor?).filter(|_| is_owner));
        let usual_variable = vendor.filter(|_| is_owner).and_then(|vendor| vendor.key_variables.first());
        let key_place =
            key.as_ref().map_or_else(|| *usual_variable.unwrap_or(&"COHAB_API_KEY"), |key| &key.place).to_owned();
        if let (None, Some(vendor), Some(_), false) = (&key, vendor, usual_variable, is_elsewhere) {
            let message = format!("{} needs a key and none is set", vendor.name);
            return Err(ChoiceError::new(message, format!("run `cohab setup`, or set {key_place}")));
        }
        let owner = vendor.filter(|_| is_owner && !is_elsewhere);
        Ok(Self {
            wire,
            vendor,
            name: vendor.filter(|_| !is_elsewhere).map_or(wire.name(), |vendor| vendor.name).to_owned(),
            account: account(owner, &base, wanted.profile.as_deref()),
            base,
            key,
            key_place,
            wanted_model: wanted.model.clone(),
            origin,
            usual_model: vendor.filter(|_| is_owner).map(|vendor| vendor.default_model).filter(|name| !name.is_empty()),
            is_elsewhere,
            table: wanted.table.clone(),
            context_window_tokens: None,
        })
    }

    /// What decided that it is this one, for people.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// A server that was found on this machine.
    pub(crate) fn found(found: &LocalServer, table: String) -> Result<Self, ChoiceError> {
        let base = parse_base(&found.url)?;
        Ok(Self {
            wire: choice_error::spoken_by(found.wire)?.wire,
            vendor: None,
            name: found.server.clone(),
            key: None,
            key_place: "COHAB_API_KEY".to_owned(),
            account: account(None, &base, None),
            wanted_model: Some(found.model.clone()),
            origin: format!("{} found at {}", found.server, http::host_of(&base)),
            usual_model: None,
            is_elsewhere: false,
            base,
            table,
            context_window_tokens: found.context_window_tokens,
        })
    }

    /// The named model, else the vendor's usual one; the user's own server is asked for its models.
    ///
    /// # Errors
    /// None is known.
    pub async fn model(&self) -> Result<String, ChoiceError> {
        if let Some(model) = &self.wanted_model {
            return Ok(model.clone());
        }
        let usual = self.usual_model.map(str::to_owned);
        let model = match usual {
            Some(usual) if !self.is_elsewhere => Some(usual),
            usual => detect::first_model(self.wire, &self.base).await.or(usual),
        };
        model.ok_or_else(|| {
            let message = format!("no model is set for {}", http::host_of(&self.base));
            ChoiceError::new(
                message,
                format!("`cohab models` lists its models; set COHAB_MODEL, or `name` under {}", self.table),
            )
        })
    }

    /// Learns the context size of `model` from a server on this machine: its users choose that size, and no table has it.
    pub(crate) async fn learn_window(&mut self, model: &str) {
        let is_told = self.context_window_tokens.is_some() || self.wire.default_context_window_tokens().is_some();
        if !is_told && http::is_loopback(&self.base) {
            self.context_window_tokens = detect::context_window_tokens(&self.base, model).await;
        }
    }

    /// The context size of `model` as its own server or protocol says; `None` if it would be taken from a table, or assumed.
    pub async fn window_tokens(&mut self, model: &str) -> Option<u64> {
        self.learn_window(model).await;
        self.context_window_tokens.or_else(|| self.wire.default_context_window_tokens())
    }

    /// Whether its list of models has all names that it takes: Azure takes names of deployments.
    pub fn lists_its_models(&self) -> bool {
        self.vendor.is_none_or(|vendor| vendor.id != "azure")
    }

    /// The model that is used without asking the service, if one is known.
    pub fn likely_model(&self) -> Option<&str> {
        self.wanted_model.as_deref().or(self.usual_model)
    }

    /// The endpoint, without a key yet.
    pub(crate) fn endpoint(&self, model: String) -> Endpoint {
        Endpoint {
            wire: self.wire,
            vendor: self.vendor,
            service: self.name.clone(),
            base: self.base.clone(),
            model,
            key: None,
            key_place: self.key_place.clone(),
            origin: self.origin.clone(),
            context_window_tokens: self.context_window_tokens,
        }
    }

    /// The provider with this model. An unknown key is fetched with the first question.
    ///
    /// # Errors
    /// No HTTP client can be set up.
    pub fn provider(
        self,
        model: String,
        settings: &ModelSettings,
        stores: &KeyStores,
    ) -> Result<Arc<dyn ModelProvider>, ChoiceError> {
        let mut endpoint = self.endpoint(model);
        match self.key {
            Some(key) if !matches!(key.source, Source::Here(_)) => {
                let provider = LazyKeyProvider::new(endpoint, key, self.account, settings, stores);
                Ok(Arc::new(ScrubbedProvider::around(provider, stores.secrets())))
            }
            key => {
                endpoint.key = key.and_then(|key| match key.source {
                    Source::Here(secret) => Some(secret),
                    Source::Command(_) | Source::Stored(_) => None,
                });
                let provider = HttpProvider::new(endpoint, settings);
                let provider = provider.map_err(|message| ChoiceError { message, hint: None })?;
                Ok(Arc::new(ScrubbedProvider::around(provider, stores.secrets())))
            }
        }
    }
}

/// `openai`, `127.0.0.1:8080`; with a profile `openai/work`.
fn account(owner: Option<&Vendor>, base: &Url, profile: Option<&str>) -> String {
    let place = owner.map_or_else(|| http::host_of(base), |vendor| vendor.id.to_owned());
    match profile.filter(|name| *name != cohab_config::profile::DEFAULT) {
        Some(profile) => format!("{place}/{profile}"),
        None => place,
    }
}

/// Where the service is, and whose that place is.
fn place(wanted: &RequestedModel<'_>, spoken: Spoken) -> Result<OwnedAddress, ChoiceError> {
    let usual = spoken.vendor.or_else(|| spoken.wire.vendors().first());
    let own_address =
        usual.and_then(|vendor| wanted.variable(vendor.base_url_variable).map(|value| (vendor.base_url_of)(&value)));
    let address = wanted.base_url.as_deref().or(own_address.as_deref());
    let Some(address) = address.or_else(|| usual.map(|vendor| vendor.base_url)).filter(|address| !address.is_empty())
    else {
        let name = usual.map_or(spoken.wire.name(), |vendor| vendor.name);
        return Err(ChoiceError::new(
            format!("{name} has a different address for each customer"),
            format!("set COHAB_BASE_URL, or `base_url` under {}, to yours", wanted.table),
        ));
    };
    let base = parse_base(address)?;
    if own_address.as_deref() == Some(address) {
        let is_elsewhere = !usual.is_some_and(|vendor| vendor.owns(&base));
        return Ok(OwnedAddress { base, vendor: usual, is_owner: true, is_elsewhere });
    }
    let at_address = spoken.wire.vendors().iter().find(|vendor| vendor.owns(&base));
    let vendor = spoken.vendor.or(at_address);
    let is_owner = vendor.is_some_and(|vendor| vendor.owns(&base));
    Ok(OwnedAddress { base, vendor, is_owner, is_elsewhere: false })
}

fn parse_base(address: &str) -> Result<Url, ChoiceError> {
    let hint = "write it as http://127.0.0.1:8080/v1 or https://host/v1";
    match Url::parse(address) {
        Ok(url) if keys::is_service_url(address) => Ok(url),
        Ok(_) => Err(ChoiceError::new("the base URL is neither http nor https", hint)),
        Err(error) => Err(ChoiceError::new(format!("the base URL is not valid: {error}"), hint)),
    }
}
