//! What services say when they refuse or fail, and what it means. Pure.

use std::time::Duration;

use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;

use crate::agent::port::{ProviderError, ProviderErrorKind as Kind};

/// Longest text taken over from a service, in characters.
const MAX_TEXT_CHARS: usize = 300;
/// Shorter keys are no keys; taking them out of a text would garble it.
const MIN_KEY_BYTES: usize = 8;

/// An error as a service reported it, whatever its form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ErrorBody {
    /// HTTP status, or the status named inside an event.
    pub(crate) status: Option<u16>,
    /// `code`, `type` and `status` words, lower case, separated by blanks.
    pub(crate) codes: String,
    /// Text for people, in one line.
    pub(crate) text: String,
    /// A web page and no answer of an API.
    pub(crate) is_html: bool,
    /// Wait asked for inside the body.
    pub(crate) retry_after: Option<Duration>,
}

impl ErrorBody {
    /// Reads the body of an answer with `status`.
    pub(crate) fn from_bytes(status: u16, bytes: &[u8]) -> Self {
        let mut body = match serde_json::from_slice::<Value>(bytes) {
            Ok(value) => Self::from_value(&value),
            Err(_) => Self::from_text(&String::from_utf8_lossy(bytes)),
        };
        body.status = Some(status);
        body
    }

    /// Reads an error object, or an object or array around one.
    pub(crate) fn from_value(value: &Value) -> Self {
        let value = value.as_array().and_then(|items| items.first()).unwrap_or(value);
        let inner = value.get("error").filter(|error| error.is_object()).unwrap_or(value);
        let detail = value.get("detail");
        let candidates = [
            inner.pointer("/metadata/raw").and_then(Value::as_str),
            inner.get("message").and_then(Value::as_str),
            value.get("error").and_then(Value::as_str),
            value.get("message").and_then(Value::as_str),
            detail.and_then(Value::as_str),
            detail.and_then(|list| list.pointer("/0/msg")).and_then(Value::as_str),
            value.as_str(),
        ];
        let text = candidates.into_iter().flatten().find(|text| !text.trim().is_empty()).unwrap_or_default();
        // Gateways hand on the body of the service behind them as text.
        let nested = text.trim_start().starts_with('{').then(|| serde_json::from_str::<Value>(text).ok()).flatten();
        let mut body =
            nested.map_or_else(|| Self { text: one_line(text), ..Self::default() }, |nested| Self::from_value(&nested));
        for key in ["code", "type", "status", "error_type"] {
            for holder in [inner, value] {
                match holder.get(key) {
                    Some(Value::String(word)) => body.add_code(word),
                    Some(Value::Number(number)) => {
                        let status = number.as_u64().and_then(|number| u16::try_from(number).ok());
                        body.status = body.status.or(status.filter(|status| (400..600).contains(status)));
                    }
                    _ => {}
                }
            }
        }
        if inner.pointer("/metadata/reasons").is_some() {
            body.add_code("moderation");
        }
        body.retry_after = body.retry_after.or_else(|| retry_info(inner));
        for reason in details(inner).filter_map(|detail| detail.get("reason").and_then(Value::as_str)) {
            body.add_code(reason);
        }
        body
    }

    fn from_text(text: &str) -> Self {
        let is_html = text.trim_start().starts_with('<');
        Self { text: one_line(text), is_html, ..Self::default() }
    }

    fn add_code(&mut self, word: &str) {
        if !self.codes.is_empty() {
            self.codes.push(' ');
        }
        self.codes.push_str(&word.to_ascii_lowercase());
    }

    fn has_code(&self, words: &[&str]) -> bool {
        self.codes.split(' ').any(|code| words.contains(&code))
    }

    /// The family of the failure. The order matters: the first that fits.
    pub(crate) fn kind(&self) -> Kind {
        let status = self.status.unwrap_or(0);
        if self.has_code(&["tool_use_failed"]) {
            return Kind::ToolUseFailed;
        }
        if status == 413 || self.is_overflow() {
            return Kind::ContextOverflow;
        }
        if self.is_billing(status) {
            return Kind::Billing;
        }
        if self.is_auth(status) {
            return Kind::Auth;
        }
        if self.has_code(MODEL_CODES) || status == 404 || self.names_a_missing_model() {
            return Kind::ModelNotFound;
        }
        self.kind_by_status(status)
    }

    fn kind_by_status(&self, status: u16) -> Kind {
        if status == 429 || self.has_code(&["resource_exhausted", "rate_limit_error", "rate_limit_exceeded"]) {
            return Kind::RateLimit;
        }
        if matches!(status, 503 | 529) || self.has_code(&["overloaded_error", "overloaded", "unavailable"]) {
            return Kind::Overloaded;
        }
        let is_server_code =
            self.has_code(&["api_error", "server_error", "internal_server_error", "timeout_error", "internal"]);
        // A status of the client's fault is clearer than a code that gateways put on everything.
        if matches!(status, 408 | 409 | 500..)
            || (is_server_code && !matches!(status, 400..500))
            || (status == 0 && !self.has_code(&["invalid_request_error"]))
        {
            return Kind::Server;
        }
        Kind::InvalidRequest
    }

    fn is_overflow(&self) -> bool {
        let text = self.text.to_ascii_lowercase();
        let is_output_cap = text.contains("max_tokens") && text.contains("exceed context limit");
        let is_server = matches!(self.status, None | Some(400 | 422 | 429 | 500));
        is_server
            && !is_output_cap
            && OVERFLOW_TEXTS.iter().any(|phrase| text.contains(phrase) || self.codes.contains(phrase))
    }

    fn is_billing(&self, status: u16) -> bool {
        let text = self.text.to_ascii_lowercase();
        status == 402
            || self.has_code(&[
                "insufficient_quota",
                "credit_balance_exhausted",
                "enforced_spend_limit_reached",
                "billing_error",
            ])
            || (status == 400 && text.contains("credit balance is too low"))
    }

    fn is_auth(&self, status: u16) -> bool {
        let text = self.text.to_ascii_lowercase();
        let names_key = self.has_code(&["api_key_invalid", "invalid_api_key"]) || text.contains("incorrect api key");
        status == 401
            || (status == 403 && !self.has_code(&["moderation"]))
            || (status == 400 && names_key)
            || (status == 0 && self.has_code(&["authentication_error", "permission_error", "invalid_api_key"]))
    }

    fn names_a_missing_model(&self) -> bool {
        let text = self.text.to_ascii_lowercase();
        self.status == Some(400)
            && (text.contains("model identifier is invalid")
                || (text.contains("model") && text.contains("does not exist")))
    }

    /// Whether the text or codes speak of a model. A 404 that does not comes from a wrong base URL.
    fn mentions_model(&self, model: &str) -> bool {
        let text = self.text.to_ascii_lowercase();
        !self.is_html
            && (self.has_code(&["model_not_found", "deploymentnotfound", "not_found_error"])
                || text.contains("model")
                || (!model.is_empty() && text.contains(&model.to_ascii_lowercase())))
    }
}

const MODEL_CODES: &[&str] = &["model_not_found", "deploymentnotfound", "not_found_error", "not_found"];

const OVERFLOW_TEXTS: &[&str] = &[
    "prompt is too long",
    "context_length_exceeded",
    "exceeds the context window",
    "maximum context length is",
    "exceeds the maximum number of tokens",
    "exceeds the maximum (",
    "input tokens exceeded",
    "too_many_tokens",
    "too_many_prompt_tokens",
    "total length of all messages",
    "prompt too long",
    "exceed_context_size",
    "exceeds the available context size",
    "context size has been exceeded",
    "model_context_window_exceeded",
    "request_too_large",
];

fn details(error: &Value) -> impl Iterator<Item = &Value> {
    error.get("details").and_then(Value::as_array).into_iter().flatten()
}

fn retry_info(error: &Value) -> Option<Duration> {
    let delay = details(error).find_map(|detail| detail.get("retryDelay").and_then(Value::as_str))?;
    let seconds: f64 = delay.strip_suffix('s')?.parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok().filter(|delay| !delay.is_zero())
}

/// `text` without tags and control characters, blanks run together.
fn one_line(text: &str) -> String {
    let mut line = String::new();
    let mut in_tag = false;
    let is_page = text.trim_start().starts_with('<');
    for c in text.chars() {
        match c {
            '<' if is_page => in_tag = true,
            '>' if in_tag => in_tag = false,
            _ if in_tag => continue,
            _ => {}
        }
        let blank = c.is_whitespace() || c.is_control() || (is_page && matches!(c, '<' | '>'));
        if blank && (line.is_empty() || line.ends_with(' ')) {
            continue;
        }
        line.push(if blank { ' ' } else { c });
    }
    line.trim_end().to_owned()
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_TEXT_CHARS) {
        Some((at, _)) => format!("{}\u{2026}", &text[..at]),
        None => text.to_owned(),
    }
}

/// Whom an error is about, for its sentence and hint.
#[derive(Clone, Debug)]
pub(crate) struct Subject {
    /// Service for people: `Anthropic`, `openai-chat`.
    pub(crate) service: String,
    /// Host and port.
    pub(crate) host: String,
    /// Model name.
    pub(crate) model: String,
    /// Where the key comes from, or would come from: a variable or a setting.
    pub(crate) key_place: String,
    /// The key that was sent; no error shows it.
    pub(crate) key: Option<SecretString>,
    /// Whether it runs on this machine.
    pub(crate) is_local: bool,
}

impl Subject {
    /// An error in words: `what` continues "Service (host) ...".
    pub(crate) fn error(&self, kind: Kind, what: &str, hint: Option<String>) -> ProviderError {
        let message = format!("{} ({}) {}", self.service, self.host, self.without_key(what));
        ProviderError { kind, message, hint, retry_after: None, overflow: None }
    }

    /// Services repeat the key that they refuse.
    fn without_key(&self, text: &str) -> String {
        match self.key.as_ref().map(|key| key.expose_secret().trim()).filter(|key| key.len() >= MIN_KEY_BYTES) {
            Some(key) => text.replace(key, "[key]"),
            None => text.to_owned(),
        }
    }

    /// A reported error in words, with what helps.
    pub(crate) fn reported(&self, body: &ErrorBody) -> ProviderError {
        let kind = body.kind();
        let is_wrong_url = kind == Kind::ModelNotFound && !body.mentions_model(&self.model);
        let what = match kind {
            Kind::ToolUseFailed => "rejected the model's tool call",
            Kind::ContextOverflow => "says that the conversation is too long for the model",
            Kind::Billing => "wants payment",
            Kind::Auth if self.key.is_some() => "refused the key",
            Kind::Auth => "wants a key",
            Kind::ModelNotFound if is_wrong_url => "does not know this address",
            Kind::ModelNotFound => "does not know the model",
            Kind::RateLimit => "got too many requests",
            Kind::Overloaded => "is overloaded",
            Kind::Server => "failed",
            _ => "refused the request",
        };
        let mut message = what.to_owned();
        if kind == Kind::ModelNotFound && !is_wrong_url {
            message = format!("{what} {:?}", self.model);
        }
        // A conversation that is too long is nobody's fault: the service's own words would only hide what to do.
        let body = if kind == Kind::ContextOverflow { &ErrorBody::default() } else { body };
        let status = body.status.map(|status| format!("status {status}"));
        let text = Some(cut(&self.without_key(&body.text))).filter(|text| !text.is_empty() && !body.is_html);
        let page = body.is_html.then(|| "with a web page, not an API answer".to_owned());
        for (joint, part) in [(", ", status), (", ", page), (": ", text)] {
            message.extend(part.iter().flat_map(|part| [joint, part]));
        }
        let mut error = self.error(kind, &message, self.hint(kind, is_wrong_url));
        error.retry_after = body.retry_after;
        error
    }

    fn hint(&self, kind: Kind, is_wrong_url: bool) -> Option<String> {
        let key = &self.key_place;
        Some(match kind {
            Kind::ContextOverflow => "start a new shell session, or ask with less context".to_owned(),
            Kind::Billing => format!("Billing: add credit at {} or choose another model", self.service),
            Kind::Auth if self.key.is_some() => format!("check the key of {} in {key}", self.service),
            Kind::Auth => format!("set the key of {} in {key}", self.service),
            Kind::ModelNotFound if is_wrong_url => {
                "the base URL is probably wrong: check COHAB_BASE_URL or `base_url` under [model]".to_owned()
            }
            Kind::ModelNotFound => "name another model with COHAB_MODEL or `name` under [model]".to_owned(),
            Kind::RateLimit => "wait a little, then ask again".to_owned(),
            Kind::Overloaded | Kind::Server => "ask again in a while, or choose another model".to_owned(),
            Kind::InvalidRequest | Kind::ToolUseFailed => "another model may do better".to_owned(),
            Kind::Protocol => "check that the service at the base URL speaks the API of the chosen provider".to_owned(),
            Kind::Network if self.is_local => format!("is the server at {} running?", self.host),
            Kind::Network => "check the network, the proxy settings and the base URL".to_owned(),
            Kind::Timeout | Kind::EmptyAnswer => return None,
        })
    }

    /// The connection broke inside the answer.
    pub(crate) fn cut_off(&self, reason: &str) -> ProviderError {
        let hint = "ask again; if it stays so, something between here and the service cuts connections";
        self.error(Kind::Network, &format!("was cut off: {reason}"), Some(hint.to_owned()))
    }

    /// The answer breaks the protocol: `what` continues "Service (host) ...".
    pub(crate) fn protocol(&self, what: &str) -> ProviderError {
        self.error(Kind::Protocol, what, self.hint(Kind::Protocol, false))
    }

    /// No connection, or it broke before the answer began.
    pub(crate) fn network(&self, cause: &str) -> ProviderError {
        self.error(Kind::Network, &format!("cannot be reached: {cause}"), self.hint(Kind::Network, false))
    }

    /// The time limit `setting` of `limit` passed while `waiting`.
    pub(crate) fn timeout(&self, waiting: &str, setting: &str, limit: Duration) -> ProviderError {
        let what = format!("{waiting} for {limit:?} (limit `{setting}`)");
        let hint = format!("raise `{setting}` under [model.timeouts] if the service needs longer");
        self.error(Kind::Timeout, &what, Some(hint))
    }
}

#[cfg(test)]
#[path = "error_tests.rs"]
mod tests;
