//! The `[model]` table of the settings, and what it needs from the environment.

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
    /// Where `cohab setup` put the key.
    pub key_store: Option<KeyStore>,
    /// Longest answer in tokens.
    pub max_output_tokens: Option<u32>,
    /// Size of the model's context in tokens.
    pub context_window_tokens: Option<u64>,
    /// How much the model should think before it answers; what the model does by itself if absent.
    pub reasoning_effort: Option<ReasoningEffort>,
    /// How freely the model chooses its words, 0 to 2; what the model does by itself if absent.
    pub temperature: Option<f64>,
    /// How often a failed request is repeated; with 0 an empty or cut answer is not asked for again either.
    pub retries: Option<u32>,
    /// Profiles that answer in its place, in this order, while its service does not.
    pub fallback: Vec<String>,
    /// Time limits.
    pub timeouts: TimeoutSettings,
    /// The profile that says all this, if it is not `[model]` by itself.
    #[serde(skip)]
    pub profile: Option<Profile>,
}

/// A profile that is in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Its name.
    pub name: String,
    /// Who chose it.
    pub asked_by: AskedBy,
}

/// Who chose a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AskedBy {
    /// `profile` in the file; variables of the environment win over it.
    File,
    /// `--profile` or `COHAB_PROFILE`: of the other variables only `COHAB_MODEL` counts then.
    User,
}

/// Where keys are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KeyStore {
    /// The system's keyring.
    Keyring,
    /// `keys.toml` beside the settings, readable by its owner only.
    File,
}

impl ModelSettings {
    /// The table it stands in, for people: `[model]`, `[profiles.work]`.
    #[must_use]
    pub fn table(&self) -> String {
        format!("[{}]", profile::table(self.profile.as_ref().map(|profile| profile.name.as_str())))
    }
}

/// `[model.timeouts]`, in milliseconds. Defaults differ for hosted and local services.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TimeoutSettings {
    /// To connect.
    pub connect_ms: Option<u64>,
    /// From the request to the answer's headers.
    pub headers_ms: Option<u64>,
    /// Between two bytes of a stream.
    pub byte_idle_ms: Option<u64>,
    /// Between two events that carry something.
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
    /// To connect.
    pub connect: Duration,
    /// From the request to the answer's headers.
    pub headers: Duration,
    /// Between two bytes of a stream.
    pub byte_idle: Duration,
    /// Between two events that carry something.
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
