//! The settings of cohab: `config.toml` in the user's folder of settings.
//!
//! - [`Settings`] holds the values of the file, with defaults for the rest; [`ConfigFile`] reads and changes the file and keeps comments.
//! - [`keys::KEYS`] lists every key with type, default and description. An unknown key is an error: a misspelt limit is no limit.
//! - [`profile`] puts `[profiles.NAME]` in the place of `[model]`; [`model_settings`] and [`model_roles`] choose models for tasks,
//!   [`model_table`] holds facts about models.
//! - [`budget`], [`step_rules`], [`strategy`] are types that the settings and the agent's middleware share.
//!
//! Keys of `[client]` are checked here and read by the client.

pub mod budget;
mod error;
mod file;
pub mod keys;
pub mod model_roles;
pub mod model_settings;
pub mod model_table;
pub mod profile;
pub mod step_rules;
pub mod strategy;

use std::{collections::BTreeMap, fmt::Display, str::FromStr, time::Duration};

use cohab_protocol::{ApprovalMode, Paths};
use cohab_types::{confined_programs::ConfinedPrograms, sandbox_profile::Profile};
use serde::{
    Deserialize, Deserializer,
    de::{self, IgnoredAny},
};
use tracing::level_filters::LevelFilter;

pub use self::{
    error::{ConfigError, Position},
    file::{Change, ConfigFile},
    step_rules::StepRule,
};

use crate::{
    model_roles::{RoleSettings, TierSettings},
    model_settings::ModelSettings,
    model_table::ModelTable,
    step_rules::Rules,
    strategy::Strategy,
};

/// The values of the file, with defaults for the rest.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// The profile in force unless the user asks for another.
    pub profile: Option<String>,
    /// `[model]`.
    pub model: ModelSettings,
    /// `[profiles.NAME]`.
    pub profiles: BTreeMap<String, ModelSettings>,
    /// `[tiers]`.
    pub tiers: TierSettings,
    /// `[roles]`.
    pub roles: RoleSettings,
    /// `[cache]`.
    pub cache: CacheSettings,
    /// `[approval]`.
    pub approval: ApprovalSettings,
    /// `[sandbox]`.
    pub sandbox: SandboxSettings,
    /// `[limits]`.
    pub limits: LimitSettings,
    /// `[budget]`.
    pub budget: BudgetSettings,
    /// `[[step_rules]]`.
    pub step_rules: Vec<StepRule>,
    /// `[context]`.
    pub context: ContextSettings,
    /// `[sessions]`.
    pub sessions: SessionSettings,
    /// `[audit]`.
    pub audit: AuditSettings,
    /// `[log]`.
    pub log: LogSettings,
    /// `[telemetry]`.
    pub telemetry: TelemetrySettings,
    /// `[client]` is checked with the rest; only the client reads it.
    #[serde(rename = "client")]
    _client: IgnoredAny,
}

/// `[approval]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ApprovalSettings {
    /// The calls that run without a question.
    #[serde(deserialize_with = "from_text")]
    pub mode: ApprovalMode,
    /// The programs that run without a question behind the lock.
    #[serde(deserialize_with = "from_text")]
    pub confined: ConfinedPrograms,
}

/// `[sandbox]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SandboxSettings {
    /// The permissions of commands in a separate shell.
    #[serde(deserialize_with = "from_text")]
    pub profile: Profile,
}

/// `[limits]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LimitSettings {
    /// Most steps that one turn may take; 0 for any number.
    pub steps_per_turn: u32,
    /// Steps in a row without anything new after which the user is asked whether to continue; 0 for any number.
    pub stalled_steps: u32,
    /// Time limit of a command in milliseconds, unless the model names another.
    pub command_timeout_ms: u64,
    /// Longest result of one tool call.
    pub tool_output_max_bytes: usize,
}

impl Settings {
    /// The rules for steps, in their order.
    #[must_use]
    pub fn rules(&self) -> Rules {
        Rules(self.step_rules.iter().map(|rule| rule.0.clone()).collect())
    }
}

impl Default for LimitSettings {
    fn default() -> Self {
        Self { steps_per_turn: 50, stalled_steps: 5, command_timeout_ms: 120_000, tool_output_max_bytes: 64 * 1024 }
    }
}

impl LimitSettings {
    /// `command_timeout_ms` as a duration.
    #[must_use]
    pub fn command_timeout(&self) -> Duration {
        Duration::from_millis(self.command_timeout_ms)
    }
}

/// `[budget]`. Zero is no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BudgetSettings {
    /// Tokens that one turn may take.
    pub tokens_per_turn: u64,
    /// Tokens that all turns of a day may take.
    pub tokens_per_day: u64,
    /// Hundredths of a US dollar that all turns of a day may cost.
    pub cost_per_day_cents: u64,
    /// Working time of one turn.
    pub seconds_per_turn: u64,
}

impl Default for BudgetSettings {
    fn default() -> Self {
        Self { tokens_per_turn: 0, tokens_per_day: 1_000_000, cost_per_day_cents: 0, seconds_per_turn: 0 }
    }
}

impl BudgetSettings {
    /// Returns the limits in the form that a turn checks.
    #[must_use]
    pub fn limits(self) -> budget::Limits {
        budget::Limits {
            tokens_per_turn: self.tokens_per_turn,
            tokens_per_day: self.tokens_per_day,
            cost_per_day_microusd: self.cost_per_day_cents.saturating_mul(10_000),
            time_per_turn: Duration::from_secs(self.seconds_per_turn),
        }
    }
}

/// `[context]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ContextSettings {
    /// The method of shortening a conversation that outgrows its model.
    #[serde(deserialize_with = "from_text")]
    pub strategy: Strategy,
    /// Shortens a conversation when this much of the model's context is full, in percent.
    pub compact_at_percent: u64,
    /// Shortens a conversation when it has more messages than this.
    pub compact_over_messages: usize,
    /// Number of newest messages that stay then.
    pub keep_messages: usize,
}

impl Default for ContextSettings {
    fn default() -> Self {
        Self { strategy: Strategy::default(), compact_at_percent: 75, compact_over_messages: 50, keep_messages: 20 }
    }
}

/// `[sessions]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SessionSettings {
    /// Whether conversations are kept.
    pub enabled: bool,
    /// Days since the last question after which a conversation is deleted.
    pub keep_days: u32,
}

impl Default for SessionSettings {
    fn default() -> Self {
        Self { enabled: true, keep_days: 90 }
    }
}

/// `[audit]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AuditSettings {
    /// Whether anything is recorded; by default as `[sessions]` says.
    pub enabled: Option<bool>,
}

impl AuditSettings {
    /// Days that records are kept, if anything is recorded.
    #[must_use]
    pub fn keep_days(self, sessions: SessionSettings) -> Option<u32> {
        self.enabled.unwrap_or(sessions.enabled).then_some(sessions.keep_days)
    }
}

/// `[cache]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CacheSettings {
    /// Whether answers that needed no tool are reused.
    pub enabled: bool,
}

impl Default for CacheSettings {
    fn default() -> Self {
        Self { enabled: true }
    }
}

/// `[telemetry]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TelemetrySettings {
    /// URL of a collector for spans of turns and steps; empty for none.
    pub otlp_endpoint: String,
}

/// `[log]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LogSettings {
    /// Lowest level that is written.
    #[serde(deserialize_with = "from_text")]
    pub level: LevelFilter,
}

impl Default for LogSettings {
    fn default() -> Self {
        Self { level: LevelFilter::INFO }
    }
}

fn from_text<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr<Err: Display>,
{
    String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
}

/// Reads the settings. A missing file means defaults.
///
/// # Errors
/// The first error in the file.
pub fn load(paths: &Paths) -> Result<Settings, ConfigError> {
    let file = ConfigFile::read(&paths.config_file())?;
    if let Some(problem) = file.problems().into_iter().next() {
        return Err(problem);
    }
    toml::from_str(file.text()).map_err(|error| fault(&file, &error))
}

/// Reads the user's table of models. A missing file means an empty one.
///
/// # Errors
/// The first error in the file.
pub fn models(paths: &Paths) -> Result<ModelTable, ConfigError> {
    let file = ConfigFile::read(&paths.models_file())?;
    ModelTable::parse(file.text()).map_err(|error| fault(&file, &error))
}

fn fault(file: &ConfigFile, error: &toml::de::Error) -> ConfigError {
    let offset = error.span().map_or(0, |span| span.start);
    ConfigError::new(file.path(), error.message()).at(Position::of(file.text().as_bytes(), offset))
}

#[cfg(test)]
mod tests;
