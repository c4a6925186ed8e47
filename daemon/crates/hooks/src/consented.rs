//! Reads files of hooks that need the user's consent, and compares them with what the user allowed right before a hook of theirs runs.

use std::path::{Path, PathBuf};

use cohab_system::files::{self, FileError};

use crate::{
    consent::{AllowedFiles, Fingerprint},
    file::{self, HookFile, MAX_FILE_BYTES},
    scripts,
};

/// Largest script whose content is part of the consent, in bytes.
const MAX_SCRIPT_BYTES: u64 = 1024 * 1024;

/// The content of a file that needs consent.
#[derive(Clone, Debug)]
pub struct ReadContent {
    /// Its hooks, or its fault: a phrase.
    pub content: Result<HookFile, String>,
    /// Identifies the content and that of the scripts; `None` if it cannot be read.
    pub fingerprint: Option<Fingerprint>,
    /// The scripts of the project that its commands name.
    pub scripts: Vec<PathBuf>,
}

/// Reads a file; with the root of its project, also the scripts that it names there. Blocks.
#[must_use]
pub fn read(path: &Path, root: Option<&Path>) -> ReadContent {
    let broken = |fault: String| ReadContent { content: Err(fault), fingerprint: None, scripts: Vec::new() };
    let bytes = match files::read_regular(path, MAX_FILE_BYTES) {
        Ok((bytes, _)) => bytes,
        Err(error) => return broken(error.to_string()),
    };
    let content = file::read(&bytes, path);
    let scripts = match (&content, root) {
        (Ok(file), Some(root)) => scripts::of_commands(file.hooks.iter().map(|hook| hook.command.as_str()), root),
        _ => Ok(Vec::new()),
    };
    match scripts.and_then(|scripts| Ok((fingerprint(&bytes, &scripts)?, scripts))) {
        Ok((fingerprint, scripts)) => ReadContent { content, fingerprint: Some(fingerprint), scripts },
        Err(fault) => broken(fault),
    }
}

fn fingerprint(content: &[u8], scripts: &[PathBuf]) -> Result<Fingerprint, String> {
    let mut parts = vec![content.to_vec()];
    for script in scripts {
        let read = files::read_regular(script, MAX_SCRIPT_BYTES);
        let (bytes, _) = read.map_err(|error: FileError| format!("its script {}: {error}", script.display()))?;
        parts.push(script.as_os_str().as_encoded_bytes().to_vec());
        parts.push(bytes);
    }
    Ok(Fingerprint::of(parts.iter().map(Vec::as_slice)))
}

/// A file with the content that the user allowed.
#[derive(Clone, Debug)]
pub struct ConsentedFile {
    /// Its path, links resolved.
    pub path: PathBuf,
    /// The root of its project, where its hooks run; `None` if it is no project's.
    pub root: Option<PathBuf>,
    /// What the user agreed to.
    pub fingerprint: Fingerprint,
    /// The list with the consent, which may be taken back.
    pub allowed: AllowedFiles,
}

impl ConsentedFile {
    /// Compares again. Blocks.
    ///
    /// # Errors
    /// A hook of the file must not run; a phrase.
    pub fn check(&self) -> Result<(), String> {
        let allowed = self.allowed.all().map_err(|error| error.to_string())?;
        if allowed.get(&self.path) != Some(&self.fingerprint) {
            return Err("you took back your consent to it".to_owned());
        }
        match read(&self.path, self.root.as_deref()).fingerprint {
            Some(now) if now == self.fingerprint => Ok(()),
            _ => Err("it or a script of it changed since you allowed it (`cohab hooks allow`)".to_owned()),
        }
    }
}
