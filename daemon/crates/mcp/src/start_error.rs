//! Why a server cannot be started or asked, in one line for people and the model.

use std::time::Duration;

use cohab_text::sanitize::one_line;
use reqwest::Url;
use rmcp::{
    service::{ClientInitializeError, ServiceError},
    transport::auth::WWWAuthenticateParams,
};

/// Longest reason, in columns.
const MAX_COLUMNS: usize = 300;

/// Stands for the address of a server where only scopes matter.
const NO_PLACE: &str = "http://localhost/";
/// A program ended while it was started.
pub(crate) const ENDED: &str = "it ended before it answered";

/// A reason in one line, harmless and bounded.
pub(crate) fn reason(text: &str) -> String {
    one_line(text.trim(), MAX_COLUMNS)
}

/// Why a server did not start.
pub(crate) fn of_start(name: &str, error: &ClientInitializeError) -> String {
    match error {
        _ if error.is_authorization_required() => sign_in(name, error.auth_challenge()),
        ClientInitializeError::ConnectionClosed(_) => ENDED.to_owned(),
        ClientInitializeError::JsonRpcError(error) => reason(&format!("it refused: {}", error.message)),
        ClientInitializeError::NoCompatibleProtocolVersion { .. } => {
            "it speaks no version of the protocol that cohab knows".to_owned()
        }
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => of_start(name, fallback),
        ClientInitializeError::TransportError { error, .. } => reason(&causes(&*error.error)),
        other => reason(&format!("it does not speak MCP as expected: {other}")),
    }
}

/// Why a request failed.
pub(crate) fn of_request(name: &str, error: &ServiceError) -> String {
    match error {
        _ if error.is_authorization_required() || error.auth_challenge().is_some() => {
            sign_in(name, error.auth_challenge())
        }
        ServiceError::McpError(error) => reason(&format!("it answered: {}", error.message)),
        ServiceError::TransportClosed => "it ended".to_owned(),
        ServiceError::TransportSend(error) => reason(&causes(&*error.error)),
        ServiceError::Timeout { timeout } => too_slow(*timeout),
        ServiceError::InputRequiredRoundsExceeded { .. } => "it kept asking for more input".to_owned(),
        ServiceError::UnexpectedResponse => "its answer is of a kind that cohab does not know".to_owned(),
        other => reason(&other.to_string()),
    }
}

/// What the user has to do at a server that asks for authorization; `challenge` is its header.
fn sign_in(name: &str, challenge: Option<&str>) -> String {
    let params =
        challenge.zip(Url::parse(NO_PLACE).ok()).map(|(header, base)| WWWAuthenticateParams::parse(header, &base));
    let scopes =
        params.filter(WWWAuthenticateParams::is_insufficient_scope).map(|params| params.scope.unwrap_or_default());
    // A server's words go into a command line that people copy.
    let is_plain = |scope: &&str| scope.chars().all(|c| c.is_ascii_alphanumeric() || "-_.:/+".contains(c));
    match scopes {
        None => format!("it wants you to sign in: `cohab mcp login {name}`"),
        Some(scopes) => {
            let scopes = scopes.split_whitespace().filter(is_plain).map(|scope| format!(" --scope {scope}"));
            reason(&format!("it wants more rights: `cohab mcp login {name}{}`", scopes.collect::<String>()))
        }
    }
}

/// The message for a time limit.
pub(crate) fn too_slow(limit: Duration) -> String {
    format!("it did not answer within {} s", limit.as_secs())
}

/// The causes of an error, the outermost first.
fn causes(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text += &format!(": {cause_text}");
        }
        source = cause.source();
    }
    text
}
