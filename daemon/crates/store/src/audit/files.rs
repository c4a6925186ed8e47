//! The audit files: where they are, and their names.

use cohab_system::files::make_folder;
use std::{fs, io, path::PathBuf};

use cohab_protocol::Paths;

use crate::key_folder::KeyFolder;

/// Ends the names of the files of records.
const SUFFIX: &str = ".jsonl";
/// Digits of their names.
const NAME_DIGITS: usize = 8;

/// The folders of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// The folder of records.
    pub folder: PathBuf,
    /// The folder of key and head.
    pub apart: PathBuf,
}

impl Places {
    /// The folders of this user.
    #[must_use]
    pub fn of(paths: &Paths) -> Self {
        Self { folder: paths.state_dir.join("audit"), apart: paths.config_dir.join("audit") }
    }

    /// The folder of key and head, with what can be done in it.
    pub(super) fn keys(&self) -> KeyFolder {
        KeyFolder::at(&self.apart)
    }

    /// The file of the key.
    #[must_use]
    pub fn key_file(&self) -> PathBuf {
        self.keys().key_file()
    }

    /// The file of the head, which every reader and writer of records holds locked.
    #[must_use]
    pub fn head_file(&self) -> PathBuf {
        self.keys().head_file()
    }

    pub(super) fn segment_file(&self, number: u64) -> PathBuf {
        self.folder.join(format!("{number:0NAME_DIGITS$}{SUFFIX}"))
    }

    /// Whether the file of this number is empty.
    pub(super) fn is_empty(&self, number: u64) -> bool {
        fs::symlink_metadata(self.segment_file(number)).is_ok_and(|found| found.is_file() && found.len() == 0)
    }

    /// Numbers of the files of records, in order.
    pub(super) fn segments(&self) -> io::Result<Vec<u64>> {
        let entries = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut numbers: Vec<u64> = entries.flatten().filter_map(|entry| number(entry.file_name().to_str()?)).collect();
        numbers.sort_unstable();
        Ok(numbers)
    }

    pub(super) fn make_folders(&self) -> io::Result<()> {
        make_folder(&self.folder)?;
        make_folder(&self.apart)
    }
}

fn number(name: &str) -> Option<u64> {
    let digits = name.strip_suffix(SUFFIX).filter(|digits| digits.len() >= NAME_DIGITS)?;
    digits.parse().ok().filter(|number| format!("{number:0NAME_DIGITS$}") == digits)
}
