//! The tokens of servers, in a private file.

use std::{
    collections::BTreeMap,
    fs::{File, Metadata, OpenOptions},
    os::unix::fs::OpenOptionsExt as _,
    path::PathBuf,
    sync::Arc,
};

use async_trait::async_trait;
use cohab_model_api::Secrets;
use cohab_protocol::Paths;
use cohab_system::{
    files,
    private_file::{Others, PrivateFile, PrivateFileError},
};
use reqwest::Url;
use rmcp::transport::auth::{AuthError, CredentialRefreshGuard, CredentialStore, StoredCredentials};
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use tokio::task::spawn_blocking;

use crate::server::Server;

/// Largest valid file, in bytes.
const MAX_FILE_BYTES: u64 = 4 * 1024 * 1024;

/// Everything that was granted, by the id of the server.
type All = BTreeMap<String, KeptSignIn>;

/// What the user granted at one server.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct KeptSignIn {
    /// The address of the server: the tokens are for no other.
    address: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) client_secret: Option<String>,
    pub(super) credentials: StoredCredentials,
}

/// The file of the user's tokens.
#[derive(Clone)]
pub struct SignIns {
    file: PrivateFile,
    lock: PathBuf,
    /// Learns every token.
    secrets: Arc<Secrets>,
}

impl SignIns {
    /// The file of this user; `secrets` learns the tokens.
    #[must_use]
    pub fn of(paths: &Paths, secrets: Arc<Secrets>) -> Self {
        Self::at(paths.state_dir.join("mcp-sign-ins.json"), secrets)
    }

    /// The file at this path, which need not exist.
    #[must_use]
    pub fn at(path: PathBuf, secrets: Arc<Secrets>) -> Self {
        let lock = path.with_extension("lock");
        Self { file: PrivateFile::new(path, MAX_FILE_BYTES, Others::MayNothing), lock, secrets }
    }

    /// Forgets the tokens of a server; whether there were any. Blocks.
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub fn forget(&self, server: &Server) -> Result<bool, PrivateFileError> {
        let _held = self.hold()?;
        self.change(|all| all.remove(&server.id()).is_some())
    }

    /// Whether the user signed in at this server. Blocks.
    #[must_use]
    pub fn has(&self, server: &Server) -> bool {
        self.load().is_ok_and(|(all, _)| all.contains_key(&server.id()))
    }

    /// What the user granted at this address.
    pub(super) async fn kept(&self, server: &Server, address: &Url) -> Result<Option<KeptSignIn>, String> {
        let (id, address) = (server.id(), address.to_string());
        self.on_disk(move |all| all.find(&id, &address)).await
    }

    /// The same, by the id of the server. Blocks.
    fn find(&self, id: &str, address: &str) -> Result<Option<KeptSignIn>, PrivateFileError> {
        Ok(self.load()?.0.remove(id).filter(|kept| kept.address == address))
    }

    /// Waits until no other program changes the file, and keeps it so until the result is dropped. Who holds it must not wait for it
    /// again.
    pub(super) async fn held(&self) -> Result<File, String> {
        self.on_disk(Self::hold).await
    }

    /// The same. Blocks.
    fn hold(&self) -> Result<File, PrivateFileError> {
        if let Some(folder) = self.lock.parent() {
            files::make_folder(folder).map_err(|error| self.file.fault(error))?;
        }
        let file = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(&self.lock);
        let file = file.map_err(|error| self.file.fault(error))?;
        flock(&file, FlockOperation::LockExclusive).map_err(|error| self.file.fault(error))?;
        Ok(file)
    }

    async fn on_disk<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> Result<T, PrivateFileError> + Send + 'static,
    ) -> Result<T, String> {
        let all = self.clone();
        let done = spawn_blocking(move || work(&all).map_err(|error| error.to_string())).await;
        done.unwrap_or_else(|error| Err(error.to_string()))
    }

    /// The place of one server's tokens.
    pub(super) fn store_of(&self, server: &Server, address: &Url, client_secret: Option<String>) -> ServerStore {
        ServerStore { all: self.clone(), id: server.id(), address: address.to_string(), client_secret }
    }

    fn load(&self) -> Result<(All, Option<Metadata>), PrivateFileError> {
        let Some((bytes, metadata)) = self.file.read()? else { return Ok((All::new(), None)) };
        // The error's own text could quote a token.
        let all: All = serde_json::from_slice(&bytes).map_err(|_| self.file.fault("it is not a list of sign-ins"))?;
        all.values().for_each(|kept| self.tell(kept));
        Ok((all, Some(metadata)))
    }

    fn change<T>(&self, change: impl FnOnce(&mut All) -> T) -> Result<T, PrivateFileError> {
        let (mut all, old) = self.load()?;
        let changed = change(&mut all);
        let text = serde_json::to_vec_pretty(&all).map_err(|error| self.file.fault(error))?;
        self.file.replace(&text, old.as_ref())?;
        Ok(changed)
    }

    /// Keeps the tokens out of requests to models and out of what is stored.
    fn tell(&self, kept: &KeptSignIn) {
        let tokens = serde_json::to_value(&kept.credentials.token_response).unwrap_or_default();
        let secrets =
            ["access_token", "refresh_token", "id_token"].into_iter().filter_map(|name| tokens[name].as_str());
        self.secrets.know(secrets.chain(kept.client_secret.as_deref()).filter(|secret| !secret.is_empty()));
    }
}

/// The tokens of one server, as the protocol's library wants them.
pub(super) struct ServerStore {
    all: SignIns,
    id: String,
    address: String,
    client_secret: Option<String>,
}

impl ServerStore {
    async fn on_disk<T: Send + 'static>(
        &self,
        work: impl FnOnce(&SignIns) -> Result<T, PrivateFileError> + Send + 'static,
    ) -> Result<T, AuthError> {
        self.all.on_disk(work).await.map_err(AuthError::CredentialStoreError)
    }
}

#[async_trait]
impl CredentialStore for ServerStore {
    async fn load(&self) -> Result<Option<StoredCredentials>, AuthError> {
        let (id, address) = (self.id.clone(), self.address.clone());
        self.on_disk(move |all| Ok(all.find(&id, &address)?.map(|kept| kept.credentials))).await
    }

    async fn save(&self, credentials: StoredCredentials) -> Result<(), AuthError> {
        let kept = KeptSignIn { address: self.address.clone(), client_secret: self.client_secret.clone(), credentials };
        let id = self.id.clone();
        self.on_disk(move |all| {
            all.tell(&kept);
            all.change(|servers| {
                servers.insert(id, kept);
            })
        })
        .await
    }

    async fn clear(&self) -> Result<(), AuthError> {
        let id = self.id.clone();
        self.on_disk(move |all| all.change(|servers| drop(servers.remove(&id)))).await
    }

    /// Two programs that renew a token at the same time would invalidate each other's.
    async fn acquire_refresh_guard(&self) -> Result<Option<CredentialRefreshGuard>, AuthError> {
        Ok(Some(CredentialRefreshGuard::new(self.on_disk(SignIns::hold).await?)))
    }
}
