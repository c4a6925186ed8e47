//! Saves a draft: the key into its store, the rest into the settings file.

use std::path::PathBuf;

use cohab_config::{ConfigError, ConfigFile, keys, model_settings::KeyStore};

use super::{
    Setup, SetupError,
    draft::{Draft, DraftKey},
};

/// The saved settings.
#[derive(Clone, Debug)]
pub struct Saved {
    /// The settings file.
    pub file: PathBuf,
    /// The table in it: `model`, `profiles.work`.
    pub table: String,
    /// Its settings, as in the file, without secrets.
    pub settings: Vec<(String, String)>,
    /// The place of the stored key, if it was stored: the store and its name for people.
    pub key: Option<(KeyStore, String)>,
    /// A notice to the user about it.
    pub notice: Option<String>,
}

impl Setup {
    /// The settings file, which must be sound before it is changed.
    pub(super) fn sound_file(&self) -> Result<ConfigFile, ConfigError> {
        let file = ConfigFile::read(&self.config_file())?;
        match file.problems().into_iter().next() {
            Some(problem) => Err(problem),
            None => Ok(file),
        }
    }

    /// Writes a draft.
    pub(super) async fn save(&self, draft: &Draft) -> Result<Saved, SetupError> {
        let file = self.sound_file()?;
        let old = |leaf: &str| Some(file.value(&draft.key_named(leaf)?)?.0.as_str()?.to_owned());
        let is_same_model = old("provider").as_deref() == Some(&draft.provider) && old("name") == draft.model;
        let (key, notice) = self.store_key(draft).await?;
        file.change(&draft.changes(key.as_ref().map(|(store, _)| *store), is_same_model))?;
        let file = ConfigFile::read(&self.config_file())?;
        let shown = |leaf: &str| {
            let key = draft.key_named(leaf)?;
            let (value, _) = file.value(&key)?;
            (!key.is_secret()).then(|| (leaf.to_owned(), value.decorated("", "").to_string()))
        };
        let leaves = keys::KEYS.iter().filter_map(|key| key.name.strip_prefix("model."));
        let settings = leaves.filter_map(shown).collect();
        Ok(Saved { file: self.config_file(), table: draft.table(), settings, key, notice })
    }

    async fn store_key(&self, draft: &Draft) -> Result<(Option<(KeyStore, String)>, Option<String>), SetupError> {
        let DraftKey::Secret(secret) = &draft.key else { return Ok((None, None)) };
        let Some(service) = self.service(draft).await? else { return Ok((None, None)) };
        let account = &service.account;
        let named = |store: KeyStore| (store, self.shown_path(&PathBuf::from(self.stores.name(store))));
        if self.stores.best() == KeyStore::Keyring {
            match self.stores.save(KeyStore::Keyring, account, secret).await {
                Ok(()) => return Ok((Some(named(KeyStore::Keyring)), None)),
                Err(error) => {
                    self.stores.save(KeyStore::File, account, secret).await?;
                    return Ok((Some(named(KeyStore::File)), Some(error.message)));
                }
            }
        }
        self.stores.save(KeyStore::File, account, secret).await?;
        Ok((Some(named(KeyStore::File)), None))
    }
}
