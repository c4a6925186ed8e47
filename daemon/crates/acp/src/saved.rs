//! Keeps the agents' own names of their conversations, so that a later daemon can continue them. A file each; nothing else is in it.

use std::{
    fs,
    path::{Path, PathBuf},
    time::SystemTime,
};

use cohab_system::files::{self, Expected, FileError};

/// Longest name of a conversation.
const NAME_MAX_BYTES: usize = 1024;
/// Most files; the oldest make room.
const MAX_FILES: usize = 200;

/// The folder of the names.
#[derive(Clone, Debug)]
pub(crate) struct SavedSessions(PathBuf);

impl SavedSessions {
    pub(crate) fn at(folder: PathBuf) -> Self {
        Self(folder)
    }

    /// The conversation that an agent had in this session.
    pub(crate) fn find(&self, session: &str, agent: &str) -> Option<String> {
        let (bytes, _) = files::read_regular(&self.file(session, agent), NAME_MAX_BYTES as u64).ok()?;
        String::from_utf8(bytes).ok().filter(|name| !name.is_empty())
    }

    /// Remembers it. Without it the agent begins anew, so a disk that refuses is no failure.
    pub(crate) fn keep(&self, session: &str, agent: &str, name: &str) {
        if name.len() > NAME_MAX_BYTES {
            return;
        }
        let file = self.file(session, agent);
        let kept = files::make_folder(&self.0).map_err(FileError::from).and_then(|()| {
            self.make_room();
            let old = fs::symlink_metadata(&file).ok();
            let expected = old.as_ref().map_or(Expected::Absent, Expected::Same);
            files::replace(&file, name.as_bytes(), expected, Some(0o600))
        });
        if let Err(error) = kept {
            tracing::warn!(%error, "the conversation of an agent could not be kept");
        }
    }

    /// Forgets the conversations of all agents in this session.
    pub(crate) fn forget(&self, session: &str) {
        // A folder that is missing holds none.
        let Ok(entries) = fs::read_dir(&self.0) else { return };
        let front = format!("{}.", Self::safe(session));
        let found = entries.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with(&front));
        for path in found.map(|entry| entry.path()) {
            if let Err(error) = fs::remove_file(&path) {
                tracing::warn!(%error, "the conversation of an agent could not be forgotten");
            }
        }
    }

    /// Both parts of a file's name are names; anything else in them is no part of a path.
    fn safe(text: &str) -> String {
        text.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect()
    }

    fn file(&self, session: &str, agent: &str) -> PathBuf {
        self.0.join(format!("{}.{}", Self::safe(session), Self::safe(agent)))
    }

    fn make_room(&self) {
        let Ok(entries) = fs::read_dir(&self.0) else { return };
        let age =
            |path: &Path| path.metadata().and_then(|metadata| metadata.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
        let mut kept: Vec<(SystemTime, PathBuf)> =
            entries.flatten().map(|entry| (age(&entry.path()), entry.path())).collect();
        kept.sort();
        let excess = kept.len().saturating_sub(MAX_FILES - 1);
        kept.iter().take(excess).for_each(|(_, path)| drop(fs::remove_file(path)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_again_and_no_path_leads_elsewhere() {
        let folder = tempfile::tempdir().expect("a folder");
        let saved = SavedSessions::at(folder.path().join("agents"));
        assert_eq!(saved.find("s", "codex"), None);
        saved.keep("s", "codex", "one");
        saved.keep("s", "codex", "two");
        saved.keep("../../x", "a/b", "three");
        assert_eq!(saved.find("s", "codex").as_deref(), Some("two"));
        assert_eq!(saved.find("../../x", "a/b").as_deref(), Some("three"));
        assert_eq!(saved.find("s", "other"), None);
        saved.keep("s", "codex", &"x".repeat(NAME_MAX_BYTES + 1));
        assert_eq!(saved.find("s", "codex").as_deref(), Some("two"));
        assert_eq!(fs::read_dir(folder.path().join("agents")).expect("it").count(), 2);
    }

    #[test]
    fn a_session_forgets_its_agents_and_no_others() {
        let folder = tempfile::tempdir().expect("a folder");
        let saved = SavedSessions::at(folder.path().to_owned());
        for (session, agent) in [("s", "codex"), ("s", "claude"), ("s2", "codex")] {
            saved.keep(session, agent, "x");
        }
        saved.forget("s");
        assert_eq!((saved.find("s", "codex"), saved.find("s", "claude")), (None, None));
        assert_eq!(saved.find("s2", "codex").as_deref(), Some("x"));
    }

    #[test]
    fn the_oldest_make_room() {
        let folder = tempfile::tempdir().expect("a folder");
        let saved = SavedSessions::at(folder.path().to_owned());
        for number in 0..MAX_FILES + 3 {
            saved.keep(&number.to_string(), "a", "x");
        }
        assert!(fs::read_dir(folder.path()).expect("it").count() <= MAX_FILES);
    }
}
