//! The wire `anthropic` implements the Messages API: request bodies and folds. It does not send or retry.
//!
//! Terminal mark: `message_stop`.

mod blocks;
mod fast_path;
mod fold;
mod request;

use std::collections::BTreeSet;

use cohab_model_api::{ModelRequest, ProviderErrorKind};
use http::header::{HeaderMap, HeaderName, HeaderValue};
use secrecy::SecretString;
use serde_json::Value;
use url::Url;

use super::{
    error::ErrorBody,
    history, listed_models,
    wire::{self, Fold, Model, Options, Quirk, VENDOR, Vendor, Wire},
};

/// The Messages API.
pub(crate) struct Anthropic;

const NAME: &str = "anthropic";
const VERSION: &str = "2023-06-01";

static VENDORS: &[Vendor] = &[Vendor {
    id: NAME,
    name: "Anthropic",
    base_url: "https://api.anthropic.com",
    key_variables: &["ANTHROPIC_API_KEY"],
    base_url_variable: "ANTHROPIC_BASE_URL",
    default_model: "claude-sonnet-4-5",
    rank: 0,
    ..VENDOR
}];

impl Wire for Anthropic {
    fn name(&self) -> &'static str {
        NAME
    }

    fn vendors(&self) -> &'static [Vendor] {
        VENDORS
    }

    fn url(&self, base: &Url, _: &Options<'_>) -> Url {
        let has_version = base.path().trim_end_matches('/').ends_with("/v1");
        wire::append_path(base, if has_version { "messages" } else { "v1/messages" })
    }

    fn headers(&self, key: Option<&SecretString>, _: &BTreeSet<Quirk>) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(HeaderName::from_static("anthropic-version"), HeaderValue::from_static(VERSION));
        if let Some(key) = key {
            wire::insert_secret(&mut headers, "x-api-key", "", key);
        }
        headers
    }

    fn body(&self, request: &ModelRequest, options: &Options<'_>) -> Value {
        request::body(request, options)
    }

    fn default_max_output_tokens(&self) -> Option<u32> {
        Some(request::DEFAULT_MAX_TOKENS)
    }

    fn fold(&self, request: &ModelRequest, _: &Options<'_>) -> Box<dyn Fold> {
        Box::new(fold::MessageFold::beside(history::call_ids(&request.messages)))
    }

    fn remedy(&self, error: &ErrorBody) -> Option<Quirk> {
        let text = error.text.to_ascii_lowercase();
        let names = |words: &[&str]| words.iter().any(|word| text.contains(word));
        if error.kind() != ProviderErrorKind::InvalidRequest || error.longest_answer_tokens().is_some() {
            None
        } else if names(&["cache_control"]) {
            Some(Quirk::NoCacheControl)
        } else if wire::refuses_temperature(&text) {
            Some(Quirk::NoTemperature)
        } else {
            names(&["thinking", "budget_tokens", "effort"]).then_some(Quirk::NoReasoningEffort)
        }
    }

    fn models_url(&self, base: &Url) -> Url {
        let has_version = base.path().trim_end_matches('/').ends_with("/v1");
        wire::append_path(base, if has_version { "models" } else { "v1/models" })
    }

    fn models(&self, answer: &Value) -> Vec<Model> {
        listed_models::of_data(answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_base_works_with_and_without_version_and_slash() {
        for base in ["http://h:1", "http://h:1/", "http://h:1/v1", "http://h:1/v1/", "http://h:1/v1/messages"] {
            assert_eq!(
                Anthropic.url(&Url::parse(base).expect("a URL"), &Options::default()).as_str(),
                "http://h:1/v1/messages",
                "{base}"
            );
        }
    }

    #[test]
    fn refused_options_have_a_remedy_and_other_refusals_none() {
        let remedy = |text: &str| {
            let body =
                serde_json::json!({"type": "error", "error": {"type": "invalid_request_error", "message": text}});
            Anthropic.remedy(&ErrorBody::from_bytes(400, body.to_string().as_bytes()))
        };
        assert_eq!(remedy("tools.0.cache_control: Extra inputs are not permitted"), Some(Quirk::NoCacheControl));
        assert_eq!(remedy("'m' does not support thinking."), Some(Quirk::NoReasoningEffort));
        assert_eq!(remedy("This model does not support effort level 'high'"), Some(Quirk::NoReasoningEffort));
        assert_eq!(remedy("messages.0: bad shape"), None);
        assert_eq!(remedy("prompt is too long: 9 tokens > 5 maximum, thinking included"), None);
    }

    #[test]
    fn headers_are_exact_and_the_key_is_masked() {
        let headers = Anthropic.headers(Some(&SecretString::from("sk-ant-1".to_owned())), &BTreeSet::new());
        assert_eq!(
            (headers["anthropic-version"].as_bytes(), headers["x-api-key"].as_bytes()),
            (&b"2023-06-01"[..], &b"sk-ant-1"[..])
        );
        assert!(!format!("{headers:?}").contains("sk-ant-1"));
        assert_eq!(Anthropic.headers(None, &BTreeSet::new()).len(), 1);
    }
}
