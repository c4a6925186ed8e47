//! What a wire is: how a request looks, and how the events of an answer fold into neutral ones. Pure; sending, reading, waiting
//! and repeating are shared by all wires and live in `transport` and `http_provider`.
//!
//! A new wire is one file (or folder) with a [`Wire`], and one line in [`WIRES`](super::registry::WIRES).

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

    /// Services that speak it, with what is particular to each. The first is meant when only the wire is named.
    fn vendors(&self) -> &'static [Vendor];

    /// How the bytes of an answer are divided into payloads.
    fn framing(&self) -> Framing {
        Framing::Events
    }

    /// Where requests go. `base` may or may not end in a slash, in the wire's version folder or in the path of the call.
    fn url(&self, base: &Url, options: &Options<'_>) -> Url;

    /// What goes with each request besides the content type. Without a key nothing is sent in its place.
    fn headers(&self, key: Option<&SecretString>, quirks: &BTreeSet<Quirk>) -> HeaderMap;

    /// The body. The same request gives the same bytes.
    fn body(&self, request: &ModelRequest, options: &Options<'_>) -> Value;

    /// Longest answer in tokens when the settings name none, on wires that demand a number.
    fn default_max_output_tokens(&self) -> Option<u32> {
        None
    }

    /// Size of the context in tokens when neither the settings nor the service tell, on wires that fix it in each request.
    fn default_context_window_tokens(&self) -> Option<u64> {
        None
    }

    /// Starts to read the answer to `request`.
    fn fold(&self, request: &ModelRequest, options: &Options<'_>) -> Box<dyn Fold>;

    /// What to change for good when the service refuses a request with `error`, if that is known.
    fn remedy(&self, error: &ErrorBody) -> Option<Quirk>;

    /// Where the service lists its models.
    fn models_url(&self, base: &Url) -> Url;

    /// The models in the answer from there, in the service's order. Whatever cannot be read is left out.
    fn models(&self, answer: &Value) -> Vec<Model>;
}

/// A service, or a kind of server, that speaks a wire.
#[derive(Debug)]
pub struct Vendor {
    /// Name in the settings: `openrouter`.
    pub id: &'static str,
    /// Name for people.
    pub name: &'static str,
    /// Base URL. Empty where each user has one of his own; then the settings must name it.
    pub base_url: &'static str,
    /// Domains below which every host is the vendor's, beside that of `base_url`.
    pub domains: &'static [&'static str],
    /// Variables with its key, the usual one first; empty if it takes none.
    pub key_variables: &'static [&'static str],
    /// Variable with another base URL, empty if there is none.
    pub base_url_variable: &'static str,
    /// Makes a base URL of the variable's value, where that need not be one.
    pub base_url_of: fn(&str) -> String,
    /// Model when none is named, empty if that cannot be known. These age: the settings win, and the hint of "no such model"
    /// says how to set another.
    pub default_model: &'static str,
    /// Where the keys of several vendors are set, the lowest decides.
    pub rank: u8,
    /// Deviations known from the start.
    pub quirks: &'static [Quirk],
}

/// What most vendors have in common.
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

/// How the bytes of an answer are divided into payloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// Server-sent events: the `data` of each event.
    Events,
    /// JSON values, one a line.
    Lines,
}

/// A model as its service lists it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Model {
    /// Name as sent.
    pub id: String,
    /// Size of its context in tokens, if told.
    pub context_window_tokens: Option<u64>,
    /// Whether it can call tools, if told.
    pub can_call_tools: Option<bool>,
    /// Whether it is in memory already, if told; only local servers do.
    pub is_loaded: Option<bool>,
}

/// What shapes a request besides its content.
#[derive(Clone, Debug)]
pub struct Options<'a> {
    /// Model name as sent.
    pub model: &'a str,
    /// Host and port of the service. What another one wrote in its own form does not go there.
    pub host: &'a str,
    /// Longest answer in tokens, if set.
    pub max_output_tokens: Option<u32>,
    /// Size of the model's context in tokens, if known.
    pub context_window_tokens: Option<u64>,
    /// How much the model should think, if set.
    pub reasoning_effort: Option<ReasoningEffort>,
    /// How freely it should choose its words, if set.
    pub temperature: Option<f64>,
    /// Those of the vendor, and those learned from refusals of this service.
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
    /// Whether the service has this deviation.
    pub fn has(&self, quirk: Quirk) -> bool {
        self.quirks.contains(&quirk)
    }

    /// The effort to ask for: the one that is set, unless the service refused it.
    pub fn effort(&self) -> Option<ReasoningEffort> {
        self.reasoning_effort.filter(|_| !self.has(Quirk::NoReasoningEffort))
    }

    /// The temperature to ask for: the one that is set, unless the service refused it.
    pub fn temperature(&self) -> Option<f64> {
        self.temperature.filter(|_| !self.has(Quirk::NoTemperature))
    }

    /// What the user does not get from this service though it was asked for.
    pub fn notices(&self, request: &ModelRequest) -> Vec<String> {
        let model = self.model;
        let no_effort = (self.reasoning_effort.is_some() && self.has(Quirk::NoReasoningEffort))
            .then(|| format!("{model} takes no `reasoning_effort`; it is asked without"));
        let no_tools = (!request.tools.is_empty() && self.has(Quirk::NoTools)).then(|| {
            format!("{model} cannot call tools: it can only talk, not run commands; choose another model for more")
        });
        let no_temperature = (self.temperature.is_some() && self.has(Quirk::NoTemperature))
            .then(|| format!("{model} takes no `temperature`; it is asked without"));
        no_effort.into_iter().chain(no_temperature).chain(no_tools).collect()
    }
}

/// A deviation of a service: known of its vendor, or learned from its refusal and then kept as long as the provider lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Quirk {
    /// Takes the role `developer` in place of `system`.
    DeveloperRole,
    /// Wants `max_completion_tokens` in place of `max_tokens`.
    MaxCompletionTokens,
    /// Does not know `stream_options`.
    NoStreamOptions,
    /// Does not know `cache_control`.
    NoCacheControl,
    /// Has no version folder in front of its calls.
    NoVersionFolder,
    /// Cannot be told how much to think.
    NoReasoningEffort,
    /// Cannot be told how freely to choose its words.
    NoTemperature,
    /// Cannot call tools.
    NoTools,
    /// Refuses the signatures of thoughts in the history.
    NoThoughtSignatures,
    /// Wants a signature on each call, also where it gave none.
    StandInSignatures,
    /// Gives no summary of its reasoning.
    NoReasoningSummary,
    /// Gives no encrypted reasoning that could go back.
    NoEncryptedReasoning,
    /// Takes no system prompt, whatever its role: it stands in front of the first question.
    NoSystemRole,
    /// Takes the key in a header of its own.
    ApiKeyHeader,
    /// Likes to know who calls.
    NamesCaller,
    /// Tells what an answer costs when it is asked to.
    CostOnRequest,
    /// Hands `cache_control` on to the models that know it.
    PassesCacheControl,
    /// Wants `reasoning_content` on each message with calls, even if it is empty.
    ReasoningInCalls,
    /// Lets thinking be switched on and off, not be measured out.
    ThinkingSwitch,
    /// Takes ids of calls only if they are nine letters and digits.
    ShortCallIds,
    /// Its template swallows the tag that opens the reasoning in the text.
    SwallowsThinkTag,
}

/// Reads one answer: a state machine without IO.
pub trait Fold: Send {
    /// Takes one event's payload.
    fn on_event(&mut self, data: &str) -> Vec<Folded>;

    /// Ends the answer. Gives the calls and the terminal event, unless an error was given before.
    fn finish(&mut self, end: End) -> Vec<Folded>;

    /// How far the answer is.
    fn progress(&self) -> Progress;
}

/// How the bytes of an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The connection says that all is there; that proves nothing.
    Clean,
    /// The connection broke.
    Cut,
}

impl End {
    /// The terminal event of an answer that ends so before its mark.
    pub fn incomplete(self) -> Folded {
        let reason = match self {
            Self::Clean => "the answer ended early, without its end mark",
            Self::Cut => "the connection broke inside the answer",
        };
        Folded::Incomplete(reason.to_owned())
    }
}

/// How far an answer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The terminal mark is not seen yet.
    Open,
    /// The terminal mark is seen, but more (usage) may follow.
    Complete,
    /// Nothing follows.
    Over,
}

/// What a fold gives.
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
    /// Something to tell the user once, one sentence.
    Notice(String),
    /// A deviation that the answer showed, for the requests to come.
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

/// How a complete answer ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Stopped {
    /// What the stop means.
    pub class: StopClass,
    /// The message in the wire's form.
    pub message: Option<Value>,
    /// Calls were dropped since the answer was cut inside them.
    pub has_void_calls: bool,
}

/// Whether a refusal, in lower case, is about the temperature.
pub fn refuses_temperature(text: &str) -> bool {
    text.contains("temperature")
}

/// `base` with `path` after it, unless it is there already. Slashes at the end of `base` do not matter; its query is kept.
pub fn append_path(base: &Url, path: &str) -> Url {
    let mut url = base.clone();
    let stem = base.path().trim_end_matches('/').to_owned();
    if !stem.ends_with(&format!("/{path}")) {
        url.set_path(&format!("{stem}/{path}"));
    }
    url
}

/// A header that no log and no `Debug` shows. A key that cannot be a header is left out; the service then says 401.
pub fn insert_secret(headers: &mut HeaderMap, name: &'static str, prefix: &str, key: &SecretString) {
    if let Ok(mut value) = HeaderValue::from_str(&format!("{prefix}{}", key.expose_secret().trim())) {
        value.set_sensitive(true);
        headers.insert(HeaderName::from_static(name), value);
    }
}

/// Marks that the text is a failure, on wires without a flag for it.
pub const ERROR_PREFIX: &str = "ERROR: ";
