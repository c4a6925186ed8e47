//! What a wire is: how a request looks, and how the events of an answer fold into neutral ones. Pure; sending, reading, waiting
//! and repeating are shared by all wires and live in `transport` and `http_provider`.
//!
//! A new wire is one file (or folder) with a [`Wire`], and one line in [`WIRES`].

use std::collections::BTreeSet;

use reqwest::{
    Url,
    header::{HeaderMap, HeaderName, HeaderValue},
};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;

use super::{anthropic::Anthropic, error::ErrorBody, openai_chat::OpenAiChat};
use crate::agent::port::{ModelRequest, StopClass, TokenUsage, ToolCall};

/// All wires. Where several vendors' keys are set, the order decides.
pub(crate) static WIRES: &[&dyn Wire] = &[&Anthropic, &OpenAiChat];

/// Most tool calls in one answer.
pub(crate) const MAX_CALLS: usize = 128;

/// A protocol of model services.
pub(crate) trait Wire: Send + Sync {
    /// Name in the settings and in `ModelInfo::wire`.
    fn name(&self) -> &'static str;

    /// The vendor's own service: address, key and model.
    fn vendor(&self) -> &'static Vendor;

    /// Where requests go. `base` may or may not end in a slash or in the wire's version folder.
    fn url(&self, base: &Url, quirks: &BTreeSet<Quirk>) -> Url;

    /// What goes with each request besides the content type. Without a key nothing is sent in its place.
    fn headers(&self, key: Option<&SecretString>) -> HeaderMap;

    /// The body. The same request gives the same bytes.
    fn body(&self, request: &ModelRequest, options: &Options<'_>) -> Value;

    /// Longest answer in tokens when the settings name none, on wires that demand a number.
    fn default_max_output_tokens(&self) -> Option<u32> {
        None
    }

    /// Starts to read the answer to `request`.
    fn fold(&self, request: &ModelRequest) -> Box<dyn Fold>;

    /// What to change for good when the service refuses a request with `error`, if that is known.
    fn remedy(&self, error: &ErrorBody) -> Option<Quirk>;
}

/// A vendor's service.
#[derive(Debug)]
pub(crate) struct Vendor {
    /// Name for people.
    pub(crate) name: &'static str,
    /// Base URL.
    pub(crate) base_url: &'static str,
    /// Variable with its key.
    pub(crate) key_variable: &'static str,
    /// Variable with another base URL.
    pub(crate) base_url_variable: &'static str,
    /// Model when none is named. These age: the settings win, and the hint of "no such model" says how to set another.
    pub(crate) default_model: &'static str,
}

/// What shapes a request besides its content.
#[derive(Clone, Debug)]
pub(crate) struct Options<'a> {
    /// Model name as sent.
    pub(crate) model: &'a str,
    /// Longest answer in tokens, if set.
    pub(crate) max_output_tokens: Option<u32>,
    /// Learned from refusals of this service.
    pub(crate) quirks: &'a BTreeSet<Quirk>,
}

/// A deviation of a service, learned from its refusal and kept as long as the provider lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Quirk {
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
}

/// Reads one answer: a state machine without IO.
pub(crate) trait Fold: Send {
    /// Takes one event's payload.
    fn on_event(&mut self, data: &str) -> Vec<Folded>;

    /// Ends the answer. Gives the calls and the terminal event, unless an error was given before.
    fn finish(&mut self, end: End) -> Vec<Folded>;

    /// How far the answer is.
    fn progress(&self) -> Progress;
}

/// How the bytes of an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The connection says that all is there; that proves nothing.
    Clean,
    /// The connection broke.
    Cut,
}

/// How far an answer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// The terminal mark is not seen yet.
    Open,
    /// The terminal mark is seen, but more (usage) may follow.
    Complete,
    /// Nothing follows.
    Over,
}

/// What a fold gives.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Folded {
    /// Text.
    Text(String),
    /// Visible reasoning.
    Reasoning(String),
    /// Text of a refusal.
    Refusal(String),
    /// Something arrived that is not shown: a part of a tool call, a block that only goes back.
    Hidden,
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
pub(crate) struct Stopped {
    /// What the stop means.
    pub(crate) class: StopClass,
    /// The message in the wire's form.
    pub(crate) message: Option<Value>,
    /// Calls were dropped since the answer was cut inside them.
    pub(crate) has_void_calls: bool,
}

/// `base` with `path` after it, unless it is there already. Slashes at the end of `base` do not matter; its query is kept.
pub(crate) fn append_path(base: &Url, path: &str) -> Url {
    let mut url = base.clone();
    let stem = base.path().trim_end_matches('/').to_owned();
    if !stem.ends_with(&format!("/{path}")) {
        url.set_path(&format!("{stem}/{path}"));
    }
    url
}

/// A header that no log and no `Debug` shows. A key that cannot be a header is left out; the service then says 401.
pub(crate) fn insert_secret(headers: &mut HeaderMap, name: &'static str, prefix: &str, key: &SecretString) {
    if let Ok(mut value) = HeaderValue::from_str(&format!("{prefix}{}", key.expose_secret().trim())) {
        value.set_sensitive(true);
        headers.insert(HeaderName::from_static(name), value);
    }
}

/// Marks that the text is a failure, on wires without a flag for it.
pub(crate) const ERROR_PREFIX: &str = "ERROR: ";
