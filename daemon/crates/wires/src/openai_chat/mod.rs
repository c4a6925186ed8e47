//! The wire `openai-chat` implements Chat Completions of OpenAI, and the dialects of many services and local servers: request bodies and
//! folds. It does not send or retry.
//!
//! Terminal mark: a `finish_reason`, or `[DONE]` if every call's arguments parse.

mod fast_path;
mod fold;
mod ids;
mod printed;
mod request;
mod slots;
mod think;
mod vendors;

use std::collections::BTreeSet;

use http::header::{HeaderMap, HeaderName, HeaderValue};
use secrecy::SecretString;
use serde_json::Value;
use url::Url;

pub(super) use self::ids::SentIds;
use cohab_model_api::{ModelRequest, ProviderErrorKind};

use super::{
    error::ErrorBody,
    listed_models,
    wire::{self, Fold, Model, Options, Quirk, Vendor, Wire},
};

/// The Chat Completions API.
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

    fn headers(&self, key: Option<&SecretString>, quirks: &BTreeSet<Quirk>) -> HeaderMap {
        let mut headers = HeaderMap::new();
        match key {
            Some(key) if quirks.contains(&Quirk::ApiKeyHeader) => wire::insert_secret(&mut headers, "api-key", "", key),
            key => headers = bearer(key),
        }
        if quirks.contains(&Quirk::NamesCaller) {
            for (name, value) in [("http-referer", env!("CARGO_PKG_REPOSITORY")), ("x-title", "cohab")] {
                headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
            }
        }
        headers
    }

    fn body(&self, request: &ModelRequest, options: &Options<'_>) -> Value {
        request::body(request, options)
    }

    fn fold(&self, request: &ModelRequest, options: &Options<'_>) -> Box<dyn Fold> {
        Box::new(fold::ChatFold::new(request, options))
    }

    fn remedy(&self, error: &ErrorBody) -> Option<Quirk> {
        let text = error.text.to_ascii_lowercase();
        if refuses_tools(error.status, &text) {
            return Some(Quirk::NoTools);
        }
        if matches!(error.status, Some(400 | 422 | 500)) && text.contains("system role not supported") {
            return Some(Quirk::NoSystemRole);
        }
        if matches!(error.status, Some(400 | 422 | 500)) && refuses_order(&text) {
            return Some(Quirk::AnswerBehindResults);
        }
        if error.status == Some(404) && !text.contains("model") {
            return Some(Quirk::NoVersionFolder);
        }
        let is_refused = error.kind() == ProviderErrorKind::InvalidRequest;
        let by_word = REMEDIES.iter().find(|(word, _)| text.contains(word)).map(|(_, quirk)| *quirk);
        let is_role = error.codes.contains("unsupported_value") && text.contains("'system'");
        let by_meaning = || match () {
            () if is_role => Some(Quirk::DeveloperRole),
            () if wire::refuses_temperature(&text) => Some(Quirk::NoTemperature),
            () => refuses_effort(&text).then_some(Quirk::NoReasoningEffort),
        };
        by_word.or_else(by_meaning).filter(|_| is_refused)
    }

    fn models_url(&self, base: &Url) -> Url {
        url_at(base, "models", false)
    }

    fn models(&self, answer: &Value) -> Vec<Model> {
        listed_models::of_data(answer)
    }
}

/// Words of refusals, in lower case, and the quirk to apply.
const REMEDIES: &[(&str, Quirk)] = &[
    ("max_completion_tokens", Quirk::MaxCompletionTokens),
    ("stream_options", Quirk::NoStreamOptions),
    ("with a length of 9", Quirk::ShortCallIds),
    ("cache_control", Quirk::NoCacheControl),
    ("missing `reasoning_content`", Quirk::ReasoningInCalls),
    ("reasoning_content is missing", Quirk::ReasoningInCalls),
];

/// Whether a refusal, in lower case, is about the order of roles.
fn refuses_order(text: &str) -> bool {
    const WORDS: &[&str] = &["unexpected role 'user' after role 'tool'", "roles must alternate"];
    WORDS.iter().any(|word| text.contains(word))
}

/// Whether a refusal, in lower case, says that tools cannot be called.
pub(super) fn refuses_tools(status: Option<u16>, text: &str) -> bool {
    const WORDS: &[&str] = &[
        "does not support tools",
        "does not support tool",
        "support tool use",
        "enable-auto-tool-choice",
        "tools are not supported",
    ];
    matches!(status, Some(400 | 404 | 422)) && WORDS.iter().any(|word| text.contains(word))
}

/// Paths of calls, which a base URL may end with by mistake or by a service's own documentation.
const CALL_PATHS: &[&str] = &["/chat/completions", "/responses"];

/// The URL of `path`. A base without a path gets the standard version folder, unless `is_bare`.
pub(super) fn url_at(base: &Url, path: &str, is_bare: bool) -> Url {
    let mut base = base.clone();
    let stem = base.path().trim_end_matches('/').to_owned();
    let stem = CALL_PATHS.iter().find_map(|call| stem.strip_suffix(call)).unwrap_or(&stem);
    base.set_path(stem);
    let has_folder = is_bare || !stem.is_empty();
    let is_azure =
        base.host_str().is_some_and(|host| vendors::AZURE_DOMAINS.iter().any(|domain| host.ends_with(domain)));
    let folder = if is_azure { "openai/v1" } else { "v1" };
    wire::append_path(&base, &if has_folder { path.to_owned() } else { format!("{folder}/{path}") })
}

/// Whether a refusal, in lower case, is about the reasoning effort.
pub(super) fn refuses_effort(text: &str) -> bool {
    let names_values = text.contains("supported values are") && text.contains("'medium'");
    names_values || ["reasoning_effort", "reasoning.effort", "effort level"].iter().any(|name| text.contains(name))
}

/// The cost that the service reports: a number of US dollars, or an object with their sum.
pub(super) fn cost_microusd(usage: &Value) -> Option<u64> {
    let dollars = usage.get("cost").and_then(|cost| cost.as_f64().or_else(|| cost.get("total_cost")?.as_f64()))?;
    let micros = (dollars * 1e6).round();
    // Larger floats cannot count single units, and no real cost is as high.
    (0.0..=9e15).contains(&micros).then_some(micros as u64)
}

/// The key in the form that both OpenAI wires send.
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
        for base in ["https://r.openai.azure.com", "https://r.services.ai.azure.com/openai/v1/"] {
            let url = OpenAiChat.url(&Url::parse(base).expect("a URL"), &Options::default());
            assert_eq!(url.path(), "/openai/v1/chat/completions");
        }
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
        let unknown_field = r#"{"detail":[{"type":"extra_forbidden","loc":["body","reasoning_effort"],"msg":"Extra inputs are not permitted"}]}"#;
        assert_eq!(remedy(unknown_field), Some(Quirk::NoReasoningEffort));
        for (message, quirk) in [
            ("Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9.", Quirk::ShortCallIds),
            ("Missing `reasoning_content` field in the assistant message", Quirk::ReasoningInCalls),
            ("reasoning_content is missing in assistant tool call message", Quirk::ReasoningInCalls),
            ("m does not support tools", Quirk::NoTools),
            ("tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set", Quirk::NoTools),
            ("System role not supported", Quirk::NoSystemRole),
            ("Unexpected role 'user' after role 'tool'", Quirk::AnswerBehindResults),
            ("conversation roles must alternate user and assistant", Quirk::AnswerBehindResults),
            ("unknown variant: cache_control", Quirk::NoCacheControl),
            ("does not support effort level 'none'", Quirk::NoReasoningEffort),
        ] {
            assert_eq!(
                remedy(&serde_json::json!({"error": {"message": message}}).to_string()),
                Some(quirk),
                "{message}"
            );
        }
        let nobody = ErrorBody::from_bytes(404, br#"{"error":{"message":"No endpoints found that support tool use"}}"#);
        assert_eq!(OpenAiChat.remedy(&nobody), Some(Quirk::NoTools));
        assert_eq!(remedy(r#"{"error":{"message":"bad schema"}}"#), None);
        assert_eq!(OpenAiChat.remedy(&ErrorBody::from_bytes(500, br#"{"error":"stream_options"}"#)), None);
    }

    #[test]
    fn a_key_is_a_bearer_and_no_key_is_no_header() {
        let headers = OpenAiChat.headers(Some(&SecretString::from("sk-1\n".to_owned())), &BTreeSet::new());
        assert_eq!(headers["authorization"], "Bearer sk-1");
        assert!(headers["authorization"].is_sensitive());
        assert!(OpenAiChat.headers(None, &BTreeSet::new()).is_empty());
    }

    #[test]
    fn azure_and_openrouter_get_headers_of_their_own() {
        let key = SecretString::from("sk-1".to_owned());
        let azure = OpenAiChat.headers(Some(&key), &BTreeSet::from([Quirk::ApiKeyHeader]));
        assert_eq!((&azure["api-key"], azure.len()), (&HeaderValue::from_static("sk-1"), 1));
        assert!(azure["api-key"].is_sensitive());
        let router = OpenAiChat.headers(Some(&key), &BTreeSet::from([Quirk::NamesCaller]));
        assert_eq!(
            (&router["authorization"], &router["x-title"]),
            (&HeaderValue::from_static("Bearer sk-1"), &HeaderValue::from_static("cohab"))
        );
        assert!(router["http-referer"].to_str().is_ok_and(|url| url.starts_with("https://")));
    }

    #[test]
    fn every_vendor_is_called_at_its_own_address() {
        let url = |id: &str| {
            let vendor = vendors::VENDORS.iter().find(|vendor| vendor.id == id).expect("it is known");
            let quirks: BTreeSet<Quirk> = vendor.quirks.iter().copied().collect();
            let base = Url::parse(vendor.base_url).expect("a URL");
            OpenAiChat.url(&base, &Options { quirks: &quirks, ..Options::default() }).to_string()
        };
        for (id, expected) in [
            ("openai", "https://api.openai.com/v1/chat/completions"),
            ("openrouter", "https://openrouter.ai/api/v1/chat/completions"),
            ("deepseek", "https://api.deepseek.com/v1/chat/completions"),
            ("groq", "https://api.groq.com/openai/v1/chat/completions"),
            ("perplexity", "https://api.perplexity.ai/chat/completions"),
            ("zai", "https://api.z.ai/api/paas/v4/chat/completions"),
            ("fireworks", "https://api.fireworks.ai/inference/v1/chat/completions"),
            ("llama-cpp", "http://127.0.0.1:8080/v1/chat/completions"),
        ] {
            assert_eq!(url(id), expected);
        }
    }
}
