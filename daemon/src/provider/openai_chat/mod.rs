//! Wire `openai-chat`: Chat Completions of OpenAI and of the many services and local servers that speak its dialects.
//!
//! Terminal mark: a `finish_reason`, or `[DONE]` with every call's arguments parsing.

mod fold;
mod request;
mod slots;
mod think;
mod vendors;

use std::collections::BTreeSet;

use reqwest::{Url, header::HeaderMap};
use secrecy::SecretString;
use serde_json::Value;

use super::{
    error::ErrorBody,
    history, models,
    wire::{self, Fold, Model, Options, Quirk, Vendor, Wire},
};
use crate::agent::port::{ModelRequest, ProviderErrorKind};

/// The wire.
pub(crate) struct OpenAiChat;

const NAME: &str = "openai-chat";

impl Wire for OpenAiChat {
    fn name(&self) -> &'static str {
        NAME
    }

    fn vendors(&self) -> &'static [Vendor] {
        vendors::VENDORS
    }

    fn url(&self, base: &Url, options: &Options<'_>) -> Url {
        url_at(base, "chat/completions", options.has(Quirk::NoVersionFolder))
    }

    fn headers(&self, key: Option<&SecretString>, _: &BTreeSet<Quirk>) -> HeaderMap {
        bearer(key)
    }

    fn body(&self, request: &ModelRequest, options: &Options<'_>) -> Value {
        request::body(request, options)
    }

    fn fold(&self, request: &ModelRequest, _: &Options<'_>) -> Box<dyn Fold> {
        Box::new(fold::ChatFold::beside(history::call_ids(&request.messages)))
    }

    fn remedy(&self, error: &ErrorBody) -> Option<Quirk> {
        let text = error.text.to_ascii_lowercase();
        if error.status == Some(404) && !text.contains("model") {
            Some(Quirk::NoVersionFolder)
        } else if error.kind() != ProviderErrorKind::InvalidRequest {
            None
        } else if text.contains("max_completion_tokens") {
            Some(Quirk::MaxCompletionTokens)
        } else if text.contains("stream_options") {
            Some(Quirk::NoStreamOptions)
        } else if error.codes.contains("unsupported_value") && text.contains("'system'") {
            Some(Quirk::DeveloperRole)
        } else {
            None
        }
    }

    fn models_url(&self, base: &Url) -> Url {
        url_at(base, "models", false)
    }

    fn models(&self, answer: &Value) -> Vec<Model> {
        models::of_data(answer)
    }
}

/// Paths of calls, which a base URL may have at its end by mistake or by a service's own documentation.
const CALL_PATHS: &[&str] = &["/chat/completions", "/responses"];

/// Where `path` is called. A base without any path gets the usual version folder, unless `is_bare`.
pub(super) fn url_at(base: &Url, path: &str, is_bare: bool) -> Url {
    let mut base = base.clone();
    let stem = base.path().trim_end_matches('/').to_owned();
    let stem = CALL_PATHS.iter().find_map(|call| stem.strip_suffix(call)).unwrap_or(&stem);
    base.set_path(stem);
    let has_folder = is_bare || !stem.is_empty();
    wire::append_path(&base, &if has_folder { path.to_owned() } else { format!("v1/{path}") })
}

/// Whether a refusal, in lower case, is about how much to think.
pub(super) fn refuses_effort(text: &str) -> bool {
    let names_values = text.contains("supported values are") && text.contains("'medium'");
    names_values || ["reasoning_effort", "reasoning.effort", "effort level"].iter().any(|name| text.contains(name))
}

/// What the service says that the answer costs: a number of US dollars, or an object with their sum.
pub(super) fn cost_microusd(usage: &Value) -> Option<u64> {
    let dollars = usage.get("cost").and_then(|cost| cost.as_f64().or_else(|| cost.get("total_cost")?.as_f64()))?;
    let micros = (dollars * 1e6).round();
    // From here on floats cannot count single units; nobody pays that much.
    (0.0..=9e15).contains(&micros).then_some(micros as u64)
}

/// The key as both wires of OpenAI send it.
pub(super) fn bearer(key: Option<&SecretString>) -> HeaderMap {
    let mut headers = HeaderMap::new();
    if let Some(key) = key {
        wire::insert_secret(&mut headers, "authorization", "Bearer ", key);
    }
    headers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_base_works_with_and_without_version_and_slash() {
        for base in ["http://h:1", "http://h:1/", "http://h:1/v1", "http://h:1/v1/", "http://h:1/v1/chat/completions"] {
            let url = OpenAiChat.url(&Url::parse(base).expect("a URL"), &Options::default());
            assert_eq!(url.as_str(), "http://h:1/v1/chat/completions", "{base}");
        }
        let url = OpenAiChat
            .url(&Url::parse("https://h/openai/deployments/d?api-version=2").expect("a URL"), &Options::default());
        assert_eq!(url.as_str(), "https://h/openai/deployments/d/chat/completions?api-version=2");
        for base in ["http://h:1", "http://h:1/v1/", "http://h:1/v1/chat/completions"] {
            assert_eq!(OpenAiChat.models_url(&Url::parse(base).expect("a URL")).as_str(), "http://h:1/v1/models");
        }
    }

    #[test]
    fn refused_options_have_a_remedy() {
        let remedy = |body: &str| OpenAiChat.remedy(&ErrorBody::from_bytes(400, body.as_bytes()));
        let system = r#"{"error":{"code":"unsupported_value","message":"'messages[0].role' does not support 'system' with this model"}}"#;
        assert_eq!(remedy(system), Some(Quirk::DeveloperRole));
        let cap = r#"{"error":{"code":"unsupported_parameter","message":"Use 'max_completion_tokens' instead."}}"#;
        assert_eq!(remedy(cap), Some(Quirk::MaxCompletionTokens));
        assert_eq!(remedy(r#"{"detail":"Extra inputs: stream_options"}"#), Some(Quirk::NoStreamOptions));
        assert_eq!(remedy(r#"{"error":{"message":"bad schema"}}"#), None);
    }

    #[test]
    fn a_key_is_a_bearer_and_no_key_is_no_header() {
        let headers = OpenAiChat.headers(Some(&SecretString::from("sk-1\n".to_owned())), &BTreeSet::new());
        assert_eq!(headers["authorization"], "Bearer sk-1");
        assert!(headers["authorization"].is_sensitive());
        assert!(OpenAiChat.headers(None, &BTreeSet::new()).is_empty());
    }
}
