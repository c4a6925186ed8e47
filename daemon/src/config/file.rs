//! The settings file: reading, checking, changing.

use std::{
    borrow::Cow,
    fs::{self, DirBuilder, Metadata},
    io,
    os::unix::fs::{DirBuilderExt, MetadataExt},
    path::{Path, PathBuf},
};

use toml_edit::{Document, DocumentMut, Item, Table, TableLike, Value};

use super::{
    error::{ConfigError, Position},
    keys::{self, Key},
};
use crate::file::{self, Expected, FileError};

/// Largest settings file.
const FILE_MAX_BYTES: u64 = 1024 * 1024;
/// Faults that are looked for; whoever mends these sees the rest.
const PROBLEMS_MAX: usize = 50;
/// What others may not have of a file with a secret in it.
const OTHERS_MODE: u32 = 0o077;
/// Mode of a file written here.
const PRIVATE_MODE: u32 = 0o600;

/// The settings file as it was read. A missing file is an empty one.
#[derive(Debug)]
pub struct ConfigFile {
    path: PathBuf,
    /// Where the file is in the end, if `path` is a link.
    real: PathBuf,
    text: String,
    metadata: Option<Metadata>,
}

impl ConfigFile {
    /// Reads the file; says nothing about its content.
    ///
    /// # Errors
    /// It is there, but cannot be read, is no regular file, is too large or no UTF-8.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let fault = |error: FileError| ConfigError::new(path, error.to_string());
        let real = match fs::canonicalize(path) {
            Ok(real) => real,
            Err(error) if error.kind() == io::ErrorKind::NotFound && fs::symlink_metadata(path).is_err() => {
                return Ok(Self { path: path.to_owned(), real: path.to_owned(), text: String::new(), metadata: None });
            }
            Err(error) => return Err(fault(error.into())),
        };
        let (bytes, metadata) = file::read_regular(&real, FILE_MAX_BYTES).map_err(fault)?;
        let text = String::from_utf8(bytes).map_err(|error| {
            let position = Position::of(error.as_bytes(), error.utf8_error().valid_up_to());
            ConfigError::new(path, "the file is not UTF-8 here").at(position)
        })?;
        Ok(Self { path: path.to_owned(), real, text, metadata: Some(metadata) })
    }

    /// Its path as it was given.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its content.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What is wrong with it, in the order of the file, up to 50 faults; only the first if it is no TOML.
    #[must_use]
    pub fn problems(&self) -> Vec<ConfigError> {
        let document = match self.document() {
            Ok(document) => document,
            Err(error) => return vec![error],
        };
        let mut problems = Vec::new();
        self.check_table(document.as_table(), "", &mut problems);
        problems.sort_by_key(|problem| problem.position.map(|position| (position.line, position.column)));
        problems
    }

    /// The value the file has for a setting, and where, whether it is right or wrong.
    #[must_use]
    pub fn value(&self, key: &Key) -> Option<(Value, Position)> {
        let document = self.document().ok()?;
        let mut item = document.as_item();
        let mut offset = None;
        for part in key.name.split('.') {
            let (name, next) = item.as_table_like()?.get_key_value(part)?;
            offset = name.span().map(|span| span.start);
            item = next;
        }
        Some((item.as_value()?.clone(), self.position(offset)))
    }

    fn document(&self) -> Result<Document<&str>, ConfigError> {
        Document::parse(self.text.as_str()).map_err(|error| {
            let message = error.message().lines().collect::<Vec<_>>().join(" ");
            ConfigError::new(&self.path, message).at(self.position(error.span().map(|span| span.start)))
        })
    }

    fn position(&self, offset: Option<usize>) -> Position {
        Position::of(self.text.as_bytes(), offset.unwrap_or_default())
    }

    fn check_table(&self, table: &dyn TableLike, prefix: &str, problems: &mut Vec<ConfigError>) {
        for (name, _) in table.iter() {
            if problems.len() >= PROBLEMS_MAX {
                return;
            }
            let Some((key, item)) = table.get_key_value(name) else { continue };
            let full = if prefix.is_empty() { name.to_owned() } else { format!("{prefix}.{name}") };
            let position = self.position(key.span().map(|span| span.start));
            let fault = |message: String| ConfigError::new(&self.path, message).at(position).key(&full);
            let is_table =
                keys::KEYS.iter().any(|key| key.name.strip_prefix(&full).is_some_and(|rest| rest.starts_with('.')));
            match (keys::find(&full), item) {
                (Some(key), Item::Value(value)) => {
                    problems.extend(key.check(value).err().map(fault));
                    problems.extend(self.exposure(key).map(|error| error.at(position).key(&full)));
                }
                (Some(key), _) => problems.push(fault(format!("`{full}` must be {}, not a table", key.kind.allowed()))),
                (None, item) if is_table => match item.as_table_like() {
                    Some(inner) => self.check_table(inner, &full, problems),
                    None => problems.push(fault(format!("`{full}` must be a table"))),
                },
                (None, _) => {
                    let shown: String = full.chars().filter(|c| !c.is_control()).take(100).collect();
                    problems.push(fault(format!("unknown key `{shown}`")).hint(keys::advice(&full)));
                }
            }
        }
    }

    /// The fault that a secret stands in a file that others may read or change.
    fn exposure(&self, key: &Key) -> Option<ConfigError> {
        let mode = self.metadata.as_ref().map_or(PRIVATE_MODE, Metadata::mode) & 0o777;
        (key.is_secret && mode & OTHERS_MODE != 0).then(|| {
            ConfigError::new(
                &self.path,
                format!("`{}` stands in a file that others may use (mode {mode:04o})", key.name),
            )
            .hint(format!("chmod 600 {}", shell_word(&self.path)))
        })
    }

    /// Sets one value and writes the file, readable by its owner only. Comments, order and all else stay.
    ///
    /// # Errors
    /// The file would be wrong afterwards, by this or another value; or it changed meanwhile or cannot be written. Then
    /// nothing was written.
    pub fn set(&self, key: &Key, value: Value) -> Result<(), ConfigError> {
        let mut document: DocumentMut = self.document()?.into_mut();
        assign(&mut document, key.name, value)
            .map_err(|message| ConfigError::new(&self.path, message).key(key.name))?;
        let changed =
            Self { path: self.path.clone(), real: self.real.clone(), text: document.to_string(), metadata: None };
        if let Some(problem) = changed.problems().into_iter().next() {
            return Err(problem);
        }
        changed.write(self.metadata.as_ref()).map_err(|error| ConfigError::new(&self.path, error.to_string()))
    }

    fn write(&self, old: Option<&Metadata>) -> Result<(), FileError> {
        if let Some(folder) = self.real.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        }
        let expected = old.map_or(Expected::Absent, Expected::Same);
        file::replace(&self.real, self.text.as_bytes(), expected, Some(PRIVATE_MODE))
    }
}

fn shell_word(path: &Path) -> String {
    let text = path.to_string_lossy();
    // A path has no NUL, the one thing that cannot be quoted.
    shlex::try_quote(&text).map_or_else(|_| text.to_string(), Cow::into_owned)
}

fn assign(document: &mut DocumentMut, name: &str, value: Value) -> Result<(), String> {
    let (tables, leaf) = name.rsplit_once('.').unwrap_or(("", name));
    let mut new_table = Table::new();
    // Only a table with values of its own needs a header.
    new_table.set_implicit(true);
    if tables.split('.').next().is_some_and(|first| !document.contains_key(first)) {
        // It goes to the very end, behind comments there, which belong to what is above them.
        new_table.set_position(Some(isize::MAX));
        let trailing = document.trailing().as_str().unwrap_or_default().to_owned();
        let gap = if document.is_empty() && trailing.is_empty() { "" } else { "\n" };
        document.set_trailing("");
        new_table.decor_mut().set_prefix(trailing + gap);
    }
    let mut table: &mut dyn TableLike = document.as_table_mut();
    for part in tables.split('.') {
        let item = table.entry(part).or_insert_with(|| Item::Table(new_table.clone()));
        table = item.as_table_like_mut().ok_or_else(|| format!("`{part}` must be a table"))?;
    }
    match table.get_mut(leaf) {
        Some(Item::Value(old)) => {
            // Blanks and comments around the old value stay.
            let decor = old.decor().clone();
            *old = value;
            *old.decor_mut() = decor;
        }
        _ => {
            table.insert(leaf, Item::Value(value));
        }
    }
    Ok(())
}
