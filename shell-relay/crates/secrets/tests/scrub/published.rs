//! Tokens from public documentation, put together here so that no scanner takes them for a leak.

use std::io::{self, Write};

use cohab_secrets::Scrubber;

use crate::samples::is_gone;

/// The documentation, and the token in parts. All tokens are made up by their services to be shown.
const PUBLISHED: &[(&str, &[&str])] = &[
    ("AWS, user guide of IAM: access key", &["AKIA", "IOSFODNN7EXAMPLE"]),
    ("AWS, user guide of IAM: another one", &["AKIA", "I44QH8DHBEXAMPLE"]),
    ("AWS, user guide of IAM: temporary access key", &["ASIA", "IOSFODNN7EXAMPLE"]),
    ("AWS, user guide of IAM: secret key", &["AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI", "/K7MDENG/bPxRfiCYEXAMPLEKEY"]),
    ("AWS, credentials file: secret key", &["aws_secret_access_key = je7MtGbClwBF", "/2Zp9Utk/h3yCo8nvbEXAMPLEKEY"]),
    ("Stripe, API reference: test key", &["sk_test_", "4eC39HqLyjWDarjtT1zdp7dc"]),
    ("Stripe, API reference: older test key", &["sk_test_", "BQokikJOvBiI2HlWgH4olfQ2"]),
    (
        "jwt.io: the first example",
        &[
            "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9",
            ".eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ",
            ".SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c",
        ],
    ),
    (
        "RFC 7519: the first example",
        &[
            "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9",
            ".eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ",
            ".dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
        ],
    ),
    ("RFC 6750: bearer token", &["Authorization: Bearer mF_9.B5f-4.1JqM", ""]),
    ("RFC 7617: basic authorization", &["Authorization: Basic QWxhZGRpbjpv", "cGVuIHNlc2FtZQ=="]),
    ("RFC 6749: access token in JSON", &["\"access_token\":\"2YotnFZFE", "jr1zCsicMWpAA\""]),
    (
        "Slack, documentation of webhooks",
        &["https:/", "/hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX"],
    ),
    ("Slack, documentation of tokens: bot", &["xoxb-123456789012-1234567890123", "-4mt0t4l1yf3k3t0k3nabcde"]),
    ("PostgreSQL manual: password in an address", &["postgresql://user:", "secret@localhost"]),
    ("git manual: password in an address", &["https://username:", "pa55-w0rd@example.com/repository.git"]),
];

/// By design too plain to differ from words: letters alike, a word of the dictionary.
const TOO_PLAIN: &[&str] = &["Slack, documentation of webhooks", "PostgreSQL manual: password in an address"];

/// The secret part of a text with a token in it.
fn secret(text: &str) -> &str {
    let value = text.rsplit([' ', '"']).find(|part| !part.is_empty()).unwrap_or(text);
    let value = value.split_once('=').filter(|(name, _)| name.starts_with("AWS")).map_or(value, |(_, value)| value);
    value.split_once("://").map_or(value, |(_, rest)| match rest.split_once('@') {
        Some((user, _)) => user.rsplit(':').next().unwrap_or(user),
        None => rest.rsplit('/').next().unwrap_or(rest),
    })
}

#[test]
fn tokens_of_public_documentation_are_found_unless_they_are_plain_words() {
    let (mut found, mut told, mut missed) = (0, String::new(), Vec::new());
    for (origin, parts) in PUBLISHED {
        let text = parts.concat();
        let clean = Scrubber::default().text(&text).into_owned();
        let is_found = is_gone(secret(&text), clean.as_bytes());
        found += usize::from(is_found);
        if !is_found {
            told += &format!("{origin}: {clean}\n");
            missed.push(origin);
        }
    }
    assert!(missed.iter().all(|origin| TOO_PLAIN.contains(origin)), "{found} of {}\n{told}", PUBLISHED.len());
    let _ = writeln!(io::stderr(), "{found} of {}\n{told}", PUBLISHED.len());
}
