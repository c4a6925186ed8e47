//! The `[model]` table of the settings: service, model, key, limits of requests, and time limits.

use std::{fmt, time::Duration};

use cohab_types::reasoning::ReasoningEffort;
use secrecy::SecretString;
use serde::Deserialize;

use crate::profile;

/// `[model]` of `config.toml`. Everything is optional: without it the environment, a local server or the offline assistant
/// decides.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ModelSettings {
    /// A wire (`anthropic`, `openai-chat`), a vendor (`openrouter`), `offline` or `scripted`.
    pub provider: Option<String>,
    /// Base URL of the service, without the path of the call: `https://api.openai.com/v1`, `https://api.anthropic.com`. For
    /// `scripted`: path of the script.
    pub base_url: Option<String>,
    /// Model name as the service knows it.
    pub name: Option<String>,
    /// Name of the environment variable that holds the key.
    pub api_key_env: Option<String>,
    /// Command whose first line of output is the key.
    pub key_command: Option<String>,
    /// The key itself. The file must then be readable by its owner only.
    pub api_key: Option<SecretString>,
    /// Place where `cohab setup` stored the key.
    pub key_store: Option<KeyStore>,
    /// Longest answer in tokens.
    pub max_output_tokens: Option<u32>,
    /// Size of the model's context in tokens.
    pub context_window_tokens: Option<u64>,
    /// Effort of thinking before the answer; if absent, the model's own default.
    pub reasoning_effort: Option<ReasoningEffort>,
    /// Freedom in the choice of words, 0 to 2; if absent, the model's own default.
    pub temperature: Option<f64>,
    /// Number of times that a failed request is repeated; with 0 an empty or cut answer is not asked for again either.
    pub retries: Option<u32>,
    /// Profiles that answer in its place, in this order, while its service does not answer.
    pub fallback: Vec<String>,
    /// Time limits.
    pub timeouts: TimeoutSettings,
    /// The profile that these settings come from, if they are not `[model]` itself.
    #[serde(skip)]
    pub profile: Option<Profile>,
}

/// The profile in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Its name.
    pub name: String,
    /// The origin of the choice.
    pub asked_by: AskedBy,
}

/// The origin of the choice of a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AskedBy {
    /// `profile` in the file; environment variables override the profile.
    File,
    /// `--profile` or `COHAB_PROFILE`; of the other variables only `COHAB_MODEL` counts then.
    User,
}

/// A place for keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KeyStore {
    /// The system's keyring.
    Keyring,
    /// `keys.toml` next to the settings, readable by its owner only.
    File,
}

impl ModelSettings {
    /// The table of these settings, for people: `[model]`, `[profiles.work]`.
    #[must_use]
    pub fn table(&self) -> String {
        format!("[{}]", profile::table(self.profile.as_ref().map(|profile| profile.name.as_str())))
    }
}

/// `[model.timeouts]`, in milliseconds. Defaults differ for hosted and local services.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TimeoutSettings {
    /// Time to connect.
    pub connect_ms: Option<u64>,
    /// Time from the request to the answer's headers.
    pub headers_ms: Option<u64>,
    /// Time between two bytes of a stream.
    pub byte_idle_ms: Option<u64>,
    /// Time between two events that carry something.
    pub payload_idle_ms: Option<u64>,
}

impl fmt::Debug for ModelSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelSettings")
            .field("provider", &self.provider)
            .field("base_url", &self.base_url)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// The time limits in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// Time to connect.
    pub connect: Duration,
    /// Time from the request to the answer's headers.
    pub headers: Duration,
    /// Time between two bytes of a stream.
    pub byte_idle: Duration,
    /// Time between two events that carry something.
    pub payload_idle: Duration,
}

impl TimeoutSettings {
    /// The limits for a service on this machine (`is_local`: loading a model takes minutes) or elsewhere.
    #[must_use]
    pub fn resolve(self, is_local: bool) -> Timeouts {
        let pick = |setting: Option<u64>, hosted_s: u64, local_s: u64| {
            setting.map_or(Duration::from_secs(if is_local { local_s } else { hosted_s }), Duration::from_millis)
        };
        Timeouts {
            connect: pick(self.connect_ms, 5, 5),
            headers: pick(self.headers_ms, 120, 600),
            byte_idle: pick(self.byte_idle_ms, 90, 600),
            payload_idle: pick(self.payload_idle_ms, 180, 600),
        }
    }
}
