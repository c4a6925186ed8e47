//! The list of all settings, and the check of a value. Each section declares its own keys; checking, `get`, `set`, `list` and the
//! documentation work from the list.

use std::{borrow::Cow, sync::LazyLock};

use cohab_types::client_settings::ClientSettings;
pub use cohab_types::settings::{Key, Kind};
use cohab_wires::vendor;
use toml_edit::{Array, Value};

use crate::{
    ApprovalSettings, AuditSettings, BudgetSettings, CacheSettings, ContextSettings, LimitSettings, LogSettings,
    MemorySettings, SandboxSettings, SessionSettings, Settings, TelemetrySettings,
    model_roles::{Role, TierSettings},
    model_settings::{ModelSettings, TimeoutSettings},
    profile,
};

/// Least resemblance of a wrong name to a right one that is offered, 0 to 1.
const RESEMBLANCE: f32 = 0.6;
/// Longest wrong name that is compared, in bytes.
const COMPARED_MAX_BYTES: usize = 100;
/// Longest text value.
const TEXT_MAX_BYTES: usize = 8 * 1024;
/// Longest prefix of a question, in characters.
const PREFIX_MAX_CHARS: usize = 8;

/// Most fallback profiles of one profile.
const FALLBACKS_MAX: usize = 8;
/// The sections, in the order in which they are shown.
static SECTIONS: &[&[Key]] = &[
    Settings::KEYS,
    ModelSettings::KEYS,
    TimeoutSettings::KEYS,
    TierSettings::KEYS,
    Role::KEYS,
    CacheSettings::KEYS,
    ApprovalSettings::KEYS,
    SandboxSettings::KEYS,
    LimitSettings::KEYS,
    ContextSettings::KEYS,
    LogSettings::KEYS,
    TelemetrySettings::KEYS,
    ClientSettings::KEYS,
    BudgetSettings::KEYS,
    SessionSettings::KEYS,
    AuditSettings::KEYS,
    MemorySettings::KEYS,
];

/// All settings, in the order in which they are shown.
pub static KEYS: LazyLock<Vec<Key>> = LazyLock::new(|| SECTIONS.concat());

/// Finds the setting of this full name. `[profiles.NAME]` has the settings of `[model]`.
#[must_use]
pub fn find(name: &str) -> Option<Key> {
    let as_model = profile::as_model(name);
    let key = KEYS.iter().find(|key| key.name == as_model.as_deref().unwrap_or(name))?;
    Some(Key { name: Cow::Owned(name.to_owned()), ..key.clone() })
}

/// Whether a table of this full name holds settings.
#[must_use]
pub(super) fn is_table(name: &str) -> bool {
    let as_model = profile::as_model(name);
    let table = as_model.as_deref().unwrap_or(name);
    name == profile::TABLE
        || KEYS.iter().any(|key| key.name.strip_prefix(table).is_some_and(|rest| rest.starts_with('.')))
}

/// Returns advice for a user who wrote `name`, which is neither a setting nor a table of settings.
#[must_use]
pub fn advice(name: &str) -> String {
    let fallback = "`cohab config list` shows all keys".into();
    if name.len() > COMPARED_MAX_BYTES {
        return fallback;
    }
    if let Some(rest) = name.strip_prefix("profiles.") {
        let Some(as_model) = profile::as_model(name) else { return profile::NAME_RULE.into() };
        let table = rest.split('.').next().unwrap_or_default();
        return advice(&as_model)
            .replace("`model.", &format!("`profiles.{table}."))
            .replace("`[model", &format!("`[profiles.{table}"));
    }
    let split = || KEYS.iter().filter_map(|key| key.name.rsplit_once('.'));
    let inside: Vec<&str> = split().filter(|(table, _)| *table == name).map(|(_, leaf)| leaf).collect();
    if !inside.is_empty() {
        return format!("the keys of `[{name}]` are `{}`", inside.join("`, `"));
    }
    let (table, leaf) = name.rsplit_once('.').unwrap_or(("", name));
    let siblings: Vec<&str> = split().filter(|(other, _)| *other == table).map(|(_, leaf)| leaf).collect();
    if !siblings.is_empty() {
        return match nearest(leaf, &siblings) {
            Some(near) => format!("did you mean `{table}.{near}`?"),
            None => format!("the keys of `[{table}]` are `{}`", siblings.join("`, `")),
        };
    }
    let tables: Vec<&str> = split().map(|(table, _)| table).chain([profile::TABLE]).collect();
    let names: Vec<&str> = KEYS.iter().map(|key| key.name.as_ref()).collect();
    let misplaced = || names.iter().find(|full| full.rsplit_once('.').is_some_and(|(_, leaf)| leaf == name)).copied();
    let near = nearest(name, &tables).or_else(misplaced).or_else(|| nearest(name, &names));
    near.map_or(fallback, |near| format!("did you mean `{near}`?"))
}

/// Returns the candidate that resembles `word` most, or that begins with it, if there is one.
pub fn nearest<'a>(word: &str, candidates: &[&'a str]) -> Option<&'a str> {
    let begun = || candidates.iter().find(|candidate| !word.is_empty() && candidate.starts_with(word));
    similar::get_close_matches(word, candidates, 1, RESEMBLANCE).first().or_else(begun).copied()
}

/// Returns at most `count` candidates that resemble `word`, the most similar first; without one, those that contain it.
pub fn nearest_few<'a>(word: &str, candidates: &[&'a str], count: usize) -> Vec<&'a str> {
    let alike = similar::get_close_matches(word, candidates, count, RESEMBLANCE);
    if !alike.is_empty() || word.is_empty() {
        return alike;
    }
    candidates.iter().filter(|candidate| candidate.contains(word)).take(count).copied().collect()
}

/// Checks values of a [`Key`].
pub trait Check {
    /// Whether the setting takes this value.
    ///
    /// # Errors
    /// A sentence that names the setting and the allowed values, and the value unless it may be a secret.
    fn check(&self, value: &Value) -> Result<(), String>;

    /// Parses `text`, as given on a command line, as a value of this setting.
    ///
    /// # Errors
    /// As [`Check::check`].
    fn parse(&self, text: &str) -> Result<Value, String>;

    /// Describes the allowed values, as in "must be ...".
    fn allowed(&self) -> String;
}

impl Check for Key {
    fn check(&self, value: &Value) -> Result<(), String> {
        if takes(self.kind, value) {
            return Ok(());
        }
        let given = match value {
            // Some users write the key itself in place of the variable's name.
            _ if self.is_secret() || self.kind == Kind::EnvName => String::new(),
            Value::String(text) if text.value().len() > COMPARED_MAX_BYTES => ", not a text of this length".into(),
            Value::String(text) => format!(", not {:?}", text.value()),
            Value::Integer(_) | Value::Float(_) | Value::Boolean(_) => format!(", not {}", plain(value)),
            other => format!(", not a value of type {}", other.type_name()),
        };
        Err(format!("`{}` must be {}{given}", self.name, self.allowed()))
    }

    fn parse(&self, text: &str) -> Result<Value, String> {
        let value = match self.kind {
            Kind::Integer(..) => text.parse::<i64>().map_or_else(|_| Value::from(text), Value::from),
            Kind::Number(..) => text.parse::<f64>().map_or_else(|_| Value::from(text), Value::from),
            Kind::Flag => text.parse::<bool>().map_or_else(|_| Value::from(text), Value::from),
            Kind::Profiles => text.split([',', ' ']).filter(|name| !name.is_empty()).collect::<Array>().into(),
            _ => Value::from(text),
        };
        self.check(&value)?;
        Ok(value)
    }

    fn allowed(&self) -> String {
        match self.kind {
            Kind::Text | Kind::Secret => "text that is not empty".into(),
            Kind::EnvName => "the name of an environment variable".into(),
            Kind::Address => {
                "a URL such as `https://host/v1` or `http://127.0.0.1:8080/v1`; for `scripted` an absolute path".into()
            }
            Kind::Collector => "a URL such as `http://127.0.0.1:4318`; empty for none".into(),
            Kind::Profile => "the name of a profile".into(),
            Kind::Profiles => format!("a list of up to {FALLBACKS_MAX} names of profiles"),
            Kind::Path => "an absolute path or one that begins with `~/`".into(),
            Kind::Prefix => format!("at most {PREFIX_MAX_CHARS} characters, without blanks"),
            Kind::Word(words) => one_of(words),
            Kind::Provider => one_of(&provider_names()),
            Kind::Integer(least, most) => format!("a whole number from {least} to {most}"),
            Kind::Number(least, most) => format!("a number from {least} to {most}"),
            Kind::Flag => "`true` or `false`".into(),
        }
    }
}

/// Whether a setting of this kind takes this value.
fn takes(kind: Kind, value: &Value) -> bool {
    let text = value.as_str();
    let is_sane = |text: &&str| text.len() <= TEXT_MAX_BYTES && !text.chars().any(char::is_control);
    match kind {
        Kind::Integer(least, most) => value.as_integer().is_some_and(|number| (least..=most).contains(&number)),
        Kind::Number(least, most) => {
            let number = value.as_float().or_else(|| value.as_integer().map(|whole| whole as f64));
            number.is_some_and(|number| (least as f64..=most as f64).contains(&number))
        }
        Kind::Flag => value.is_bool(),
        Kind::Word(words) => text.is_some_and(|text| words.contains(&text)),
        Kind::Provider => text.is_some_and(|text| provider_names().contains(&text)),
        Kind::Address => text.filter(is_sane).is_some_and(|text| text.starts_with('/') || is_service_url(text)),
        Kind::Collector => text.filter(is_sane).is_some_and(|text| text.is_empty() || is_service_url(text)),
        Kind::Profile => text.is_some_and(is_profile),
        Kind::Profiles => value.as_array().is_some_and(|names| {
            names.len() <= FALLBACKS_MAX && names.iter().all(|name| name.as_str().is_some_and(is_profile))
        }),
        Kind::Text | Kind::Secret => text.filter(is_sane).is_some_and(|text| !text.trim().is_empty()),
        Kind::Path => text.filter(is_sane).is_some_and(|text| text.starts_with('/') || text.starts_with("~/")),
        Kind::Prefix => text
            .filter(is_sane)
            .is_some_and(|text| text.chars().count() <= PREFIX_MAX_CHARS && !text.contains(char::is_whitespace)),
        Kind::EnvName => text.is_some_and(|text| {
            text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
                && text.len() <= COMPARED_MAX_BYTES
                && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        }),
    }
}

/// Whether `text` is the URL of a service: `http` or `https`, with a host.
pub fn is_service_url(text: &str) -> bool {
    url::Url::parse(text).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.host_str().is_some())
}

fn is_profile(text: &str) -> bool {
    text == profile::DEFAULT || profile::is_name(text)
}

fn one_of(words: &[&str]) -> String {
    let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    format!("one of {}", words.join(", "))
}

/// Formats a value in the form that `set` takes.
#[must_use]
pub fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.clone().decorated("", "").to_string(), str::to_owned)
}

/// Names of all kinds of model service: the vendors of the wires, the built-in assistant, scripted answers for tests.
#[must_use]
pub fn provider_names() -> Vec<&'static str> {
    vendor::names().into_iter().chain(["offline", "scripted"]).collect()
}
