//! The wire `openai-responses` implements the Responses API of OpenAI and of the services and servers that follow it: request bodies and
//! folds. It does not send or retry. The service stores nothing: each request carries the whole conversation, with the encrypted reasoning
//! of the earlier answers.
//!
//! Terminal mark: `response.completed`, `response.incomplete` or `response.failed`.

mod fast_path;
mod fold;
mod items;
mod request;

use std::collections::BTreeSet;

use cohab_model_api::{ModelRequest, ProviderErrorKind};
use http::header::HeaderMap;
use secrecy::SecretString;
use serde_json::Value;
use url::Url;

use super::{
    error::ErrorBody,
    history, listed_models, openai_chat,
    wire::{self, Fold, Model, Options, Quirk, VENDOR, Vendor, Wire},
};

/// The Responses API.
pub(crate) struct OpenAiResponses;

const NAME: &str = "openai-responses";

/// OpenAI's key selects the wire `openai-chat`, which is listed before this one, unless the settings name this one.
static VENDORS: &[Vendor] = &[Vendor {
    id: NAME,
    name: "OpenAI",
    base_url: "https://api.openai.com/v1",
    key_variables: &["OPENAI_API_KEY"],
    base_url_variable: "OPENAI_BASE_URL",
    default_model: "gpt-4.1",
    ..VENDOR
}];

impl Wire for OpenAiResponses {
    fn name(&self) -> &'static str {
        NAME
    }

    fn vendors(&self) -> &'static [Vendor] {
        VENDORS
    }

    fn url(&self, base: &Url, options: &Options<'_>) -> Url {
        openai_chat::url_at(base, "responses", options.has(Quirk::NoVersionFolder))
    }

    fn headers(&self, key: Option<&SecretString>, _: &BTreeSet<Quirk>) -> HeaderMap {
        openai_chat::bearer(key)
    }

    fn body(&self, request: &ModelRequest, options: &Options<'_>) -> Value {
        request::body(request, options)
    }

    fn fold(&self, request: &ModelRequest, _: &Options<'_>) -> Box<dyn Fold> {
        Box::new(fold::ResponseFold::beside(history::call_ids(&request.messages)))
    }

    fn remedy(&self, error: &ErrorBody) -> Option<Quirk> {
        let text = error.text.to_ascii_lowercase();
        if openai_chat::refuses_tools(error.status, &text) {
            Some(Quirk::NoTools)
        } else if error.status == Some(404) && !text.contains("model") {
            Some(Quirk::NoVersionFolder)
        } else if error.kind() != ProviderErrorKind::InvalidRequest {
            None
        } else if text.contains("encrypted") || text.contains("'include'") {
            Some(Quirk::NoEncryptedReasoning)
        } else if text.contains("reasoning.summary") || text.contains("reasoning summar") {
            Some(Quirk::NoReasoningSummary)
        } else if wire::refuses_temperature(&text) {
            Some(Quirk::NoTemperature)
        } else {
            openai_chat::refuses_effort(&text).then_some(Quirk::NoReasoningEffort)
        }
    }

    fn models_url(&self, base: &Url) -> Url {
        openai_chat::url_at(base, "models", false)
    }

    fn models(&self, answer: &Value) -> Vec<Model> {
        listed_models::of_data(answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_base_works_with_and_without_version_slash_and_call() {
        let url = |base: &str| OpenAiResponses.url(&Url::parse(base).expect("a URL"), &Options::default());
        for base in [
            "http://h:1",
            "http://h:1/",
            "http://h:1/v1/",
            "http://h:1/v1/responses",
            "http://h:1/v1/chat/completions/",
        ] {
            assert_eq!(url(base).as_str(), "http://h:1/v1/responses", "{base}");
        }
        assert_eq!(url("https://h/openai?api-version=2").as_str(), "https://h/openai/responses?api-version=2");
        let quirks = BTreeSet::from([Quirk::NoVersionFolder]);
        let bare = OpenAiResponses
            .url(&Url::parse("http://h:1").expect("a URL"), &Options { quirks: &quirks, ..Options::default() });
        assert_eq!(bare.as_str(), "http://h:1/responses");
        let models = OpenAiResponses.models_url(&Url::parse("http://h:1/v1/responses").expect("a URL"));
        assert_eq!(models.as_str(), "http://h:1/v1/models");
    }

    #[test]
    fn refused_options_have_a_remedy() {
        let remedy = |status: u16, message: &str| {
            let body = serde_json::json!({"error": {"message": message, "type": "invalid_request_error"}}).to_string();
            OpenAiResponses.remedy(&ErrorBody::from_bytes(status, body.as_bytes()))
        };
        let cases = [
            ("Encrypted content is not supported with this model.", Some(Quirk::NoEncryptedReasoning)),
            ("Your organization must be verified to generate reasoning summaries.", Some(Quirk::NoReasoningSummary)),
            ("Unsupported parameter: 'reasoning.effort' is not supported here.", Some(Quirk::NoReasoningEffort)),
            ("Unsupported value: 'none'. Supported values are: 'low', 'medium'.", Some(Quirk::NoReasoningEffort)),
            ("m does not support tools", Some(Quirk::NoTools)),
            ("Invalid schema for function 'bash'.", None),
        ];
        for (message, quirk) in cases {
            assert_eq!(remedy(400, message), quirk, "{message}");
            assert_eq!(remedy(500, message), None, "{message}");
        }
        assert_eq!(remedy(404, "no such route"), Some(Quirk::NoVersionFolder));
        assert_eq!(remedy(404, "the model does not exist"), None);
    }
}
