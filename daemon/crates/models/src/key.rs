//! The key of a service: stores its source and fetches it when a question needs it.

use std::time::Duration;

use cohab_config::model_settings::KeyStore;
use secrecy::SecretString;
use tokio::process::Command;

use super::{
    key_store::{KeyError, KeyStores},
    limited_command::{self, Ended},
};

/// Time limit of `key_command`, including the time to type a passphrase elsewhere.
const COMMAND_LIMIT: Duration = Duration::from_secs(10);

/// The source of a key.
#[derive(Clone, Debug)]
pub enum Source {
    /// It is known already.
    Here(SecretString),
    /// The first line that this command prints.
    Command(String),
    /// `cohab setup` stored it.
    Stored(KeyStore),
}

impl Source {
    /// Whether getting it may open a dialog or ask for a passphrase.
    #[must_use]
    pub fn asks_the_user(&self) -> bool {
        matches!(self, Self::Command(_) | Self::Stored(KeyStore::Keyring))
    }
}

/// A key and its source.
#[derive(Clone, Debug)]
pub struct ApiKey {
    /// How to get it.
    pub source: Source,
    /// The same for people: a variable or a setting.
    pub(crate) place: String,
}

impl ApiKey {
    /// A known key.
    pub(crate) fn here(secret: impl Into<SecretString>, place: impl Into<String>) -> Self {
        Self { source: Source::Here(secret.into()), place: place.into() }
    }

    /// Fetches the key; runs a command if the source is one. `account` is its name in the stores.
    ///
    /// # Errors
    /// It cannot be had.
    pub async fn secret(&self, stores: &KeyStores, account: &str) -> Result<SecretString, KeyError> {
        let secret = match &self.source {
            Source::Here(secret) => secret.clone(),
            Source::Command(line) => from_command(line, &self.place, COMMAND_LIMIT).await?,
            Source::Stored(store) => stores.load(*store, account).await?.ok_or_else(|| {
                let message = format!("there is no key for {account} in {}", stores.name(*store));
                KeyError::new(message, "`cohab setup` asks for the key and stores it there")
            })?,
        };
        stores.tell(&secret);
        Ok(secret)
    }
}

async fn from_command(line: &str, place: &str, limit: Duration) -> Result<SecretString, KeyError> {
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(line);
    let failed = |what: String| {
        KeyError::new(format!("{place} {what}"), "run the command by hand; it must print the key and need no terminal")
    };
    match limited_command::run(command, b"", limit).await {
        Ok(Ended { is_success: true, output, .. }) => {
            limited_command::first_line(&output).ok_or_else(|| failed("printed no key in its first line".to_owned()))
        }
        Ok(ended) => Err(failed(format!("failed: {}", ended.complaint()))),
        Err(error) => Err(failed(error.to_string())),
    }
}

#[cfg(test)]
#[path = "key_tests.rs"]
mod tests;
