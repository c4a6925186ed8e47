//! Sends small bounded requests to a server of unknown kind.

use reqwest::{Client, Url};
use serde_json::Value;

/// Most bytes of an answer that are read.
const MAX_BODY_BYTES: usize = 1024 * 1024;

/// The JSON at `path` below `base`, if there is any.
pub(super) async fn get(client: &Client, base: &Url, path: &str) -> Option<Value> {
    answer(client.get(base.join(path).ok()?)).await
}

/// The JSON answer to `body` at `path` below `base`, if there is one.
pub(super) async fn post(client: &Client, base: &Url, path: &str, body: &Value) -> Option<Value> {
    answer(client.post(base.join(path).ok()?).json(body)).await
}

async fn answer(request: reqwest::RequestBuilder) -> Option<Value> {
    let mut response = request.send().await.ok()?;
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.ok()? {
        bytes.extend_from_slice(&chunk);
        if bytes.len() > MAX_BODY_BYTES {
            return None;
        }
    }
    let is_success = response.status().is_success();
    let value: Value = serde_json::from_slice(&bytes).ok()?;
    // A server that still loads its model reports that as an error.
    (is_success || value.get("error").is_some()).then_some(value)
}
