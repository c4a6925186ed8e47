//! The draft holds the result of the user's answers. Pure.

use cohab_config::{
    Change,
    keys::{self, Check, Key},
    model_settings::{AskedBy, KeyStore, ModelSettings, Profile},
    profile,
};
use secrecy::SecretString;
use toml_edit::Value;

use super::{Given, GivenKey};

/// A service to be saved.
#[derive(Clone, Debug, Default)]
pub(super) struct Draft {
    /// A wire, a vendor, `offline`.
    pub(super) provider: String,
    /// Its address, if it differs from its vendor's.
    pub(super) base_url: Option<String>,
    /// The place of its key.
    pub(super) key: DraftKey,
    /// Its model.
    pub(super) model: Option<String>,
    /// Size of that model's context in tokens, where the service lists it and no table has the service.
    pub(super) context_window_tokens: Option<u64>,
    /// The profile it is for.
    pub(super) profile: Option<String>,
}

/// The place of a draft's key.
#[derive(Clone, Debug, Default)]
pub(super) enum DraftKey {
    /// It needs none.
    #[default]
    None,
    /// A variable.
    Variable(String),
    /// A command that prints it.
    Command(String),
    /// The key itself, to be stored.
    Secret(SecretString),
}

impl From<Option<GivenKey>> for DraftKey {
    fn from(given: Option<GivenKey>) -> Self {
        match given {
            None => Self::None,
            Some(GivenKey::Variable(name)) => Self::Variable(name),
            Some(GivenKey::Command(line)) => Self::Command(line),
            Some(GivenKey::Secret(secret)) => Self::Secret(secret),
        }
    }
}

impl Draft {
    /// The facts from the command line.
    pub(super) fn of(given: &Given) -> Self {
        Self {
            provider: given.provider.clone().unwrap_or_default(),
            base_url: given.base_url.clone(),
            key: given.key.clone().into(),
            model: given.model.clone(),
            context_window_tokens: None,
            profile: given.profile.clone().filter(|name| name != profile::DEFAULT),
        }
    }

    /// The settings for trying it out: with the time limits in force, and a key that is not stored yet.
    pub(super) fn settings(&self, base: &ModelSettings) -> ModelSettings {
        let mut settings = ModelSettings {
            provider: Some(self.provider.clone()),
            base_url: self.base_url.clone(),
            name: self.model.clone(),
            context_window_tokens: self.context_window_tokens,
            timeouts: base.timeouts,
            profile: self.profile.clone().map(|name| Profile { name, asked_by: AskedBy::User }),
            ..ModelSettings::default()
        };
        match &self.key {
            DraftKey::None => {}
            DraftKey::Variable(name) => settings.api_key_env = Some(name.clone()),
            DraftKey::Command(line) => settings.key_command = Some(line.clone()),
            DraftKey::Secret(secret) => settings.api_key = Some(secret.clone()),
        }
        settings
    }

    /// The changes of the settings file. Settings of the former service or model are removed. `store` is the place of a stored key;
    /// `is_same_model` keeps the settings of the model.
    pub(super) fn changes(&self, store: Option<KeyStore>, is_same_model: bool) -> Vec<Change> {
        let store = store.map(|store| match store {
            KeyStore::Keyring => "keyring".to_owned(),
            KeyStore::File => "file".to_owned(),
        });
        let (variable, command) = match &self.key {
            DraftKey::Variable(name) => (Some(name.clone()), None),
            DraftKey::Command(line) => (None, Some(line.clone())),
            DraftKey::None | DraftKey::Secret(_) => (None, None),
        };
        let values = [
            ("provider", Some(self.provider.clone())),
            ("base_url", self.base_url.clone()),
            ("name", self.model.clone()),
            ("api_key_env", variable),
            ("key_command", command),
            ("api_key", None),
            ("key_store", store),
        ];
        let of_model =
            ["context_window_tokens", "reasoning_effort", "temperature", "max_output_tokens"].map(|leaf| (leaf, None));
        let of_model = of_model.into_iter().filter(|_| !is_same_model);
        let window = self.context_window_tokens.and_then(|tokens| {
            let value = Value::from(i64::try_from(tokens).ok()?);
            let key = self.key_named("context_window_tokens").filter(|key| key.check(&value).is_ok())?;
            Some(Change::Set(key, value))
        });
        let change = |(leaf, value): (&str, Option<String>)| {
            let key = self.key_named(leaf)?;
            Some(match value {
                Some(value) => Change::Set(key, Value::from(value)),
                None => Change::Unset(key),
            })
        };
        values.into_iter().chain(of_model).filter_map(change).chain(window).collect()
    }

    /// Its table in the file.
    pub(super) fn table(&self) -> String {
        profile::table(self.profile.as_deref())
    }

    /// A setting in its table.
    pub(super) fn key_named(&self, leaf: &str) -> Option<Key> {
        keys::find(&format!("{}.{leaf}", self.table()))
    }
}

/// Whether a text can be a key.
pub(super) fn check_key(text: &str) -> Result<(), String> {
    match text {
        "" => Err("paste or type the key".into()),
        text if text.chars().any(|c| c.is_whitespace() || c.is_control()) => {
            Err("a key has no blanks; was something else pasted?".into())
        }
        text if !text.is_ascii() => Err("a key has plain letters only; was something else pasted?".into()),
        _ => Ok(()),
    }
}

/// Whether a setting of `[model]` accepts this text.
pub(super) fn check_value(leaf: &str, text: &str) -> Result<(), String> {
    let key = keys::find(&format!("model.{leaf}")).ok_or("there is no such setting")?;
    key.parse(text).map(drop).map_err(|_| format!("that must be {}", key.allowed()))
}

#[cfg(test)]
#[path = "draft_tests.rs"]
mod tests;
