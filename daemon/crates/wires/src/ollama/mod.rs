//! The wire `ollama` implements Ollama's own chat API: request bodies and folds. It does not send or retry. Ollama's OpenAI route takes no
//! context size, and cuts longer prompts without a notice.
//!
//! Terminal mark: `done`.

mod fold;
mod request;
mod setting;

use std::collections::BTreeSet;

use http::header::HeaderMap;
use secrecy::SecretString;
use serde_json::Value;
use url::Url;

pub use self::setting::base_of_setting;
use cohab_model_api::{ModelRequest, ProviderErrorKind};

use super::{
    error::ErrorBody,
    wire::{self, Fold, Framing, Model, Options, Quirk, VENDOR, Vendor, Wire},
};

/// Ollama's chat API.
pub(crate) struct Ollama;

const NAME: &str = "ollama";
/// Size of the context in tokens if the settings name none: a compromise between memory and length of history.
pub(crate) const DEFAULT_CONTEXT_WINDOW_TOKENS: u64 = 32_768;

static VENDORS: &[Vendor] = &[Vendor {
    id: NAME,
    name: "Ollama",
    base_url: "http://127.0.0.1:11434",
    base_url_variable: "OLLAMA_HOST",
    base_url_of: base_of_setting,
    ..VENDOR
}];

impl Wire for Ollama {
    fn name(&self) -> &'static str {
        NAME
    }

    fn vendors(&self) -> &'static [Vendor] {
        VENDORS
    }

    fn framing(&self) -> Framing {
        Framing::Lines
    }

    fn url(&self, base: &Url, _: &Options<'_>) -> Url {
        wire::append_path(&root(base), "api/chat")
    }

    fn headers(&self, key: Option<&SecretString>, _: &BTreeSet<Quirk>) -> HeaderMap {
        let mut headers = HeaderMap::new();
        if let Some(key) = key {
            wire::insert_secret(&mut headers, "authorization", "Bearer ", key);
        }
        headers
    }

    fn body(&self, request: &ModelRequest, options: &Options<'_>) -> Value {
        request::body(request, options)
    }

    fn default_context_window_tokens(&self) -> Option<u64> {
        Some(DEFAULT_CONTEXT_WINDOW_TOKENS)
    }

    fn fold(&self, request: &ModelRequest, options: &Options<'_>) -> Box<dyn Fold> {
        Box::new(fold::LineFold::new(request, options))
    }

    fn remedy(&self, error: &ErrorBody) -> Option<Quirk> {
        let text = error.text.to_ascii_lowercase();
        if error.kind() != ProviderErrorKind::InvalidRequest {
            None
        } else if text.contains("does not support tools") {
            Some(Quirk::NoTools)
        } else if text.contains("thinking") || text.contains(".think ") {
            Some(Quirk::NoReasoningEffort)
        } else {
            wire::refuses_temperature(&text).then_some(Quirk::NoTemperature)
        }
    }

    fn models_url(&self, base: &Url) -> Url {
        wire::append_path(&root(base), "api/tags")
    }

    fn models(&self, answer: &Value) -> Vec<Model> {
        let rows = answer.get("models").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let names = rows.iter().filter_map(|row| row.get("name").or_else(|| row.get("model"))?.as_str());
        names
            .filter(|name| !name.is_empty() && !name.to_ascii_lowercase().contains("embed"))
            .map(|name| Model { id: name.to_owned(), ..Model::default() })
            .collect()
    }
}

/// `base` without the paths of calls, and without the path of the OpenAI route, which many users have in their settings.
fn root(base: &Url) -> Url {
    let mut stem = base.path().trim_end_matches('/');
    for end in ["/chat", "/tags", "/chat/completions", "/api", "/v1"] {
        stem = stem.strip_suffix(end).unwrap_or(stem);
    }
    let mut url = base.clone();
    url.set_path(stem);
    url
}

mod fast_path;
#[cfg(test)]
#[path = "wire_tests.rs"]
mod tests;
