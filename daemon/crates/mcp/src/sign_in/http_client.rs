//! The requests of a sign-in: encrypted or to this machine, without redirects to elsewhere, of bounded size and time.

use std::time::Duration;

use cohab_models::http;
use futures::StreamExt as _;
use reqwest::{Url, header::LOCATION};
use rmcp::transport::auth::{
    OAuthHttpClient, OAuthHttpClientError, OAuthHttpClientFuture, OAuthHttpRedirectPolicy, OAuthHttpRequest,
};

/// For a connection.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);
/// For a whole answer.
const ANSWER_LIMIT: Duration = Duration::from_secs(30);
/// Largest answer.
const MAX_ANSWER_BYTES: usize = 1024 * 1024;
/// Most redirects of one request.
const MAX_REDIRECTS: usize = 5;

/// The client for the sign-in at one server.
pub(super) struct OauthHttp {
    /// A server on this machine may name services on it.
    is_local: bool,
}

impl OauthHttp {
    pub(super) fn for_server(address: &Url) -> Self {
        Self { is_local: http::is_loopback(address) }
    }

    /// Checks that an address is encrypted, or on this machine if the server is.
    ///
    /// # Errors
    /// A sentence.
    pub(super) fn check(&self, url: &Url) -> Result<(), String> {
        match url.scheme() {
            "https" => Ok(()),
            "http" if self.is_local && http::is_loopback(url) => Ok(()),
            _ => Err(format!(
                "the sign-in leads to {}, which is neither encrypted nor on this machine",
                http::host_of(url)
            )),
        }
    }

    async fn answer(&self, request: OAuthHttpRequest) -> Result<::http::Response<Vec<u8>>, OAuthHttpClientError> {
        let (parts, body) = request.request.into_parts();
        let mut url = Url::parse(&parts.uri.to_string())?;
        for _ in 0..=MAX_REDIRECTS {
            self.check(&url)?;
            let client = http::client(&url, CONNECT_LIMIT)?;
            let asked = client
                .request(parts.method.clone(), url.clone())
                .headers(parts.headers.clone())
                .timeout(ANSWER_LIMIT)
                .body(body.clone());
            let answer = asked.send().await.map_err(|error| http::cause(&error))?;
            let next = answer.headers().get(LOCATION).filter(|_| answer.status().is_redirection());
            let next = next.and_then(|place| url.join(place.to_str().ok()?).ok());
            match next {
                // A secret in the body must not reach another place.
                Some(next)
                    if request.redirect_policy == OAuthHttpRedirectPolicy::Follow && next.origin() == url.origin() =>
                {
                    url = next;
                }
                _ => return whole(answer).await,
            }
        }
        Err(format!("{} redirects without end", http::host_of(&url)).into())
    }
}

impl OAuthHttpClient for OauthHttp {
    fn execute(&self, request: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        Box::pin(self.answer(request))
    }
}

async fn whole(answer: reqwest::Response) -> Result<::http::Response<Vec<u8>>, OAuthHttpClientError> {
    let mut response = ::http::Response::builder().status(answer.status());
    for (name, value) in answer.headers() {
        response = response.header(name, value);
    }
    let mut body = Vec::new();
    let mut bytes = answer.bytes_stream();
    while let Some(chunk) = bytes.next().await {
        let chunk = chunk.map_err(|error| http::cause(&error))?;
        if body.len() + chunk.len() > MAX_ANSWER_BYTES {
            return Err("an answer of the sign-in has more than 1 MiB".into());
        }
        body.extend_from_slice(&chunk);
    }
    Ok(response.body(body)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_encrypted_places_and_this_machine_are_asked() {
        let url = |text: &str| Url::parse(text).unwrap();
        let remote = OauthHttp::for_server(&url("https://example.org/mcp"));
        assert!(remote.check(&url("https://login.example.net/token")).is_ok());
        for place in
            ["http://login.example.net/", "http://169.254.169.254/token", "http://127.0.0.1:1/token", "file:///x"]
        {
            assert!(remote.check(&url(place)).is_err(), "{place}");
        }
        let local = OauthHttp::for_server(&url("http://127.0.0.1:8/mcp"));
        assert!(local.check(&url("http://localhost:9/token")).is_ok());
        assert!(local.check(&url("http://10.0.0.1/token")).is_err());
    }
}
