//! Builds the HTTP client, one per endpoint.

use std::{net::IpAddr, time::Duration};

use reqwest::{Certificate, Client, ClientBuilder, Url, redirect};
use rustls::crypto::ring;
use secrecy::SecretString;

const POOL_IDLE: Duration = Duration::from_secs(45);
const TCP_KEEPALIVE: Duration = Duration::from_secs(30);
const HTTP2_KEEPALIVE: Duration = Duration::from_secs(20);

/// Whether `url` is on this machine.
pub fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost"
        || host.ends_with(".localhost")
        || host.parse::<IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback())
}

/// Host, and port where it is not the scheme's own.
pub fn host_of(url: &Url) -> String {
    let host = url.host_str().unwrap_or("unknown host");
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

/// The secret parts of `url`: its login, and query values named like a key. Raw and decoded.
pub(crate) fn secrets_in(url: &Url) -> Vec<SecretString> {
    let pairs = url.query().unwrap_or_default().split('&').filter_map(|pair| pair.split_once('='));
    let keys = pairs.filter(|(name, _)| is_secret(name)).map(|(_, value)| value);
    let raw = [Some(url.username()), url.password()].into_iter().flatten().chain(keys);
    let both = raw.flat_map(|secret| [secret.to_owned(), decoded(url, secret)]);
    both.filter(|secret| !secret.is_empty()).map(SecretString::from).collect()
}

fn decoded(url: &Url, text: &str) -> String {
    let mut url = url.clone();
    url.set_query(Some(&format!("x={text}")));
    url.query_pairs().next().map(|(_, value)| value.into_owned()).unwrap_or_default()
}

fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["key", "token", "secret", "sig", "auth", "pass"].iter().any(|word| name.contains(word))
}

/// A client for the endpoint at `url`: no redirects (a redirected POST becomes a GET that looks like success), no proxy for this
/// machine, no limit on a whole answer.
///
/// # Errors
/// One sentence, when TLS cannot be set up.
pub fn client(url: &Url, connect: Duration) -> Result<Client, String> {
    // An error: it is installed already.
    let _ = ring::default_provider().install_default();
    let new = || {
        let builder = Client::builder()
            .redirect(redirect::Policy::none())
            .connect_timeout(connect)
            .pool_idle_timeout(POOL_IDLE)
            .tcp_keepalive(TCP_KEEPALIVE)
            .http2_keep_alive_interval(HTTP2_KEEPALIVE)
            .user_agent(concat!("cohab/", env!("CARGO_PKG_VERSION")));
        if is_loopback(url) { builder.no_proxy() } else { builder }
    };
    let built = if url.scheme() == "http" {
        // Needs no roots, and must not fail on a machine without any.
        new().tls_certs_only([]).build()
    } else {
        new().build().or_else(|_| with_bundled_roots(new()).build())
    };
    built.map_err(|error| format!("no HTTP client can be set up: {}", cause(&error)))
}

/// For machines without installed certificates.
fn with_bundled_roots(builder: ClientBuilder) -> ClientBuilder {
    let roots =
        webpki_root_certs::TLS_SERVER_ROOT_CERTS.iter().filter_map(|der| Certificate::from_der(der.as_ref()).ok());
    builder.tls_certs_merge(roots)
}

/// The innermost cause in words. The outer ones carry the URL, which may hold a key.
pub fn cause(error: &reqwest::Error) -> String {
    let mut innermost: &dyn std::error::Error = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    if std::ptr::addr_eq(innermost, std::ptr::from_ref(error)) {
        "the request failed".to_owned()
    } else {
        innermost.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_recognised_in_every_spelling() {
        let is_local = |text: &str| is_loopback(&Url::parse(text).expect("a URL"));
        for url in [
            "http://localhost:1/v1",
            "http://127.0.0.1",
            "http://127.9.9.9:8",
            "http://[::1]:8",
            "http://[::ffff:127.0.0.1]/",
            "http://a.localhost/",
        ] {
            assert!(is_local(url), "{url}");
        }
        for url in [
            "https://api.openai.com",
            "http://10.0.0.1",
            "http://127.0.0.1.example.com",
            "http://localhost.example.com",
            "http://[::2]/",
        ] {
            assert!(!is_local(url), "{url}");
        }
    }

    #[test]
    fn secrets_of_a_url_are_its_login_and_the_keys_of_its_query() {
        let url =
            Url::parse("https://me:pa%24s@h/v1?api-version=2024-10-21&api_key=a%2Fb&access_token=t").expect("a URL");
        let secrets: Vec<String> =
            secrets_in(&url).iter().map(|secret| secrecy::ExposeSecret::expose_secret(secret).to_owned()).collect();
        assert_eq!(secrets, ["me", "me", "pa%24s", "pa$s", "a%2Fb", "a/b", "t", "t"]);
    }

    #[test]
    fn clients_are_built_without_panic_for_both_schemes() {
        for url in ["http://127.0.0.1:1", "https://api.openai.com/v1"] {
            assert!(client(&Url::parse(url).expect("a URL"), Duration::from_secs(1)).is_ok(), "{url}");
        }
        assert!(with_bundled_roots(Client::builder()).build().is_ok());
    }
}
