//! The key store keeps the keys of `cohab setup`: in the system's keyring, through the program that comes with it, or in a private
//! file. The programs get a key by their input, never as an argument.

use std::{
    collections::BTreeMap,
    env,
    ffi::OsString,
    fs::{self, DirBuilder},
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use cohab_config::model_settings::KeyStore;
use cohab_model_api::Secrets;
use cohab_system::files::{self, Expected, FileError};
use secrecy::{ExposeSecret as _, SecretString};
use tokio::process::Command;
use toml_edit::DocumentMut;

use super::limited_command::{self, Ended};

/// Name of the keys' service in the keyring.
const SERVICE: &str = "cohab";
/// Time limit for a keyring; a locked one may ask for its password.
const KEYRING_LIMIT: Duration = Duration::from_secs(3);
/// Largest file of keys.
const FILE_MAX_BYTES: u64 = 64 * 1024;
/// Permissions that others must not have on it.
const OTHERS_MODE: u32 = 0o077;

/// The stores of this user.
#[derive(Clone, Debug)]
pub struct KeyStores {
    file: PathBuf,
    search_path: OsString,
    /// Learns every key.
    secrets: Arc<Secrets>,
}

/// Why there is no key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct KeyError {
    /// One sentence; never the key.
    pub message: String,
    /// What to do.
    pub hint: String,
}

impl KeyError {
    pub(super) fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: hint.into() }
    }
}

/// Keys by account, the text of their file, and which file that was.
type Contents = (BTreeMap<String, SecretString>, String, Option<fs::Metadata>);

/// A program that accesses a keyring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tool {
    /// `secret-tool`, of libsecret: GNOME, KDE and all others with the Secret Service.
    SecretTool,
    /// `security`, of macOS.
    Security,
}

impl KeyStores {
    /// The file is in this folder; programs are searched for as by this process.
    #[must_use]
    pub fn new(config_dir: &Path) -> Self {
        Self::with_programs(config_dir, env::var_os("PATH").unwrap_or_default())
    }

    /// The same with another `PATH`.
    pub(crate) fn with_programs(config_dir: &Path, search_path: OsString) -> Self {
        Self { file: config_dir.join("keys.toml"), search_path, secrets: Arc::default() }
    }

    /// Registers every fetched key with `secrets`, so that it stays here.
    #[must_use]
    pub fn telling(self, secrets: Arc<Secrets>) -> Self {
        Self { secrets, ..self }
    }

    /// Learns the keys, and keeps them out of requests.
    pub(crate) fn secrets(&self) -> &Arc<Secrets> {
        &self.secrets
    }

    pub(super) fn tell(&self, key: &SecretString) {
        self.secrets.know([key.expose_secret().trim()]);
    }

    /// The store for a new key: the keyring if there is a reachable one.
    #[must_use]
    pub fn best(&self) -> KeyStore {
        let has_bus = || {
            let socket = env::var_os("XDG_RUNTIME_DIR").map(|folder| Path::new(&folder).join("bus"));
            env::var_os("DBUS_SESSION_BUS_ADDRESS").is_some() || socket.is_some_and(|socket| socket.exists())
        };
        match self.tool() {
            Some((Tool::Security, _)) => KeyStore::Keyring,
            Some((Tool::SecretTool, _)) if has_bus() => KeyStore::Keyring,
            _ => KeyStore::File,
        }
    }

    /// The name of a store, for people.
    #[must_use]
    pub fn name(&self, store: KeyStore) -> String {
        match store {
            KeyStore::Keyring => "the system's keyring".to_owned(),
            KeyStore::File => self.file.display().to_string(),
        }
    }

    /// The key of this account, if there is one.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn load(&self, store: KeyStore, account: &str) -> Result<Option<SecretString>, KeyError> {
        match store {
            KeyStore::Keyring => self.load_from_keyring(account).await,
            KeyStore::File => Ok(self.read_file()?.0.remove(account)),
        }
    }

    /// Keeps a key.
    ///
    /// # Errors
    /// The store cannot be written.
    pub async fn save(&self, store: KeyStore, account: &str, key: &SecretString) -> Result<(), KeyError> {
        match store {
            KeyStore::Keyring => self.save_in_keyring(account, key).await,
            KeyStore::File => self.save_in_file(account, key),
        }
    }

    fn tool(&self) -> Option<(Tool, PathBuf)> {
        let tools = [(Tool::SecretTool, "secret-tool"), (Tool::Security, "security")];
        // On other systems a program called `security` is something else.
        let mut possible = tools.into_iter().filter(|(tool, _)| cfg!(target_os = "macos") || *tool == Tool::SecretTool);
        possible.find_map(|(tool, name)| {
            let mut places = env::split_paths(&self.search_path).map(|folder| folder.join(name));
            places.find(|place| is_program(place)).map(|place| (tool, place))
        })
    }

    fn keyring(&self) -> Result<(Tool, PathBuf), KeyError> {
        self.tool().ok_or_else(|| {
            let message = "the system's keyring cannot be used: there is no program `secret-tool`";
            KeyError::new(message, "install it (libsecret-tools), or run `cohab setup` again")
        })
    }

    async fn load_from_keyring(&self, account: &str) -> Result<Option<SecretString>, KeyError> {
        let (tool, program) = self.keyring()?;
        let mut command = Command::new(program);
        match tool {
            Tool::SecretTool => command.args(["lookup", "service", SERVICE, "account", account]),
            Tool::Security => command.args(["find-generic-password", "-s", SERVICE, "-a", account, "-w"]),
        };
        let ended = run(command, b"").await?;
        // Both end with a distinct status and without output where nothing is found.
        let is_nothing = !ended.is_success && ended.has_no_words(tool);
        if ended.is_success || is_nothing {
            Ok(limited_command::first_line(&ended.output))
        } else {
            Err(unusable(&ended.complaint()))
        }
    }

    async fn save_in_keyring(&self, account: &str, key: &SecretString) -> Result<(), KeyError> {
        let (tool, program) = self.keyring()?;
        let mut command = Command::new(program);
        let key = key.expose_secret();
        let input = match tool {
            Tool::SecretTool => {
                let label = format!("--label=cohab: key of {account}");
                command.args(["store", &label, "service", SERVICE, "account", account]);
                key.to_owned()
            }
            Tool::Security => {
                if key.contains(['"', '\\']) {
                    return Err(unusable("it does not accept a key with quotes"));
                }
                command.arg("-i");
                format!("add-generic-password -U -s {SERVICE} -a \"{account}\" -w \"{key}\"\n")
            }
        };
        let ended = run(command, input.as_bytes()).await?;
        if ended.is_success { Ok(()) } else { Err(unusable(&ended.complaint())) }
    }

    /// All keys of the file, and its text.
    fn read_file(&self) -> Result<Contents, KeyError> {
        let shown = self.file.display();
        if !self.file.exists() {
            return Ok((BTreeMap::new(), String::new(), None));
        }
        let fault = |error: FileError| KeyError::new(format!("{shown}: {error}"), "`cohab setup` writes a new file");
        let (bytes, metadata) = files::read_regular(&self.file, FILE_MAX_BYTES).map_err(fault)?;
        let mode = metadata.mode() & 0o777;
        if mode & OTHERS_MODE != 0 {
            let message = format!("{shown} holds keys and other users can access it (mode {mode:04o})");
            return Err(KeyError::new(message, format!("chmod 600 {shown}")));
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        // The error's own text would quote the line.
        let keys = toml::from_str(&text).map_err(|_| {
            KeyError::new(
                format!("{shown} is not a list of keys"),
                "each line is `\"service\" = \"key\"`; or remove the file",
            )
        })?;
        Ok((keys, text, Some(metadata)))
    }

    fn save_in_file(&self, account: &str, key: &SecretString) -> Result<(), KeyError> {
        let (_, text, metadata) = self.read_file()?;
        let mut document: DocumentMut = text.parse().unwrap_or_default();
        if document.is_empty() {
            document.set_trailing("# Keys of model services, kept by `cohab setup`. Keep this file to yourself.\n");
        }
        let note = document.trailing().as_str().unwrap_or_default().to_owned();
        document.set_trailing("");
        document[account] = toml_edit::value(key.expose_secret().trim());
        if let Some(mut name) = document.key_mut(account).filter(|_| !note.is_empty()) {
            name.leaf_decor_mut().set_prefix(note);
        }
        let fault = |error: FileError| {
            KeyError::new(format!("{}: {error}", self.file.display()), "check that the folder is yours")
        };
        if let Some(folder) = self.file.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(|error| fault(error.into()))?;
        }
        let expected = metadata.as_ref().map_or(Expected::Absent, Expected::Same);
        files::replace(&self.file, document.to_string().as_bytes(), expected, Some(0o600)).map_err(fault)
    }
}

impl Ended {
    fn has_no_words(&self, tool: Tool) -> bool {
        // `security` reports a missing key in words, and has a status for it.
        match tool {
            Tool::SecretTool => !self.has_errors(),
            Tool::Security => self.complaint().contains("could not be found"),
        }
    }
}

async fn run(command: Command, input: &[u8]) -> Result<Ended, KeyError> {
    limited_command::run(command, input, KEYRING_LIMIT).await.map_err(|error| unusable(&error.to_string()))
}

fn unusable(why: &str) -> KeyError {
    KeyError::new(format!("the system's keyring cannot be used: {why}"), "unlock it, or run `cohab setup` again")
}

fn is_program(place: &Path) -> bool {
    fs::metadata(place).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
#[path = "key_store_tests.rs"]
mod tests;
