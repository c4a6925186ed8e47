//! Files that the policy cannot know by their names: our own, wherever the user has put them, and programs.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use cohab_shell_relay::policy::{Level, Verdict};

use crate::agent::port::Effect;

/// Anybody may run it.
const MAY_RUN: u32 = 0o111;

/// Our own folders.
#[derive(Debug, Default)]
pub(super) struct OwnPlaces(Vec<PathBuf>);

impl OwnPlaces {
    /// Links in them are resolved, as they are in what is judged.
    pub fn new(folders: Vec<PathBuf>) -> Self {
        Self(folders.into_iter().map(|folder| folder.canonicalize().unwrap_or(folder)).collect())
    }

    /// All of them.
    pub fn folders(&self) -> &[PathBuf] {
        &self.0
    }

    /// Raises the verdict on what reads or changes them.
    pub fn judge(&self, effect: &Effect, verdict: &mut Verdict) {
        let (path, word) = match effect {
            Effect::Read { path } => (path, "reads"),
            Effect::Write { path, .. } => (path, "changes"),
            Effect::RunCommand { .. } | Effect::Internal => return,
        };
        let (level, reason) = if self.0.iter().any(|own| path.starts_with(own)) {
            (Level::Danger, format!("{word} cohab's own files: {}", path.display()))
        } else if self.0.iter().any(|own| own.starts_with(path)) {
            (Level::Ask, format!("{word} a place that also holds cohab's own files: {}", path.display()))
        } else {
            return;
        };
        if level > verdict.level {
            verdict.level = level;
            verdict.reasons.insert(0, reason);
        }
    }
}

/// Whether a file that is there may be run.
pub(super) fn is_program(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & MAY_RUN != 0)
}

#[cfg(test)]
#[path = "places_tests.rs"]
mod tests;
