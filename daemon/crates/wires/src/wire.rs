//! Defines a wire: the form of a request, and the fold from the events of an answer to neutral ones. Pure. Sending, reading, waiting and
//! retrying are the same for all wires and are not here, but in `transport` and `http_provider` of the daemon.
//!
//! A new wire is one file (or folder) with a [`Wire`], and one line in [`WIRES`](super::WIRES).

use std::collections::BTreeSet;

use cohab_model_api::{ModelRequest, StopClass, TokenUsage, ToolCall};
use cohab_types::reasoning::ReasoningEffort;
use http::header::{HeaderMap, HeaderName, HeaderValue};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;
use url::Url;

use super::error::ErrorBody;

/// Most tool calls in one answer.
pub const MAX_CALLS: usize = 128;

/// A protocol of model services.
pub trait Wire: Send + Sync {
    /// Name in the settings and in `ModelInfo::wire`.
    fn name(&self) -> &'static str;

    /// Vendors that speak it, with their quirks. The first is meant if only the wire is named.
    fn vendors(&self) -> &'static [Vendor];

    /// The division of an answer's bytes into payloads.
    fn framing(&self) -> Framing {
        Framing::Events
    }

    /// The URL of requests. `base` may or may not end in a slash, in the wire's version folder or in the path of the call.
    fn url(&self, base: &Url, options: &Options<'_>) -> Url;

    /// The headers of each request, except the content type. Without a key the request has no header for it.
    fn headers(&self, key: Option<&SecretString>, quirks: &BTreeSet<Quirk>) -> HeaderMap;

    /// Builds the body. The same request gives the same bytes.
    fn body(&self, request: &ModelRequest, options: &Options<'_>) -> Value;

    /// Longest answer in tokens if the settings name none, on wires that require a number.
    fn default_max_output_tokens(&self) -> Option<u32> {
        None
    }

    /// Size of the context in tokens if neither the settings nor the service name it, on wires that fix it in each request.
    fn default_context_window_tokens(&self) -> Option<u64> {
        None
    }

    /// Starts to read the answer to `request`.
    fn fold(&self, request: &ModelRequest, options: &Options<'_>) -> Box<dyn Fold>;

    /// The quirk to apply from now on after the service refused a request with `error`, if it is known.
    fn remedy(&self, error: &ErrorBody) -> Option<Quirk>;

    /// The URL of the service's list of models.
    fn models_url(&self, base: &Url) -> Url;

    /// The models in the service's list, in its order. Unreadable entries are left out.
    fn models(&self, answer: &Value) -> Vec<Model>;
}

/// A service, or a kind of server, that speaks a wire.
#[derive(Debug)]
pub struct Vendor {
    /// Name in the settings: `openrouter`.
    pub id: &'static str,
    /// Name for people.
    pub name: &'static str,
    /// Base URL. Empty if each user has a separate one; the settings must then name it.
    pub base_url: &'static str,
    /// Domains below which every host is the vendor's, in addition to the host of `base_url`.
    pub domains: &'static [&'static str],
    /// Variables with its key, the most common one first; empty if it takes none.
    pub key_variables: &'static [&'static str],
    /// Variable with another base URL, empty without one.
    pub base_url_variable: &'static str,
    /// Converts the variable's value to a base URL, if the value may have another form.
    pub base_url_of: fn(&str) -> String,
    /// Model if none is named, empty if it cannot be known. These names age: the settings override them, and the hint of "no such model"
    /// explains how to set another.
    pub default_model: &'static str,
    /// Rank for the case that the keys of several vendors are set: the lowest decides.
    pub rank: u8,
    /// Quirks known from the start.
    pub quirks: &'static [Quirk],
}

/// The values that most vendors have in common.
pub const VENDOR: Vendor = Vendor {
    id: "",
    name: "",
    base_url: "",
    domains: &[],
    key_variables: &[],
    base_url_variable: "",
    base_url_of: str::to_owned,
    default_model: "",
    rank: u8::MAX,
    quirks: &[],
};

/// The division of an answer's bytes into payloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// Server-sent events: the `data` of each event.
    Events,
    /// JSON values, one per line.
    Lines,
}

/// A model in the list of its service.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Model {
    /// Name as sent.
    pub id: String,
    /// Size of its context in tokens, if reported.
    pub context_window_tokens: Option<u64>,
    /// Whether it can call tools, if reported.
    pub can_call_tools: Option<bool>,
    /// Whether it is in memory already, if reported; only local servers report it.
    pub is_loaded: Option<bool>,
}

/// The parameters of a request besides its content.
#[derive(Clone, Debug)]
pub struct Options<'a> {
    /// Model name as sent.
    pub model: &'a str,
    /// Host and port of the service. Messages in another service's own form are not sent there.
    pub host: &'a str,
    /// Longest answer in tokens, if set.
    pub max_output_tokens: Option<u32>,
    /// Size of the model's context in tokens, if known.
    pub context_window_tokens: Option<u64>,
    /// Effort of thinking, if set.
    pub reasoning_effort: Option<ReasoningEffort>,
    /// Freedom in the choice of words, if set.
    pub temperature: Option<f64>,
    /// The quirks of the vendor, and those learned from refusals of this service.
    pub quirks: &'a BTreeSet<Quirk>,
}

impl Default for Options<'_> {
    fn default() -> Self {
        static NONE: BTreeSet<Quirk> = BTreeSet::new();
        Self {
            model: "",
            host: "",
            max_output_tokens: None,
            context_window_tokens: None,
            reasoning_effort: None,
            temperature: None,
            quirks: &NONE,
        }
    }
}

impl Options<'_> {
    /// Whether the service has this quirk.
    pub fn has(&self, quirk: Quirk) -> bool {
        self.quirks.contains(&quirk)
    }

    /// The effort to ask for: the configured one, unless the service refused it.
    pub fn effort(&self) -> Option<ReasoningEffort> {
        self.reasoning_effort.filter(|_| !self.has(Quirk::NoReasoningEffort))
    }

    /// The temperature to ask for: the configured one, unless the service refused it.
    pub fn temperature(&self) -> Option<f64> {
        self.temperature.filter(|_| !self.has(Quirk::NoTemperature))
    }

    /// Notices for the user about requested features that this service does not provide.
    pub fn notices(&self, request: &ModelRequest) -> Vec<String> {
        let model = self.model;
        let no_effort = (self.reasoning_effort.is_some() && self.has(Quirk::NoReasoningEffort))
            .then(|| format!("{model} does not support `reasoning_effort`; requests omit it"));
        let no_tools = (!request.tools.is_empty() && self.has(Quirk::NoTools)).then(|| {
            format!("{model} cannot call tools: it can answer, but not run commands; choose another model for that")
        });
        let no_temperature = (self.temperature.is_some() && self.has(Quirk::NoTemperature))
            .then(|| format!("{model} does not support `temperature`; requests omit it"));
        no_effort.into_iter().chain(no_temperature).chain(no_tools).collect()
    }
}

/// A deviation of a service: known of its vendor, or learned from its refusal and then kept while the provider lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Quirk {
    /// Takes the role `developer` in place of `system`.
    DeveloperRole,
    /// Requires `max_completion_tokens` in place of `max_tokens`.
    MaxCompletionTokens,
    /// Does not know `stream_options`.
    NoStreamOptions,
    /// Does not know `cache_control`.
    NoCacheControl,
    /// Has no version folder in the paths of its calls.
    NoVersionFolder,
    /// Does not take a reasoning effort.
    NoReasoningEffort,
    /// Does not take a temperature.
    NoTemperature,
    /// Cannot call tools.
    NoTools,
    /// Refuses the signatures of thoughts in the history.
    NoThoughtSignatures,
    /// Requires a signature on each call, even if it gave none itself.
    StandInSignatures,
    /// Returns no summary of its reasoning.
    NoReasoningSummary,
    /// Returns no encrypted reasoning that could go back.
    NoEncryptedReasoning,
    /// Takes no system prompt in any role: the prompt is put before the first question.
    NoSystemRole,
    /// Takes the key in a separate header.
    ApiKeyHeader,
    /// Takes the name of the calling program.
    NamesCaller,
    /// Reports the cost of an answer if asked to.
    CostOnRequest,
    /// Passes `cache_control` on to the models that know it.
    PassesCacheControl,
    /// Requires `reasoning_content` on each message with calls, even if it is empty.
    ReasoningInCalls,
    /// Lets thinking be switched on and off, but not measured.
    ThinkingSwitch,
    /// Takes ids of calls only if they have nine letters and digits.
    ShortCallIds,
    /// Takes a message of the user only behind an answer, not directly behind results.
    AnswerBehindResults,
    /// Its template swallows the tag that opens the reasoning in the text.
    SwallowsThinkTag,
}

/// Reads one answer: a state machine without IO.
pub trait Fold: Send {
    /// Takes one event's payload.
    fn on_event(&mut self, data: &str) -> Vec<Folded>;

    /// Ends the answer. Returns the calls and the terminal event, unless an error was returned before.
    fn finish(&mut self, end: End) -> Vec<Folded>;

    /// The progress of the answer.
    fn progress(&self) -> Progress;
}

/// The end of the bytes of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The connection was closed cleanly; that does not prove that the answer is complete.
    Clean,
    /// The connection broke.
    Cut,
}

impl End {
    /// The terminal event of an answer that ends in this way before its mark.
    pub fn incomplete(self) -> Folded {
        let reason = match self {
            Self::Clean => "the answer ended early, without its end mark",
            Self::Cut => "the connection broke inside the answer",
        };
        Folded::Incomplete(reason.to_owned())
    }
}

/// The progress of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The terminal mark has not arrived.
    Open,
    /// The terminal mark has arrived, but more (usage) may follow.
    Complete,
    /// Nothing follows.
    Over,
}

/// A neutral event that a fold returns.
#[derive(Clone, Debug, PartialEq)]
pub enum Folded {
    /// Text.
    Text(String),
    /// Visible reasoning.
    Reasoning(String),
    /// Text of a refusal.
    Refusal(String),
    /// Something arrived that is not shown: a part of a tool call, a block that only goes back.
    Hidden,
    /// A notice for the user, shown once, one sentence.
    Notice(String),
    /// A quirk that the answer revealed, for later requests.
    Learned(Quirk),
    /// All tokens known so far.
    Usage(TokenUsage),
    /// A whole call; only from `finish`, before `Stop`.
    Call(ToolCall),
    /// Terminal: complete by the wire's own mark.
    Stop(Stopped),
    /// Terminal: the bytes ended before the mark. One sentence.
    Incomplete(String),
    /// Terminal: the service reported an error inside the answer.
    Error(ErrorBody),
    /// Terminal: the answer breaks the protocol. One sentence.
    Protocol(String),
}

/// The end of a complete answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Stopped {
    /// Class of the stop.
    pub class: StopClass,
    /// The message in the wire's form.
    pub message: Option<Value>,
    /// Whether calls were dropped because the answer was cut inside them.
    pub has_void_calls: bool,
}

/// Whether a refusal, in lower case, is about the temperature.
pub fn refuses_temperature(text: &str) -> bool {
    text.contains("temperature")
}

/// Appends `path` to `base`, unless `base` ends with it already. Slashes at the end of `base` do not matter; its query is kept.
pub fn append_path(base: &Url, path: &str) -> Url {
    let mut url = base.clone();
    let stem = base.path().trim_end_matches('/').to_owned();
    if !stem.ends_with(&format!("/{path}")) {
        url.set_path(&format!("{stem}/{path}"));
    }
    url
}

/// Inserts a header that no log and no `Debug` shows. A key that cannot be a header is left out; the service then returns 401.
pub fn insert_secret(headers: &mut HeaderMap, name: &'static str, prefix: &str, key: &SecretString) {
    if let Ok(mut value) = HeaderValue::from_str(&format!("{prefix}{}", key.expose_secret().trim())) {
        value.set_sensitive(true);
        headers.insert(HeaderName::from_static(name), value);
    }
}

/// Marks that the text is a failure, on wires without a flag for it.
pub const ERROR_PREFIX: &str = "ERROR: ";
