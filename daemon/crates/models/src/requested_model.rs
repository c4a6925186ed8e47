//! The model that the settings and the client's environment ask for together. Pure.

use cohab_config::model_settings::{AskedBy, ModelSettings};
use cohab_wires::{
    vendor::{self, Spoken},
    wire::Vendor,
};
use reqwest::Url;

use super::{
    choice_error::ChoiceError,
    key::{ApiKey, Source},
};

/// Looks up a variable in the environment of the client that asks. Never the process's own.
pub type Environment<'a> = &'a (dyn Fn(&str) -> Option<String> + Send + Sync);

/// The request of settings and variables together.
pub(super) struct RequestedModel<'a> {
    environment: Environment<'a>,
    /// `model.provider`, or its replacement.
    pub(super) provider: Option<String>,
    /// The address of the service.
    pub(super) base_url: Option<String>,
    /// Its model.
    pub(super) model: Option<String>,
    /// Its key, from any source.
    pub(super) key: Option<ApiKey>,
    /// Variable that should hold the key by the settings, but is not set.
    pub(super) missing_key_variable: Option<String>,
    /// The origin of the choice, for people.
    pub(super) origin: String,
    /// The table of the settings, for people: `[model]`.
    pub(super) table: String,
    /// The profile in force.
    pub(super) profile: Option<String>,
}

impl<'a> RequestedModel<'a> {
    /// Of these settings, as the profile in force has them.
    pub(super) fn of(settings: &ModelSettings, environment: Environment<'a>) -> Self {
        let profile = settings.profile.as_ref();
        let is_alone = profile.is_some_and(|profile| profile.asked_by == AskedBy::User);
        let variable = |name: &str| value_of(environment, name).filter(|_| !is_alone);
        let named = variable("COHAB_PROVIDER");
        // With another provider the file's address, model and key are those of another service.
        let is_other = named.as_ref().is_some_and(|named| settings.provider.as_ref() != Some(named));
        let own = (!is_other).then_some(settings);
        let origin = match (&named, variable("COHAB_BASE_URL"), profile) {
            (Some(_), ..) => "COHAB_PROVIDER".to_owned(),
            (None, Some(_), _) => "COHAB_BASE_URL".to_owned(),
            (None, None, Some(profile)) => format!("profile `{}`", profile.name),
            (None, None, None) => "the settings".to_owned(),
        };
        // The file's key belongs to the file's address.
        let has_other_address =
            variable("COHAB_BASE_URL").is_some_and(|url| own.and_then(|own| own.base_url.as_ref()) != Some(&url));
        let own_key = own.filter(|_| !has_other_address);
        let key = variable("COHAB_API_KEY").map(|key| ApiKey::here(key, "COHAB_API_KEY"));
        let key = key.or_else(|| key_of_settings(own_key?, environment));
        Self {
            environment,
            missing_key_variable: own_key.filter(|_| key.is_none()).and_then(|own| own.api_key_env.clone()),
            key,
            base_url: variable("COHAB_BASE_URL").or_else(|| own?.base_url.clone()),
            model: value_of(environment, "COHAB_MODEL").or_else(|| own?.name.clone()),
            provider: named.or_else(|| settings.provider.clone()),
            origin,
            table: settings.table(),
            profile: profile.map(|profile| profile.name.clone()),
        }
    }

    /// An address alone is enough: a vendor's own host speaks the vendor's wire, any other the wire of most servers.
    pub(super) fn implied_provider(&self) -> Option<String> {
        let base = self.base_url.as_ref()?;
        let wire = Url::parse(base).ok().and_then(|url| vendor::at(&url)).map(|spoken| spoken.wire);
        Some(wire.map_or("openai-chat", |wire| wire.name()).to_owned())
    }

    /// The path of the script of `scripted`.
    pub(super) fn script(&self) -> Result<String, ChoiceError> {
        self.base_url.clone().ok_or_else(|| {
            ChoiceError::new("the scripted provider has no script", "set COHAB_BASE_URL to the path of a JSON file")
        })
    }

    /// The vendor of lowest rank whose own key is there, and the reason in words.
    pub(super) fn by_key_variable(&self) -> Option<(Spoken, String)> {
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
            origin.push_str(&format!(" (preferred to {}; COHAB_PROVIDER overrides this)", others.join(", ")));
        }
        Some((Spoken { wire, vendor: Some(vendor) }, origin))
    }

    /// The key in the vendor's own variables.
    pub(super) fn own_key(&self, vendor: &Vendor) -> Option<ApiKey> {
        vendor.key_variables.iter().find_map(|name| self.variable(name).map(|key| ApiKey::here(key, *name)))
    }

    /// A variable with a non-empty value.
    pub(super) fn variable(&self, name: &str) -> Option<String> {
        value_of(self.environment, name)
    }
}

fn value_of(environment: Environment<'_>, name: &str) -> Option<String> {
    environment(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
}

/// The first of the key sources in the settings that is present.
fn key_of_settings(own: &ModelSettings, environment: Environment<'_>) -> Option<ApiKey> {
    let place = |name: &str| format!("`{name}` under {}", own.table());
    let in_variable =
        || own.api_key_env.as_ref().and_then(|name| Some(ApiKey::here(value_of(environment, name)?, name)));
    let by_command = || {
        let source = Source::Command(own.key_command.clone()?);
        Some(ApiKey { source, place: place("key_command") })
    };
    let in_file = || own.api_key.clone().map(|secret| ApiKey::here(secret, place("api_key")));
    let stored = || Some(ApiKey { source: Source::Stored(own.key_store?), place: place("key_store") });
    in_variable().or_else(by_command).or_else(in_file).or_else(stored)
}
