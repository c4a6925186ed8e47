//! The `[model]` table of the settings: service, model, key, limits of requests, and time limits.

use std::{fmt, time::Duration};

use cohab_types::{reasoning::ReasoningEffort, section, settings::Kind};
use secrecy::SecretString;
use serde::Deserialize;

use crate::profile;

/// One hour, the longest time limit of a request, in milliseconds.
const HOUR_MS: i64 = 3_600_000;

section! {
    /// `[model]` of `config.toml`. Everything is optional: without it the environment, a local server or the built-in assistant
    /// decides.
    #[derive(Clone, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub struct ModelSettings in "model." {
        /// Kind of model service; if unset, chosen from the environment, a local server or the built-in assistant
        provider: Option<String>, Kind::Provider;
        /// Base URL of the service; for `scripted` the path of the script
        base_url: Option<String>, Kind::Address;
        /// Model as the service calls it
        name: Option<String>, Kind::Text;
        /// Environment variable that holds the key of the service
        api_key_env: Option<String>, Kind::EnvName;
        /// Command whose first line of output is the key, for example `pass show openai`; run when a question needs it
        key_command: Option<String>, Kind::Text;
        /// Key of the service; the file must then be readable by you only
        api_key: Option<SecretString>, Kind::Secret;
        /// Where `cohab setup` put the key: the system's keyring, or `keys.toml` next to this file
        key_store: Option<KeyStore>, Kind::Word(&["keyring", "file"]);
        /// Longest answer, in tokens
        max_output_tokens: Option<u32>, Kind::Integer(1, 1_000_000);
        /// Size of the model's context, in tokens
        context_window_tokens: Option<u64>, Kind::Integer(1_024, 100_000_000);
        /// How much the model thinks before it answers; if unset, the model's default
        reasoning_effort: Option<ReasoningEffort>, Kind::Word(&["off", "low", "medium", "high"]);
        /// How freely the model chooses its words, from 0 to 2; if unset, the model's default
        temperature: Option<f64>, Kind::Number(0, 2);
        // With 0 an empty or cut answer is not asked for again either.
        /// How often a failed request is repeated
        retries: Option<u32>, Kind::Integer(0, 20);
        /// Profiles that answer instead, in this order, while the service is not available
        fallback: Vec<String>, Kind::Profiles;
        also {
            /// Time limits.
            pub timeouts: TimeoutSettings,
            /// The profile that these settings come from, if they are not `[model]` itself.
            #[serde(skip)]
            pub profile: Option<Profile>,
        }
    }
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

section! {
    /// `[model.timeouts]`, in milliseconds. Defaults differ for hosted and local services.
    #[derive(Clone, Copy, Debug, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub struct TimeoutSettings in "model.timeouts." {
        /// Time limit to connect, in milliseconds
        connect_ms: Option<u64>, Kind::Integer(1, HOUR_MS);
        /// Time limit from the request to the first bytes of the answer, in milliseconds
        headers_ms: Option<u64>, Kind::Integer(1, HOUR_MS);
        /// Longest silence on the line, in milliseconds
        byte_idle_ms: Option<u64>, Kind::Integer(1, HOUR_MS);
        /// Longest time without a piece of the answer, in milliseconds
        payload_idle_ms: Option<u64>, Kind::Integer(1, HOUR_MS);
    }
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
