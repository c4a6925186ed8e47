//! The shell that a server is started for, and what its definition means there.

use std::path::PathBuf;

use cohab_models::http;
use cohab_secrets::secret_names::{Use, holds_secret};
use cohab_types::environment::Variables;
use reqwest::Url;

use crate::{
    expand::{Reference, ValuePart, parts},
    keys::KeySource,
    server::{Author, NO_KEYS, Server},
};

/// Where and for whom a server is started.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// The variables of the user's shell; those of this process if it is unknown.
    pub variables: Variables,
    /// The folder that a program of the user's own servers starts in; one of a project starts in the project.
    pub folder: PathBuf,
}

impl Surroundings {
    fn variable(&self, name: &str) -> Option<String> {
        if self.variables.is_empty() { std::env::var(name).ok() } else { self.variables.get(name).cloned() }
    }

    /// The variables that hold no secret.
    pub(crate) fn harmless(&self) -> Vec<(String, String)> {
        let is_harmless = |(name, _): &(String, String)| !holds_secret(name, Use::Inherit);
        if self.variables.is_empty() {
            let own = std::env::vars_os()
                .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
            return own.filter(is_harmless).collect();
        }
        self.variables.iter().map(|(name, value)| (name.clone(), value.clone())).filter(is_harmless).collect()
    }
}

/// The address of a server.
///
/// # Errors
/// A sentence: it is not valid, or what is sent to it could be read on the way.
pub(crate) async fn address_of(
    server: &Server,
    surroundings: &Surroundings,
    keys: &dyn KeySource,
) -> Result<Url, String> {
    let address = server.settings.url.as_deref().unwrap_or_default();
    let address = filled(address, &server.author, surroundings, keys).await?;
    let url = Url::parse(&address).map_err(|error| format!("its address is not valid: {error}"))?;
    if url.scheme() != "https" && !http::is_loopback(&url) {
        return Err("an address of another machine must start with `https://`".into());
    }
    Ok(url)
}

/// A value with its variables and keys. A project's server gets no key, wherever its definition names one.
pub(crate) async fn filled(
    value: &str,
    author: &Author,
    surroundings: &Surroundings,
    keys: &dyn KeySource,
) -> Result<String, String> {
    let mut text = String::new();
    for part in parts(value) {
        match part {
            ValuePart::Text(plain) => text += plain,
            ValuePart::Reference(Reference::Variable(name, otherwise)) => {
                let value = surroundings.variable(name).or_else(|| otherwise.map(str::to_owned));
                text += &value.ok_or_else(|| {
                    format!("the variable {name}, which its definition names, is not set in your shell")
                })?;
            }
            ValuePart::Reference(Reference::Key(account)) => match author {
                Author::User => text += &keys.key(account).await?,
                Author::Project(_) => return Err(NO_KEYS.to_owned()),
            },
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::NoKeys;

    #[tokio::test]
    async fn variables_are_those_of_the_shell_and_secrets_are_left_out() {
        let variables = [("TZ", "UTC"), ("GITHUB_TOKEN", "t")].map(|(name, value)| (name.to_owned(), value.to_owned()));
        let surroundings = Surroundings { variables: variables.into_iter().collect(), folder: "/".into() };
        assert_eq!(surroundings.harmless(), [("TZ".to_owned(), "UTC".to_owned())]);
        let filled = async |value| filled(value, &Author::User, &surroundings, &NoKeys).await;
        assert_eq!(filled("Bearer ${GITHUB_TOKEN}").await.as_deref(), Ok("Bearer t"));
        assert_eq!(filled("${NONE:-x}").await.as_deref(), Ok("x"));
        assert!(filled("${NONE}").await.unwrap_err().contains("NONE"));
        assert!(filled("${key:docs}").await.is_err());
    }

    struct OneKey;

    #[async_trait::async_trait]
    impl KeySource for OneKey {
        async fn key(&self, _: &str) -> Result<String, String> {
            Ok("secret".to_owned())
        }
    }

    #[tokio::test]
    async fn keys_are_for_servers_of_the_user_only() {
        let surroundings = Surroundings::default();
        let project = Author::Project("/shop".into());
        assert_eq!(filled("${key:docs}", &Author::User, &surroundings, &OneKey).await.as_deref(), Ok("secret"));
        assert_eq!(filled("${key:docs}", &project, &surroundings, &OneKey).await, Err(NO_KEYS.to_owned()));
    }
}
