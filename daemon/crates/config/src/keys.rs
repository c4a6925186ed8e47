//! The table of all settings. Checking, `get`, `set`, `list` and the documentation work from it.

use std::borrow::Cow;

use cohab_types::{confined_programs::ConfinedPrograms, sandbox_profile::Profile};
use cohab_wires::vendor;
use toml_edit::{Array, Value};

use super::profile;
use crate::strategy::Strategy;

/// Least resemblance of a wrong name to a right one that is offered, 0 to 1.
const RESEMBLANCE: f32 = 0.6;
/// Longest wrong name that is compared, in bytes.
const COMPARED_MAX_BYTES: usize = 100;
/// Longest text value.
const TEXT_MAX_BYTES: usize = 8 * 1024;
/// Longest prefix of a question, in characters.
const PREFIX_MAX_CHARS: usize = 8;

/// One setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// Full name: the tables it is in, and its own name, joined by dots.
    pub name: Cow<'static, str>,
    /// The kind of its values.
    pub kind: Kind,
    /// Default value, in the form that `set` takes; `None` if the setting is absent by default.
    pub default: Option<&'static str>,
    /// Description, one line.
    pub doc: &'static str,
    /// Whether its value is never shown.
    pub is_secret: bool,
}

/// A kind of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Any nonempty text.
    Text,
    /// Name of an environment variable.
    EnvName,
    /// An absolute path, or one that begins with `~/`.
    Path,
    /// A few visible characters, or nothing.
    Prefix,
    /// A wire, a vendor, `offline` or `scripted`.
    Provider,
    /// Address of a service: an `http` or `https` URL with a host. For `scripted` an absolute path.
    Address,
    /// `http` or `https` URL of an OpenTelemetry collector, or nothing.
    Collector,
    /// Name of a profile.
    Profile,
    /// Names of profiles, in their order.
    Profiles,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A whole number from the first to the second.
    Whole(i64, i64),
    /// A number from the first to the second, with or without decimals.
    Number(i64, i64),
    /// `true` or `false`.
    Flag,
}

/// Most fallback profiles of one profile.
const FALLBACKS_MAX: usize = 8;
/// One hour, the longest time limit of a request, in milliseconds.
const HOUR_MS: i64 = 3_600_000;

/// Largest budget of tokens.
const MOST_TOKENS: i64 = 1_000_000_000_000;

/// All settings, in the order in which they are shown.
pub static KEYS: &[Key] = &[
    key(
        "profile",
        Kind::Profile,
        None,
        "Profile whose `[profiles.NAME]` stands in for `[model]`; `default` is `[model]`",
    ),
    key(
        "model.provider",
        Kind::Provider,
        None,
        "Kind of model service; without it the environment, a local server or the offline assistant decides",
    ),
    key("model.base_url", Kind::Address, None, "Base URL of the service; for `scripted` the path of the script"),
    key("model.name", Kind::Text, None, "Model as the service calls it"),
    key("model.api_key_env", Kind::EnvName, None, "Environment variable that holds the key of the service"),
    key(
        "model.key_command",
        Kind::Text,
        None,
        "Command whose first line of output is the key, for example `pass show openai`; run when a question needs it",
    ),
    secret("model.api_key", "Key of the service; the file must then be readable by you only"),
    key(
        "model.key_store",
        Kind::Word(&["keyring", "file"]),
        None,
        "Where `cohab setup` put the key: the system's keyring, or `keys.toml` beside this file",
    ),
    key("model.max_output_tokens", Kind::Whole(1, 1_000_000), None, "Longest answer, in tokens"),
    key("model.context_window_tokens", Kind::Whole(1_024, 100_000_000), None, "Size of the model's context, in tokens"),
    key(
        "model.reasoning_effort",
        Kind::Word(&["off", "low", "medium", "high"]),
        None,
        "How much the model thinks before it answers; without it what the model does by itself",
    ),
    key(
        "model.temperature",
        Kind::Number(0, 2),
        None,
        "How freely the model chooses its words, from 0 to 2; without it what the model does by itself",
    ),
    key("model.retries", Kind::Whole(0, 20), None, "How often a failed request is repeated"),
    key(
        "model.fallback",
        Kind::Profiles,
        None,
        "Profiles that answer in its place, in this order, while its service does not",
    ),
    key("model.timeouts.connect_ms", Kind::Whole(1, HOUR_MS), None, "Time limit to connect, in milliseconds"),
    key(
        "model.timeouts.headers_ms",
        Kind::Whole(1, HOUR_MS),
        None,
        "Time limit from the request to the first bytes of the answer, in milliseconds",
    ),
    key("model.timeouts.byte_idle_ms", Kind::Whole(1, HOUR_MS), None, "Longest silence on the line, in milliseconds"),
    key(
        "model.timeouts.payload_idle_ms",
        Kind::Whole(1, HOUR_MS),
        None,
        "Longest time without a piece of the answer, in milliseconds",
    ),
    key("tiers.low", Kind::Profile, None, "Profile of the model for short and simple questions; without it as ever"),
    key("tiers.medium", Kind::Profile, None, "Profile of the model for what is neither simple nor hard"),
    key(
        "tiers.high",
        Kind::Profile,
        None,
        "Profile of the model for long and hard questions, and when another one gets nowhere",
    ),
    key("roles.compactor", Kind::Profile, None, "Profile of the model that shortens conversations"),
    key("roles.namer", Kind::Profile, None, "Profile of the model that names conversations"),
    key("roles.judge", Kind::Profile, None, "Profile of the model that judges answers"),
    key("roles.orchestrator", Kind::Profile, None, "Reserved: the profile of a later role"),
    key("roles.team_lead", Kind::Profile, None, "Reserved: the profile of a later role"),
    key("roles.engineer", Kind::Profile, None, "Reserved: the profile of a later role"),
    key("roles.reviewer", Kind::Profile, None, "Reserved: the profile of a later role"),
    key("roles.narrator", Kind::Profile, None, "Reserved: the profile of a later role"),
    key(
        "cache.enabled",
        Kind::Flag,
        Some("true"),
        "Whether a question that was just answered without tools, and nothing has changed, gets the same answer again",
    ),
    key(
        "approval.mode",
        Kind::Word(&["ask", "read-only", "auto", "all"]),
        Some("ask"),
        "What runs without a question: `ask` and `read-only` let plainly read-only things run, `auto` all but danger, other hosts and other folders, `all` nearly everything",
    ),
    key(
        "approval.confined",
        Kind::Word(ConfinedPrograms::WORDS),
        Some("known"),
        "Which programs run without a question behind the lock, where they can only read: those that the policy knows, or `all`; what the lock stops is asked",
    ),
    key(
        "sandbox.profile",
        Kind::Word(Profile::WORDS),
        Some("workspace-write"),
        "What commands in a shell of their own may do: `read-only`, write below the project, or all; only in `full` the network",
    ),
    key(
        "limits.steps_per_turn",
        Kind::Whole(0, 1_000),
        Some("50"),
        "How often the model is asked at most for one question; 0 for any number",
    ),
    key(
        "limits.stalled_steps",
        Kind::Whole(0, 100),
        Some("5"),
        "Steps in a row that bring nothing new before you are asked whether to go on; 0 for any number",
    ),
    key(
        "limits.command_timeout_ms",
        Kind::Whole(1_000, 24 * HOUR_MS),
        Some("120000"),
        "How long the agent waits for a command, in milliseconds; it is not killed then",
    ),
    key(
        "limits.tool_output_max_bytes",
        Kind::Whole(4_096, 1_048_576),
        Some("65536"),
        "Longest result of one tool call that the model gets; the middle of a longer one is left out",
    ),
    key(
        "context.strategy",
        Kind::Word(Strategy::WORDS),
        Some("summarize"),
        "How a conversation is shortened that outgrows its model: a model sums up what goes, or only the middle or the oldest go",
    ),
    key(
        "context.compact_at_percent",
        Kind::Whole(20, 95),
        Some("75"),
        "Conversations are shortened when so much of the model's context is full, in percent",
    ),
    key(
        "context.compact_over_messages",
        Kind::Whole(10, 100_000),
        Some("50"),
        "Conversations are shortened when they have more messages than these",
    ),
    key(
        "context.keep_messages",
        Kind::Whole(5, 100_000),
        Some("20"),
        "Newest messages that stay when a conversation has too many",
    ),
    key(
        "log.level",
        Kind::Word(&["off", "error", "warn", "info", "debug", "trace"]),
        Some("info"),
        "How much the daemon writes to its log",
    ),
    key(
        "telemetry.otlp_endpoint",
        Kind::Collector,
        Some(""),
        "OpenTelemetry collector that gets times, names and tokens of turns and steps, never a text; read at the daemon's start",
    ),
    key("client.shell", Kind::Path, None, "Shell to start; without it your login shell"),
    key(
        "client.hotkey",
        Kind::Word(&["alt-enter", "alt-space", "ctrl-space", "ctrl-g", "ctrl-o", "none"]),
        Some("alt-enter"),
        "Key that sends the line at the prompt as a question",
    ),
    key(
        "client.undo_key",
        Kind::Word(&["ctrl-underscore", "none"]),
        Some("ctrl-underscore"),
        "Key that undoes, right after a turn that changed the shell, what it changed",
    ),
    key(
        "client.question_prefix",
        Kind::Prefix,
        Some("?"),
        "What a line begins with to be a question; empty for nothing",
    ),
    key("client.gate", Kind::Flag, Some("true"), "Whether lines in natural language are questions without a prefix"),
    key(
        "client.flip_key",
        Kind::Word(&["alt-g", "ctrl-bracket", "none"]),
        Some("alt-g"),
        "Key that turns the line at the prompt from a question into a command, or back",
    ),
    key(
        "client.failure_hint",
        Kind::Flag,
        Some("true"),
        "Whether the first failed command says which key asks about it",
    ),
    key("client.notify", Kind::Flag, Some("true"), "Whether a long turn that ends while nobody looks rings"),
    key(
        "client.lock",
        Kind::Flag,
        Some("true"),
        "Whether a program that runs in your shell without a question can only read, as far as the kernel keeps it",
    ),
    key("client.login", Kind::Flag, Some("false"), "Whether the shell is started as a login shell"),
    key(
        "budget.tokens_per_turn",
        Kind::Whole(0, MOST_TOKENS),
        Some("0"),
        "Most tokens that one question may take, without those from a service's cache; 0 for any number",
    ),
    key(
        "budget.tokens_per_day",
        Kind::Whole(0, MOST_TOKENS),
        Some("1000000"),
        "Most tokens that all questions of a day may take together; 0 for any number",
    ),
    key(
        "budget.cost_per_day_cents",
        Kind::Whole(0, 10_000_000),
        Some("0"),
        "Most that all questions of a day may cost, in cents of a US dollar, as far as it is known; 0 for any sum",
    ),
    key(
        "budget.seconds_per_turn",
        Kind::Whole(0, 7 * 86_400),
        Some("0"),
        "Longest time that one question may work, in seconds; waiting for you is no work; 0 for any time",
    ),
    key("sessions.enabled", Kind::Flag, Some("true"), "Whether conversations are kept on this machine, to go on with"),
    key(
        "sessions.keep_days",
        Kind::Whole(1, 3_650),
        Some("90"),
        "Days after which a conversation in which nothing was asked is removed",
    ),
    key(
        "audit.enabled",
        Kind::Flag,
        None,
        "Whether what the assistant does and who agreed is recorded for `cohab audit`; without it as `sessions.enabled`",
    ),
];

const fn key(name: &'static str, kind: Kind, default: Option<&'static str>, doc: &'static str) -> Key {
    Key { name: Cow::Borrowed(name), kind, default, doc, is_secret: false }
}

const fn secret(name: &'static str, doc: &'static str) -> Key {
    Key { name: Cow::Borrowed(name), kind: Kind::Text, default: None, doc, is_secret: true }
}

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

impl Key {
    /// Whether the setting takes this value.
    ///
    /// # Errors
    /// A sentence that names the setting and the allowed values, and the value unless it may be a secret.
    pub fn check(&self, value: &Value) -> Result<(), String> {
        if self.kind.takes(value) {
            return Ok(());
        }
        let given = match value {
            // Some users write the key itself in place of the variable's name.
            _ if self.is_secret || self.kind == Kind::EnvName => String::new(),
            Value::String(text) if text.value().len() > COMPARED_MAX_BYTES => ", not such a long text".into(),
            Value::String(text) => format!(", not {:?}", text.value()),
            Value::Integer(_) | Value::Float(_) | Value::Boolean(_) => format!(", not {}", plain(value)),
            other => format!(", not a value of type {}", other.type_name()),
        };
        Err(format!("`{}` must be {}{given}", self.name, self.kind.allowed()))
    }

    /// Parses `text`, as given on a command line, as a value of this setting.
    ///
    /// # Errors
    /// As [`Key::check`].
    pub fn parse(&self, text: &str) -> Result<Value, String> {
        let value = match self.kind {
            Kind::Whole(..) => text.parse::<i64>().map_or_else(|_| Value::from(text), Value::from),
            Kind::Number(..) => text.parse::<f64>().map_or_else(|_| Value::from(text), Value::from),
            Kind::Flag => text.parse::<bool>().map_or_else(|_| Value::from(text), Value::from),
            Kind::Profiles => text.split([',', ' ']).filter(|name| !name.is_empty()).collect::<Array>().into(),
            _ => Value::from(text),
        };
        self.check(&value)?;
        Ok(value)
    }
}

impl Kind {
    fn takes(self, value: &Value) -> bool {
        let text = value.as_str();
        let is_sane = |text: &&str| text.len() <= TEXT_MAX_BYTES && !text.chars().any(char::is_control);
        match self {
            Self::Whole(least, most) => value.as_integer().is_some_and(|number| (least..=most).contains(&number)),
            Self::Number(least, most) => {
                let number = value.as_float().or_else(|| value.as_integer().map(|whole| whole as f64));
                number.is_some_and(|number| (least as f64..=most as f64).contains(&number))
            }
            Self::Flag => value.is_bool(),
            Self::Word(words) => text.is_some_and(|text| words.contains(&text)),
            Self::Provider => text.is_some_and(|text| provider_names().contains(&text)),
            Self::Address => text.filter(is_sane).is_some_and(|text| text.starts_with('/') || is_service_url(text)),
            Self::Collector => text.filter(is_sane).is_some_and(|text| text.is_empty() || is_service_url(text)),
            Self::Profile => text.is_some_and(is_profile),
            Self::Profiles => value.as_array().is_some_and(|names| {
                names.len() <= FALLBACKS_MAX && names.iter().all(|name| name.as_str().is_some_and(is_profile))
            }),
            Self::Text => text.filter(is_sane).is_some_and(|text| !text.trim().is_empty()),
            Self::Path => text.filter(is_sane).is_some_and(|text| text.starts_with('/') || text.starts_with("~/")),
            Self::Prefix => text
                .filter(is_sane)
                .is_some_and(|text| text.chars().count() <= PREFIX_MAX_CHARS && !text.contains(char::is_whitespace)),
            Self::EnvName => text.is_some_and(|text| {
                text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
                    && text.len() <= COMPARED_MAX_BYTES
                    && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            }),
        }
    }

    /// Describes the allowed values, as in "must be ...".
    #[must_use]
    pub fn allowed(self) -> String {
        match self {
            Self::Text => "text that is not empty".into(),
            Self::EnvName => "the name of an environment variable".into(),
            Self::Address => {
                "a URL as `https://host/v1` or `http://127.0.0.1:8080/v1`; for `scripted` an absolute path".into()
            }
            Self::Collector => "a URL as `http://127.0.0.1:4318`; empty for none".into(),
            Self::Profile => "the name of a profile".into(),
            Self::Profiles => format!("a list of up to {FALLBACKS_MAX} names of profiles"),
            Self::Path => "an absolute path or one that begins with `~/`".into(),
            Self::Prefix => format!("at most {PREFIX_MAX_CHARS} characters without blanks"),
            Self::Word(words) => one_of(words),
            Self::Provider => one_of(&provider_names()),
            Self::Whole(least, most) => format!("a whole number from {least} to {most}"),
            Self::Number(least, most) => format!("a number from {least} to {most}"),
            Self::Flag => "`true` or `false`".into(),
        }
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
