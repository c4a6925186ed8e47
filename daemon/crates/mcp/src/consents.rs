//! Keeps what the user allowed of servers, in a private file of the settings: which definitions of projects, and which tools, each with
//! its digest.

use std::{collections::BTreeMap, fs::Metadata, path::PathBuf};

use cohab_protocol::Paths;
pub use cohab_system::private_file::PrivateFileError;
use cohab_system::private_file::{Others, PrivateFile};
use serde::{Deserialize, Serialize};

/// Largest valid file, in bytes.
const MAX_FILE_BYTES: u64 = 4 * 1024 * 1024;

/// All that was allowed, by [`Server::id`](crate::server::Server::id).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Consents {
    /// The servers.
    #[serde(default)]
    pub servers: BTreeMap<String, ServerConsent>,
}

/// What was allowed of one server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerConsent {
    /// The digest of the definition of a project that may be used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definition: Option<String>,
    /// Its tools.
    #[serde(default)]
    pub tools: BTreeMap<String, ToolConsent>,
}

/// What the user said of one tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolConsent {
    /// It runs without a question, as long as its definition has this digest.
    Allowed {
        /// The digest.
        definition: String,
    },
    /// The settings allow it by name, and its definition had this digest when it was first seen.
    Seen {
        /// The digest.
        definition: String,
    },
    /// It is never called.
    Denied,
}

/// The file.
#[derive(Clone, Debug)]
pub struct ConsentFile {
    file: PrivateFile,
}

impl ConsentFile {
    /// The file of this user.
    #[must_use]
    pub fn of(paths: &Paths) -> Self {
        Self::at(paths.config_dir.join("mcp-consents.json"))
    }

    /// The file at this path, which need not exist.
    #[must_use]
    pub fn at(path: PathBuf) -> Self {
        Self { file: PrivateFile::new(path, MAX_FILE_BYTES, Others::MayRead) }
    }

    /// Everything that was allowed and denied. Blocks.
    ///
    /// # Errors
    /// The file cannot be read, or others can write it. Then it is also unknown what was denied.
    pub fn read(&self) -> Result<Consents, PrivateFileError> {
        self.load().map(|(consents, _)| consents)
    }

    /// Changes what was allowed. Blocks.
    ///
    /// # Errors
    /// The file cannot be read or written, or others can write it.
    pub fn change(&self, change: impl FnOnce(&mut Consents)) -> Result<(), PrivateFileError> {
        let (mut consents, old) = self.load()?;
        let before = consents.clone();
        change(&mut consents);
        consents.servers.retain(|_, one| *one != ServerConsent::default());
        if consents == before {
            return Ok(());
        }
        let text = serde_json::to_string_pretty(&consents).map_err(|error| self.file.fault(error))?;
        self.file.replace(text.as_bytes(), old.as_ref())
    }

    fn load(&self) -> Result<(Consents, Option<Metadata>), PrivateFileError> {
        let Some((bytes, metadata)) = self.file.read()? else { return Ok((Consents::default(), None)) };
        let consents = serde_json::from_slice(&bytes).map_err(|error| self.file.fault(error))?;
        Ok((consents, Some(metadata)))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_is_kept_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let file = ConsentFile::at(folder.path().join("a/mcp-consents.json"));
        assert_eq!(file.read().unwrap(), Consents::default());
        let allowed = ToolConsent::Allowed { definition: "1".into() };
        file.change(|all| {
            all.servers.entry("time".into()).or_default().tools.insert("now".into(), allowed.clone());
        })
        .unwrap();
        assert_eq!(file.read().unwrap().servers["time"].tools["now"], allowed);
        file.change(|all| all.servers.clear()).unwrap();
        assert_eq!(file.read().unwrap(), Consents::default());
    }

    #[test]
    fn a_broken_file_is_an_error_and_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mcp-consents.json");
        let file = ConsentFile::at(path.clone());
        fs::write(&path, "{").unwrap();
        assert!(file.read().unwrap_err().to_string().contains("mcp-consents.json"));
        assert!(file.change(|all| all.servers.clear()).is_err());
        fs::write(&path, r#"{"servers": {"time": {"definition": "1"}}}"#).unwrap();
        assert_eq!(file.read().unwrap().servers.len(), 1);
    }
}
