//! The wire `gemini` implements generateContent of Google's Gemini API: request bodies and folds. It does not send or retry.
//!
//! Terminal mark: a `finishReason`, or a `promptFeedback.blockReason`.

mod arguments;
mod fold;
mod parts;
mod request;
mod schema;

use std::collections::BTreeSet;

use cohab_model_api::{ModelRequest, ProviderErrorKind};
use http::header::HeaderMap;
use secrecy::SecretString;
use serde_json::Value;
use url::Url;

use super::{
    error::ErrorBody,
    history,
    wire::{self, Fold, Model, Options, Quirk, VENDOR, Vendor, Wire},
};

/// The Gemini API.
pub(crate) struct Gemini;

const NAME: &str = "gemini";
/// Most models on a page of the list.
const PAGE_SIZE: &str = "1000";

static VENDORS: &[Vendor] = &[Vendor {
    id: NAME,
    name: "Google Gemini",
    base_url: "https://generativelanguage.googleapis.com",
    key_variables: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
    base_url_variable: "GOOGLE_GEMINI_BASE_URL",
    default_model: "gemini-3.5-flash",
    rank: 2,
    ..VENDOR
}];

impl Wire for Gemini {
    fn name(&self) -> &'static str {
        NAME
    }

    fn vendors(&self) -> &'static [Vendor] {
        VENDORS
    }

    fn url(&self, base: &Url, options: &Options<'_>) -> Url {
        let is_path = options.model.contains('/');
        let model = if is_path { options.model.to_owned() } else { format!("models/{}", options.model) };
        let mut url = wire::append_path(&version_folder(base), &format!("{model}:streamGenerateContent"));
        if !url.query_pairs().any(|(name, _)| name == "alt") {
            url.query_pairs_mut().append_pair("alt", "sse");
        }
        url
    }

    fn headers(&self, key: Option<&SecretString>, _: &BTreeSet<Quirk>) -> HeaderMap {
        let mut headers = HeaderMap::new();
        if let Some(key) = key {
            wire::insert_secret(&mut headers, "x-goog-api-key", "", key);
        }
        headers
    }

    fn body(&self, request: &ModelRequest, options: &Options<'_>) -> Value {
        request::body(request, options)
    }

    fn fold(&self, request: &ModelRequest, _: &Options<'_>) -> Box<dyn Fold> {
        Box::new(fold::ContentFold::beside(history::call_ids(&request.messages)))
    }

    fn remedy(&self, error: &ErrorBody) -> Option<Quirk> {
        if error.kind() != ProviderErrorKind::InvalidRequest {
            return None;
        }
        let text = error.text.to_ascii_lowercase().replace('_', " ");
        if text.contains("thought") && text.contains("signature") {
            let is_missing = text.contains("missing");
            Some(if is_missing { Quirk::StandInSignatures } else { Quirk::NoThoughtSignatures })
        } else if text.contains("thinking") {
            Some(Quirk::NoReasoningEffort)
        } else {
            wire::refuses_temperature(&text).then_some(Quirk::NoTemperature)
        }
    }

    fn models_url(&self, base: &Url) -> Url {
        let mut url = wire::append_path(&version_folder(base), "models");
        url.query_pairs_mut().append_pair("pageSize", PAGE_SIZE);
        url
    }

    fn models(&self, answer: &Value) -> Vec<Model> {
        let rows = answer.get("models").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        rows.iter().filter_map(model).collect()
    }
}

fn model(row: &Value) -> Option<Model> {
    let methods = row.get("supportedGenerationMethods").and_then(Value::as_array);
    if methods.is_some_and(|methods| !methods.iter().any(|method| method == "generateContent")) {
        return None;
    }
    let name = row.get("name")?.as_str()?;
    let id = name.strip_prefix("models/").unwrap_or(name).to_owned();
    let context_window_tokens = row.get("inputTokenLimit").and_then(Value::as_u64).filter(|size| *size > 0);
    (!id.is_empty()).then(|| Model { id, context_window_tokens, ..Model::default() })
}

/// Shortens `base` to its version folder. Users also enter the address of the list, or of Google's other API.
fn version_folder(base: &Url) -> Url {
    let mut url = base.clone();
    let stem = base.path().trim_end_matches('/');
    let stem = ["/models", "/openai"].iter().find_map(|end| stem.strip_suffix(end)).unwrap_or(stem).to_owned();
    let is_version = |folder: &str| folder.strip_prefix('v').is_some_and(|rest| rest.starts_with(char::is_numeric));
    if stem.split('/').any(is_version) {
        url.set_path(&stem);
    } else {
        url.set_path(&format!("{stem}/v1beta"));
    }
    url
}

mod counts;
mod fast_path;
#[cfg(test)]
#[path = "wire_tests.rs"]
mod tests;
