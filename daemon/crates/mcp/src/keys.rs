//! Keys that definitions name: where they come from.

use async_trait::async_trait;
use cohab_config::model_settings::KeyStore;
use cohab_models::key_store::KeyStores;
use secrecy::ExposeSecret as _;

/// Keys for servers, by account.
#[async_trait]
pub trait KeySource: Send + Sync {
    /// The key, or a sentence that says why there is none.
    async fn key(&self, account: &str) -> Result<String, String>;
}

#[async_trait]
impl KeySource for KeyStores {
    async fn key(&self, account: &str) -> Result<String, String> {
        for store in [self.best(), KeyStore::File] {
            let key = self.load(store, account).await.map_err(|error| error.message)?;
            if let Some(key) = key {
                return Ok(key.expose_secret().to_owned());
            }
        }
        Err(format!("there is no key `{account}` in the key store"))
    }
}

/// No keys.
pub struct NoKeys;

#[async_trait]
impl KeySource for NoKeys {
    async fn key(&self, account: &str) -> Result<String, String> {
        Err(format!("there is no key `{account}`"))
    }
}
