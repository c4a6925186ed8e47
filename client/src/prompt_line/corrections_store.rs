//! Stores the user's corrections across sessions: hashes only, in a private file of the user.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use cohab_line_classifier::{Decision, corrections::Corrections};

/// Name of the file in the folder of states.
pub const FILE_NAME: &str = "gate-corrections";
const FILE_MAX_BYTES: u64 = 1024 * 1024;

/// The file and what was read from it.
#[derive(Debug)]
pub struct CorrectionsStore {
    file: PathBuf,
    corrections: Option<Corrections>,
}

impl CorrectionsStore {
    /// Of a file that is read when it is first needed.
    #[must_use]
    pub fn new(file: PathBuf) -> Self {
        Self { file, corrections: None }
    }

    /// What the user decided about this line. A file that cannot be read holds nothing.
    pub fn lookup(&mut self, line: &str) -> Option<Decision> {
        let file = &self.file;
        self.corrections.get_or_insert_with(|| read(file)).lookup(line)
    }

    /// Keeps a decision. The file is read again first: other shells write it, too.
    ///
    /// # Errors
    /// If the file cannot be written; the decision then holds for this process.
    pub fn learn(&mut self, line: &str, decision: Decision) -> io::Result<()> {
        let mut corrections = read(&self.file);
        corrections.learn(line, decision);
        let text = corrections.to_text();
        self.corrections = Some(corrections);
        write(&self.file, &text)
    }
}

fn read(file: &Path) -> Corrections {
    let is_small = |metadata: &fs::Metadata| metadata.is_file() && metadata.len() <= FILE_MAX_BYTES;
    let mut text = String::new();
    if file.metadata().is_ok_and(|metadata| is_small(&metadata))
        && let Ok(file) = File::open(file)
        && file.take(FILE_MAX_BYTES).read_to_string(&mut text).is_ok()
    {
        return Corrections::parse(&text);
    }
    Corrections::default()
}

/// Puts a whole new file in the place of the old one, readable for the user alone.
fn write(file: &Path, text: &str) -> io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let new = file.with_extension(format!("new-{}", std::process::id()));
    let _ = fs::remove_file(&new);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    let written = options.open(&new).and_then(|mut opened| opened.write_all(text.as_bytes()));
    let written = written.and_then(|()| fs::rename(&new, file));
    if written.is_err() {
        let _ = fs::remove_file(&new);
    }
    written
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_correction_is_known_to_the_next_client_and_no_line_is_in_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("state/cohab").join(FILE_NAME);
        let mut memory = CorrectionsStore::new(file.clone());
        assert_eq!(memory.lookup("make it so"), None);
        memory.learn("make it so", Decision::Shell).unwrap();
        assert_eq!(memory.lookup("make it so"), Some(Decision::Shell));
        assert_eq!(CorrectionsStore::new(file.clone()).lookup("make it so"), Some(Decision::Shell));
        assert!(!fs::read_to_string(&file).unwrap().contains("make"));
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(file.parent().unwrap()).unwrap().count(), 1, "nothing is left beside it");
    }

    #[test]
    fn what_another_shell_wrote_meanwhile_is_kept() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join(FILE_NAME);
        let (mut one, mut other) = (CorrectionsStore::new(file.clone()), CorrectionsStore::new(file));
        assert_eq!(one.lookup("a b"), None);
        other.learn("c d", Decision::Assistant).unwrap();
        one.learn("a b", Decision::Shell).unwrap();
        assert_eq!(one.lookup("c d"), Some(Decision::Assistant));
    }

    #[test]
    fn a_folder_that_cannot_be_written_costs_only_the_memory_of_it() {
        let mut memory = CorrectionsStore::new("/proc/nowhere/gate-corrections".into());
        assert!(memory.learn("a b", Decision::Shell).is_err());
        assert_eq!(memory.lookup("a b"), Some(Decision::Shell));
    }

    #[test]
    fn a_pipe_in_its_place_is_not_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join(FILE_NAME);
        assert!(std::process::Command::new("mkfifo").arg(&file).status().is_ok_and(|status| status.success()));
        assert_eq!(CorrectionsStore::new(file).lookup("a b"), None);
    }
}
