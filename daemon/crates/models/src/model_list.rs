//! Asks a service for the list of its models.

use std::{collections::BTreeSet, time::Duration};

use cohab_model_api::ProviderError;
use cohab_wires::{
    error::{ErrorBody, ErrorContext},
    wire::{Model, Quirk},
};
use reqwest::Response;
use secrecy::SecretString;
use tokio::time::timeout;

use super::{http, resolved_endpoint::ResolvedEndpoint, transport};

/// For the whole list.
const LIMIT: Duration = Duration::from_secs(10);
/// For connecting.
const CONNECT_LIMIT: Duration = Duration::from_secs(5);
/// Longest list that is read.
const MAX_BODY_BYTES: usize = 4 * 1024 * 1024;

/// Fetches the list, in the service's own order.
///
/// # Errors
/// The service refuses, is not there or gives no list.
pub async fn models(service: &ResolvedEndpoint, key: Option<SecretString>) -> Result<Vec<Model>, ProviderError> {
    let mut endpoint = service.endpoint(service.likely_model().unwrap_or_default().to_owned());
    endpoint.key = key;
    let subject = endpoint.subject();
    let quirks: BTreeSet<Quirk> = endpoint.vendor.iter().flat_map(|vendor| vendor.quirks).copied().collect();
    let client = http::client(&endpoint.base, CONNECT_LIMIT).map_err(|what| subject.network(&what))?;
    let url = endpoint.wire.models_url(&endpoint.base);
    let request = client.get(url.clone()).headers(endpoint.wire.headers(endpoint.key.as_ref(), &quirks)).send();
    let answer = async {
        let response = request.await.map_err(|error| subject.network(&http::cause(&error)))?;
        let status = response.status();
        if status.is_redirection() {
            return Err(transport::redirected(&response, &url, &subject));
        }
        if !status.is_success() {
            let body = ErrorBody::from_bytes(status.as_u16(), &transport::read_error_body(response).await);
            return Err(subject.reported(&body));
        }
        read(response, &subject).await
    };
    let late = |_| subject.network(&format!("it gave no list of its models within {} s", LIMIT.as_secs()));
    let bytes = timeout(LIMIT, answer).await.map_err(late)??;
    let list = serde_json::from_slice(&bytes).map_err(|_| subject.protocol("did not return a list of models"))?;
    Ok(endpoint.wire.models(&list))
}

async fn read(mut response: Response, subject: &ErrorContext) -> Result<Vec<u8>, ProviderError> {
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| subject.network(&http::cause(&error)))? {
        bytes.extend_from_slice(&chunk);
        if bytes.len() > MAX_BODY_BYTES {
            return Err(subject.protocol("gave a list of models that is longer than 4 MiB"));
        }
    }
    Ok(bytes)
}
