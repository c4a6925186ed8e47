//! Signs the user in at a server by OAuth 2.1: the user agrees in a browser, and the tokens stay in a private file.
//!
//! [`sign_in`] is the only thing that asks for tokens, and only the user starts it. `connection` uses and renews the ones of [`SignIns`].
//! `rmcp` has the protocol: discovery, registration, PKCE, the check of the issuer. [`Browser`] is where the user agrees;
//! [`browser::LoopbackBrowser`] is the real one.

pub mod browser;
mod http_client;
mod sign_ins;

use std::sync::Arc;

use async_trait::async_trait;
use cohab_config::mcp::OauthSettings;
use cohab_text::sanitize::one_line;
use reqwest::Url;
use rmcp::transport::auth::{
    AuthError, AuthorizationCallback, AuthorizationManager, AuthorizationMetadata, AuthorizationMetadataSource,
    OAuthClientConfig, WWWAuthenticateParams,
};
use tokio::time::timeout;

use self::http_client::OauthHttp;
pub use self::sign_ins::SignIns;
use crate::{
    keys::KeySource,
    server::Server,
    surroundings::{Surroundings, address_of, filled},
};

/// Name under which cohab registers at a service.
const CLIENT_NAME: &str = "cohab";
/// The user has so long to agree.
const AGREE_LIMIT: std::time::Duration = std::time::Duration::from_secs(600);

/// Where the user agrees.
#[async_trait]
pub trait Browser: Send + Sync {
    /// The address on this machine that the service leads the user back to.
    fn redirect(&self) -> String;

    /// Shows this address to the user. Returns the one that the service led back to.
    ///
    /// # Errors
    /// A sentence.
    async fn agree(&self, address: &str) -> Result<String, String>;
}

/// What is asked of the service.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SignInRequest {
    /// Rights beside those that were granted before. Without any, those that the server names.
    pub scopes: Vec<String>,
    /// The header `WWW-Authenticate` of the server's refusal, if there was one.
    pub challenge: Option<String>,
}

/// Signs in at a server. Returns the rights that were granted.
///
/// # Errors
/// A sentence: the server has no such sign-in, the user did not agree, or an answer of the service cannot be trusted.
pub async fn sign_in(
    server: &Server,
    surroundings: &Surroundings,
    keys: &dyn KeySource,
    sign_ins: &SignIns,
    wanted: &SignInRequest,
    browser: &dyn Browser,
) -> Result<Vec<String>, String> {
    let address = address_of(server, surroundings, keys).await?;
    let mut manager = manager(&address).await?;
    let found = manager.resolve_metadata_from_challenge(wanted.challenge.as_deref()).await.map_err(told)?;
    if found.source == AuthorizationMetadataSource::LegacyEndpointFallback {
        return Err("it does not say where to sign in".into());
    }
    let metadata = found.metadata.clone();
    manager.set_metadata(found.metadata);
    let granted = sign_ins.kept(server, &address).await?.map(|kept| kept.credentials.granted_scopes);
    let scopes = scopes(&manager, &address, &granted.unwrap_or_default(), wanted).await;
    let asked: Vec<&str> = scopes.iter().map(String::as_str).collect();
    let own = own_client(server, surroundings, keys).await?;
    let client = match client(own, &metadata, &browser.redirect()) {
        Some(client) => client,
        None => manager.register_client(CLIENT_NAME, &browser.redirect(), &asked).await.map_err(told)?,
    };
    manager.set_credential_store(sign_ins.store_of(server, &address, client.client_secret.clone()));
    manager.configure_client(client).map_err(told)?;
    let page = manager.get_authorization_url(&asked).await.map_err(told)?;
    // The system opens it: it must be a page, and no other kind of address.
    OauthHttp::for_server(&address).check(&Url::parse(&page).map_err(|error| told(error.into()))?)?;
    let back = timeout(AGREE_LIMIT, browser.agree(&page)).await;
    let back = back.map_err(|_| "no one agreed in the browser within 10 minutes".to_owned())??;
    refusal(&back)?;
    let AuthorizationCallback { code, csrf_token, issuer, .. } =
        AuthorizationCallback::from_redirect_url(&back).map_err(told)?;
    let _held = sign_ins.held().await?;
    manager.exchange_code_for_token_with_issuer(&code, &csrf_token, issuer.as_deref()).await.map_err(told)?;
    Ok(manager.get_current_scopes().await)
}

/// What renews the tokens of a server, if the user signed in at it.
///
/// # Errors
/// A sentence: the tokens cannot be read, or the service cannot be reached.
pub(crate) async fn signed_in(
    server: &Server,
    address: &Url,
    sign_ins: &SignIns,
) -> Result<AuthorizationManager, String> {
    let mut manager = manager(address).await?;
    let Some(kept) = sign_ins.kept(server, address).await? else { return Ok(manager) };
    let client_id = kept.credentials.client_id.clone();
    manager.set_credential_store(sign_ins.store_of(server, address, kept.client_secret.clone()));
    if manager.initialize_from_store().await.map_err(told)? && kept.client_secret.is_some() {
        let mut client = OAuthClientConfig::new(client_id, address.as_str());
        client.client_secret = kept.client_secret;
        manager.configure_client(client).map_err(told)?;
    }
    Ok(manager)
}

async fn manager(address: &Url) -> Result<AuthorizationManager, String> {
    let http = Arc::new(OauthHttp::for_server(address));
    AuthorizationManager::new_with_oauth_http_client(address.clone(), http).await.map_err(told)
}

/// The rights to ask for: what was wanted in addition to those that were granted, else those that the server names.
async fn scopes(
    manager: &AuthorizationManager,
    address: &Url,
    granted: &[String],
    wanted: &SignInRequest,
) -> Vec<String> {
    let more = wanted.challenge.as_deref().map(|header| WWWAuthenticateParams::parse(header, address));
    let more = more.filter(WWWAuthenticateParams::is_insufficient_scope).and_then(|params| params.scope);
    let more = more.iter().flat_map(|scopes| scopes.split_whitespace());
    let mut all: Vec<String> = wanted.scopes.iter().map(String::as_str).chain(more).map(str::to_owned).collect();
    if all.is_empty() {
        return manager.select_initial_scopes(&[]).await;
    }
    all.splice(0..0, granted.iter().cloned());
    let mut seen = std::collections::HashSet::new();
    all.retain(|scope| seen.insert(scope.clone()));
    all
}

/// The client of the settings, with its secret filled in.
async fn own_client(
    server: &Server,
    surroundings: &Surroundings,
    keys: &dyn KeySource,
) -> Result<Option<(String, Option<String>)>, String> {
    let Some(OauthSettings { client_id, client_secret }) = &server.settings.oauth else { return Ok(None) };
    let secret = match client_secret {
        Some(secret) => Some(filled(secret, &server.author, surroundings, keys).await?),
        None => None,
    };
    Ok(Some((client_id.clone(), secret)))
}

/// The client that needs no registration: one that the service knows, or whose description stands at its own address.
fn client(
    own: Option<(String, Option<String>)>,
    metadata: &AuthorizationMetadata,
    redirect: &str,
) -> Option<OAuthClientConfig> {
    let (client_id, secret) = own?;
    let reads_addresses = metadata.additional_fields.get("client_id_metadata_document_supported");
    if client_id.starts_with("https://") && reads_addresses.and_then(serde_json::Value::as_bool) != Some(true) {
        return None;
    }
    let mut client = OAuthClientConfig::new(client_id, redirect);
    client.client_secret = secret;
    Some(client)
}

/// # Errors
/// What the service says instead of a code.
fn refusal(back: &str) -> Result<(), String> {
    let address = Url::parse(back).map_err(|_| "the service led back to an address that is not valid".to_owned())?;
    let value = |name: &str| address.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned());
    let Some(error) = value("error") else { return Ok(()) };
    if error == "access_denied" {
        return Err("you did not agree".into());
    }
    let text = value("error_description").unwrap_or(error);
    Err(format!("the service refused: {}", one_line(&text, 200)))
}

fn told(error: AuthError) -> String {
    let text = match error {
        AuthError::AuthorizationServerMismatch { expected_issuer, received_issuer } => format!(
            "the answer names another service than the one that was asked ({received_issuer}, not {expected_issuer}); \
             nothing was sent to it"
        ),
        AuthError::AuthorizationServerMissingIssuer { expected_issuer } => {
            format!("the answer does not say that it comes from {expected_issuer}; nothing was sent to it")
        }
        AuthError::NoAuthorizationSupport => "it does not say where to sign in".to_owned(),
        AuthError::PkceUnsupported => "its service cannot protect the sign-in (PKCE with S256)".to_owned(),
        other => other.to_string(),
    };
    one_line(&text, 300)
}

#[cfg(test)]
#[path = "sign_in/tests.rs"]
mod tests;
