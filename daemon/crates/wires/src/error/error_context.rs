//! Writes the messages and hints of provider errors.

use std::time::Duration;

use cohab_model_api::{Overflow, ProviderError, ProviderErrorKind as Kind};
use secrecy::{ExposeSecret as _, SecretString};

use super::ErrorBody;

/// Longest text taken over from a service, in characters.
const MAX_TEXT_CHARS: usize = 300;
/// A shorter text is not a key; removing it would garble a message.
const MIN_KEY_BYTES: usize = 8;

fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_TEXT_CHARS) {
        Some((at, _)) => format!("{}\u{2026}", &text[..at]),
        None => text.to_owned(),
    }
}

/// The service, model and key that an error is about, for its sentence and hint.
#[derive(Clone, Debug)]
pub struct ErrorContext {
    /// Service for people: `Anthropic`, `openai-chat`.
    pub service: String,
    /// Host and port.
    pub host: String,
    /// Model name.
    pub model: String,
    /// The actual or expected place of the key: a variable or a setting.
    pub key_place: String,
    /// The key that was sent; no error shows it.
    pub key: Option<SecretString>,
    /// Other secrets that no error shows: those in the base URL.
    pub secrets: Vec<SecretString>,
    /// Whether the service runs on this machine.
    pub is_local: bool,
}

impl ErrorContext {
    /// Makes an error: `what` continues "Service (host) ...".
    pub fn error(&self, kind: Kind, what: &str, hint: Option<String>) -> ProviderError {
        let message = format!("{} ({}) {}", self.service, self.host, self.without_key(what));
        ProviderError { kind, message, hint, retry_after: None, overflow: None }
    }

    /// Removes keys from a text: services repeat the key that they refuse.
    pub fn without_key(&self, text: &str) -> String {
        let secrets = self.key.iter().chain(&self.secrets).map(|secret| secret.expose_secret().trim());
        secrets
            .filter(|secret| secret.len() >= MIN_KEY_BYTES)
            .fold(text.to_owned(), |text, secret| text.replace(secret, "[key]"))
    }

    /// The service's own message, short and without a key. JSON that could not be read is left out.
    pub fn words_of(&self, body: &ErrorBody) -> String {
        if body.text.starts_with(['{', '[']) { String::new() } else { cut(&self.without_key(&body.text)) }
    }

    /// Makes an error, with its hint, from a reported one.
    pub fn reported(&self, body: &ErrorBody) -> ProviderError {
        let kind = body.kind();
        let is_wrong_url = kind == Kind::ModelNotFound && !body.mentions_model(&self.model);
        let what = match kind {
            Kind::ToolUseFailed => "rejected the model's tool call",
            Kind::Billing => "requires payment",
            Kind::Auth if self.key.is_some() => "refused the key",
            Kind::Auth => "requires a key",
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
        if kind == Kind::ContextOverflow {
            // The service's own message would only hide the advice.
            return self.overflowed(body.sizes());
        }
        let status = body.status.map(|status| format!("status {status}"));
        let text = Some(self.words_of(body)).filter(|text| !text.is_empty() && !body.is_html);
        let page = body.is_html.then(|| "with a web page, not an API answer".to_owned());
        for (joint, part) in [(", ", status), (", ", page), (": ", text)] {
            message.extend(part.iter().flat_map(|part| [joint, part]));
        }
        let mut error = self.error(kind, &message, self.hint(kind, is_wrong_url));
        error.retry_after = body.retry_after;
        if kind == Kind::ModelNotFound && body.text.contains("try pulling") {
            let other = self.hint(kind, false).unwrap_or_default();
            error.hint = Some(format!("fetch it with `ollama pull {}`, or {other}", self.model));
        }
        error
    }

    /// Makes the error for a conversation that is too long for the model.
    pub fn overflowed(&self, sizes: Overflow) -> ProviderError {
        let kind = Kind::ContextOverflow;
        let what = "says that the conversation is too long for the model";
        let overflow = Some(sizes).filter(|sizes| *sizes != Overflow::default());
        ProviderError { overflow, ..self.error(kind, what, self.hint(kind, false)) }
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

    /// Makes the error for a connection that broke during the answer.
    pub fn cut_off(&self, reason: &str) -> ProviderError {
        let hint = "ask again; if this repeats, something between here and the service cuts connections";
        self.error(Kind::Network, &format!("was cut off: {reason}"), Some(hint.to_owned()))
    }

    /// Makes the error for an answer that breaks the protocol: `what` continues "Service (host) ...".
    pub fn protocol(&self, what: &str) -> ProviderError {
        self.error(Kind::Protocol, what, self.hint(Kind::Protocol, false))
    }

    /// Makes the error for a connection that failed, or broke before the answer began.
    pub fn network(&self, cause: &str) -> ProviderError {
        self.error(Kind::Network, &format!("cannot be reached: {cause}"), self.hint(Kind::Network, false))
    }

    /// Makes the error for a certificate that cannot be trusted.
    pub fn untrusted(&self, cause: &str) -> ProviderError {
        let hint = "if that is a service of your own, name a file with its certificate in SSL_CERT_FILE";
        self.error(Kind::Network, &format!("cannot be trusted: {cause}"), Some(hint.to_owned()))
    }

    /// Makes the error for the time limit `setting` of `limit` that passed while `waiting`.
    pub fn timeout(&self, waiting: &str, setting: &str, limit: Duration) -> ProviderError {
        let what = format!("{waiting} for {limit:?} (limit `{setting}`)");
        let hint = format!("raise `{setting}` under [model.timeouts] if the service needs longer");
        self.error(Kind::Timeout, &what, Some(hint))
    }
}
