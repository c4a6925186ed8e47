//! The settings of cohab: `config.toml` in the user's folder of settings.
//!
//! - [`Settings`] holds the values of the file, with defaults for the rest; [`ConfigFile`] reads and changes the file and keeps comments.
//! - Each section is declared once with [`section!`]: a row per key gives its field, default, allowed values and description.
//! - [`keys::KEYS`] lists the keys of all sections. An unknown key is an error: a misspelt limit is no limit.
//! - [`chosen_profile`] puts `[profiles.NAME]` in the place of `[model]`; [`model_settings`] and [`model_roles`] choose models for tasks,
//!   [`model_table`] holds facts about models.
//! - [`agents`] holds the user's own agents, [`mcp`] the servers that give tools. [`budget`], [`consolidate`], [`step_rules`], [`strategy`] are types that the settings and the agent's middleware share.
//!
//! Keys of `[client]` are declared in [`cohab_types::client_settings`], checked here and read by the client.

pub mod agents;
pub mod budget;
pub mod chosen_profile;
pub mod consolidate;
mod error;
mod file;
pub mod keys;
mod load;
pub mod mcp;
pub mod model_roles;
pub mod model_settings;
pub mod model_table;
pub mod profile;
pub mod step_rules;
pub mod strategy;

use std::{collections::BTreeMap, fmt::Display, str::FromStr, time::Duration};

use cohab_protocol::ApprovalMode;
use cohab_types::{confined_programs::ConfinedPrograms, sandbox_profile::Profile, section, settings::Kind};
use serde::{
    Deserialize, Deserializer,
    de::{self, IgnoredAny},
};
use tracing::level_filters::LevelFilter;

pub use self::{
    error::{ConfigError, Position},
    file::{Change, ConfigFile},
    load::{load, models},
    step_rules::StepRule,
};

use crate::{
    agents::OwnAgents,
    consolidate::Consolidate,
    mcp::McpServers,
    model_roles::{RoleSettings, TierSettings},
    model_settings::ModelSettings,
    step_rules::Rules,
    strategy::Strategy,
};

/// Largest budget of tokens.
const MOST_TOKENS: i64 = 1_000_000_000_000;

section! {
    /// The values of the file, with defaults for the rest.
    #[derive(Clone, Debug, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub struct Settings in "" {
        /// Profile to use: `[profiles.NAME]` replaces `[model]`; `default` is `[model]`
        profile: Option<String>, Kind::Profile;
        also {
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
            /// `[agents.NAME]`.
            pub agents: OwnAgents,
            /// `[mcp.NAME]`.
            pub mcp: McpServers,
            /// `[context]`.
            pub context: ContextSettings,
            /// `[sessions]`.
            pub sessions: SessionSettings,
            /// `[audit]`.
            pub audit: AuditSettings,
            /// `[memory]`.
            pub memory: MemorySettings,
            /// `[log]`.
            pub log: LogSettings,
            /// `[telemetry]`.
            pub telemetry: TelemetrySettings,
            /// `[client]` is checked with the rest; only the client reads it.
            #[serde(rename = "client")]
            _client: IgnoredAny,
        }
    }
}

section! {
    /// `[approval]`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub struct ApprovalSettings in "approval." {
        /// What runs without a question: with `ask` and `read-only` plainly read-only commands, with `auto` everything except danger,
        /// other hosts and other folders, with `all` nearly everything
        mode: ApprovalMode = "ask", Kind::Word(&["ask", "read-only", "auto", "all"]), "from_text";
        /// Programs that run without a question behind the lock, where they can only read: those `known` to the policy, or `all`; you
        /// are asked about what the lock blocks
        confined: ConfinedPrograms = "known", Kind::Word(ConfinedPrograms::WORDS), "from_text";
    }
}

section! {
    /// `[sandbox]`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub struct SandboxSettings in "sandbox." {
        /// What commands in a separate shell may do: only read, also write below the project, or everything; only `full` allows the network
        profile: Profile = "workspace-write", Kind::Word(Profile::WORDS), "from_text";
    }
}

section! {
    /// `[limits]`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub struct LimitSettings in "limits." {
        /// Most model calls for one question; 0 for no limit
        steps_per_turn: u32 = "50", Kind::Integer(0, 1_000);
        /// Steps in a row without a new result before you are asked whether to continue; 0 for no limit
        stalled_steps: u32 = "5", Kind::Integer(0, 100);
        /// How long the agent waits for a command, in milliseconds; the command is not killed
        command_timeout_ms: u64 = "120000", Kind::Integer(1_000, 24 * 3_600_000);
        /// Longest result of one tool call that the model gets; the middle of a longer one is left out
        tool_output_max_bytes: usize = "65536", Kind::Integer(4_096, 1_048_576);
    }
}

impl Settings {
    /// The rules for steps, in their order.
    #[must_use]
    pub fn rules(&self) -> Rules {
        Rules(self.step_rules.iter().map(|rule| rule.0.clone()).collect())
    }
}

impl LimitSettings {
    /// `command_timeout_ms` as a duration.
    #[must_use]
    pub fn command_timeout(&self) -> Duration {
        Duration::from_millis(self.command_timeout_ms)
    }
}

section! {
    /// `[budget]`. Zero is no limit.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub struct BudgetSettings in "budget." {
        /// Most tokens that one question may use, not counting those from a service's cache; 0 for no limit
        tokens_per_turn: u64 = "0", Kind::Integer(0, MOST_TOKENS);
        /// Most tokens that all questions of a day may use together; 0 for no limit
        tokens_per_day: u64 = "0", Kind::Integer(0, MOST_TOKENS);
        /// Most that all questions of a day may cost, in cents of a US dollar, as far as costs are known; 0 for no limit
        cost_per_day_cents: u64 = "0", Kind::Integer(0, 10_000_000);
        /// Longest time that one question may run, in seconds; waiting for you does not count; 0 for no limit
        seconds_per_turn: u64 = "0", Kind::Integer(0, 7 * 86_400);
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

section! {
    /// `[context]`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub struct ContextSettings in "context." {
        /// How a conversation that outgrows its model is shortened: a model summarizes the removed messages, or only the middle or the
        /// oldest messages are removed
        strategy: Strategy = "summarize", Kind::Word(Strategy::WORDS), "from_text";
        /// Share of the model's context, in percent, at which a conversation is shortened
        compact_at_percent: u64 = "75", Kind::Integer(20, 95);
        /// Number of messages above which a conversation is shortened; 0 for any number
        compact_over_messages: usize = "0", Kind::Integer(0, 100_000);
        /// Newest messages to keep when a conversation has too many
        keep_messages: usize = "20", Kind::Integer(5, 100_000);
    }
}

section! {
    /// `[sessions]`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub struct SessionSettings in "sessions." {
        /// Whether conversations are stored on this machine, so that they can be resumed
        enabled: bool = "true", Kind::Flag;
        /// Days after which a conversation without a new question is removed
        keep_days: u32 = "90", Kind::Integer(1, 3_650);
    }
}

section! {
    /// `[audit]`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub struct AuditSettings in "audit." {
        /// Whether actions and approvals are recorded for `cohab audit`; if unset, as `sessions.enabled`
        enabled: Option<bool>, Kind::Flag;
    }
}

impl AuditSettings {
    /// Days that records are kept, if anything is recorded.
    #[must_use]
    pub fn keep_days(self, sessions: SessionSettings) -> Option<u32> {
        self.enabled.unwrap_or(sessions.enabled).then_some(sessions.keep_days)
    }
}

section! {
    /// `[memory]`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub struct MemorySettings in "memory." {
        /// Whether a question is given the remembered facts that are relevant to it, and what the assistant did is kept to be found again;
        /// `cohab memory off` turns this off
        enabled: bool = "true", Kind::Flag;
        /// Whether the commands that you run yourself in a cohab shell are kept to be found again
        shell_history: bool = "false", Kind::Flag;
        /// Whether the end of their output is kept with them
        outputs: bool = "false", Kind::Flag;
        /// Who proposes what is worth remembering: nobody, rules alone, or also a model, which reads finished conversations again
        consolidate: Consolidate = "rules", Kind::Word(Consolidate::WORDS), "from_text";
        /// Hours that the model looks back for conversations which it has not read yet
        look_back_hours: u32 = "24", Kind::Integer(1, 8_760);
    }
}

section! {
    /// `[cache]`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub struct CacheSettings in "cache." {
        /// Whether a repeated question gets the same answer again, if it was just answered without tools and nothing has changed
        enabled: bool = "true", Kind::Flag;
    }
}

section! {
    /// `[telemetry]`.
    #[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub struct TelemetrySettings in "telemetry." {
        /// OpenTelemetry collector for times, names and token counts of turns and steps, never their text; read when the daemon starts
        otlp_endpoint: String = "", Kind::Collector;
    }
}

section! {
    /// `[log]`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub struct LogSettings in "log." {
        /// How much the daemon writes to its log
        level: LevelFilter = "info", Kind::Word(&["off", "error", "warn", "info", "debug", "trace"]), "from_text";
    }
}

fn from_text<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr<Err: Display>,
{
    String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
}

#[cfg(test)]
mod tests;
