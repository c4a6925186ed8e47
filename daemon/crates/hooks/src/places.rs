//! Finds the files of hooks, and decides which of them count: the user's own, and those whose exact content the user allowed.

use std::{
    fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use cohab_context::trust::TrustedFolders;
use cohab_system::{files, private_file::PrivateFileError};

use crate::{
    consent::{AllowedFiles, Fingerprint},
    consented::{self, ConsentedFile, ReadContent},
    file::{self, HookFile, MAX_FILE_BYTES},
};

/// The user's own file, in the folder of the settings.
pub const OWN_FILE: &str = "hooks.json";
/// The file of a project.
pub const PROJECT_FILE: &str = ".cohab/hooks.json";
/// Files of Claude Code, in the home or in a project. Each counts only once the user allowed it.
const CLAUDE_FILES: [&str; 2] = [".claude/settings.json", ".claude/settings.local.json"];
/// The variables that stand for the project in commands.
pub const PROJECT_VARIABLES: [&str; 2] = ["CLAUDE_PROJECT_DIR", "COHAB_PROJECT_DIR"];
/// Write permission that others must not have on the user's own file.
const OTHERS_WRITE: u32 = 0o022;

/// Whose file it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The user's: its hooks run everywhere.
    User,
    /// A project's.
    Project,
}

/// Whether the user agreed to the hooks of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consent {
    /// Yes, to this content.
    Given,
    /// The user does not trust the project.
    NoTrust,
    /// Not yet.
    Missing,
    /// To another content.
    Changed,
}

/// A file that was found.
#[derive(Clone, Debug)]
pub struct FoundFile {
    /// Its path, links resolved.
    pub path: PathBuf,
    /// Whose it is.
    pub scope: Scope,
    /// Whether the user agreed.
    pub consent: Consent,
    /// Its content, or its fault: a phrase.
    pub content: Result<HookFile, String>,
    /// Identifies the content; `None` if it cannot be read.
    pub fingerprint: Option<Fingerprint>,
    /// The scripts of the project that its commands name. Their content is part of the fingerprint.
    pub scripts: Vec<PathBuf>,
    /// What the consent is for, where one is needed and given.
    pub consented: Option<ConsentedFile>,
}

/// Where files of hooks are looked for.
#[derive(Clone, Debug)]
pub struct HookPlaces {
    /// Folder of the settings.
    pub settings: PathBuf,
    /// The user's home, links resolved.
    pub home: PathBuf,
    /// The folders that the user trusts.
    pub trust: TrustedFolders,
    /// The files that the user allowed.
    pub allowed: AllowedFiles,
}

impl HookPlaces {
    /// All files that there are for a project, the user's first. Blocks.
    ///
    /// # Errors
    /// The list of allowed files cannot be read.
    pub fn find(&self, root: Option<&Path>) -> Result<Vec<FoundFile>, PrivateFileError> {
        let mut found: Vec<FoundFile> = self.own().into_iter().collect();
        let allowed = self.allowed.all()?;
        let is_allowed = |path: &Path| allowed.contains_key(path);
        let claude =
            |folder: &Path| CLAUDE_FILES.map(|name| folder.join(name)).into_iter().filter_map(|path| real(&path));
        found.extend(claude(&self.home).filter(|path| is_allowed(path)).map(|path| self.judged(path, None, &allowed)));
        let is_settings = |root: &Path| self.settings.canonicalize().is_ok_and(|settings| settings == root);
        if let Some(root) = root.filter(|root| *root != self.home && !is_settings(root)) {
            let own = real(&root.join(PROJECT_FILE)).into_iter();
            let files = own.chain(claude(root).filter(|path| is_allowed(path)));
            found.extend(files.map(|path| self.judged(path, Some(root), &allowed)));
        }
        Ok(found)
    }

    /// One file, which may be one that is not looked for. Blocks.
    ///
    /// # Errors
    /// The list of allowed files cannot be read.
    pub fn look(&self, path: PathBuf, root: Option<&Path>) -> Result<FoundFile, PrivateFileError> {
        let allowed = self.allowed.all()?;
        Ok(self.judged(path, root.filter(|root| path_is_below(root, &self.home)), &allowed))
    }

    /// Whether [`HookPlaces::find`] would look for a file of this name, in the home or in a project.
    #[must_use]
    pub fn is_looked_for(&self, path: &Path, root: Option<&Path>) -> bool {
        let folders = [Some(self.home.as_path()), root].into_iter().flatten();
        let own = [real(&self.settings.join(OWN_FILE)), root.and_then(|root| real(&root.join(PROJECT_FILE)))];
        let mut files =
            folders.flat_map(|folder| CLAUDE_FILES.map(|name| folder.join(name))).filter_map(|path| real(&path));
        own.into_iter().flatten().any(|own| own == path) || files.any(|file| file == path)
    }

    /// The user's own file. It needs no consent, but no other user may write it. Only where none is there nothing is guarded: a link that leads
    /// nowhere is a fault.
    fn own(&self) -> Option<FoundFile> {
        let named = self.settings.join(OWN_FILE);
        let (path, content) = match fs::symlink_metadata(&named).and_then(|_| named.canonicalize()) {
            Ok(path) => {
                let content = own_content(&path);
                (path, content)
            }
            Err(_) if is_absent(&named) => return None,
            Err(error) => (named, Err(format!("it is there but cannot be reached: {error}"))),
        };
        let (scope, consent, fingerprint, scripts) = (Scope::User, Consent::Given, None, Vec::new());
        Some(FoundFile { path, scope, consent, content, fingerprint, scripts, consented: None })
    }

    /// A file that needs the consent of the user.
    fn judged(
        &self,
        path: PathBuf,
        root: Option<&Path>,
        allowed: &std::collections::BTreeMap<PathBuf, Fingerprint>,
    ) -> FoundFile {
        let scope = if root.is_some() { Scope::Project } else { Scope::User };
        let ReadContent { content, fingerprint, scripts } = consented::read(&path, root);
        let consent = match (root, allowed.get(&path)) {
            (Some(root), _) if !self.trust.covers(root) => Consent::NoTrust,
            (_, None) => Consent::Missing,
            (_, known) if known == fingerprint.as_ref() => Consent::Given,
            _ => Consent::Changed,
        };
        let consented = fingerprint.clone().filter(|_| consent == Consent::Given).map(|fingerprint| {
            let (path, root, allowed) = (path.clone(), root.map(Path::to_owned), self.allowed.clone());
            ConsentedFile { path, root, fingerprint, allowed }
        });
        FoundFile { path, scope, consent, content, fingerprint, scripts, consented }
    }
}

fn own_content(path: &Path) -> Result<HookFile, String> {
    let (bytes, metadata) = files::read_regular(path, MAX_FILE_BYTES).map_err(|error| error.to_string())?;
    let is_own = metadata.uid() == rustix::process::geteuid().as_raw();
    match is_own && metadata.mode() & OTHERS_WRITE == 0 {
        true => file::read(&bytes, path),
        false => Err("other users can write it; run `chmod 600` on it".to_owned()),
    }
}

/// Whether there is nothing of this name, not even a link.
fn is_absent(path: &Path) -> bool {
    let missing = [io::ErrorKind::NotFound, io::ErrorKind::NotADirectory];
    fs::symlink_metadata(path).is_err_and(|error| missing.contains(&error.kind()))
}

/// A project is not the home, and not above it.
fn path_is_below(root: &Path, home: &Path) -> bool {
    !home.starts_with(root)
}

/// The path without links, if there is such a file.
fn real(path: &Path) -> Option<PathBuf> {
    // Most users have none: this is all that is done then.
    fs::symlink_metadata(path).ok()?;
    path.canonicalize().ok()
}

#[cfg(test)]
#[path = "places_tests.rs"]
mod tests;
