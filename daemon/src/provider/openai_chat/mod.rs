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
        let has_folder = !base.path().trim_matches('/').is_empty() || options.has(Quirk::NoVersionFolder);
        wire::append_path(base, if has_folder { "chat/completions" } else { "v1/chat/completions" })
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
        let has_folder = !base.path().trim_matches('/').is_empty();
        wire::append_path(base, if has_folder { "models" } else { "v1/models" })
    }

    fn models(&self, answer: &Value) -> Vec<Model> {
        models::of_data(answer)
    }
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
