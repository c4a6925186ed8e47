//! Reads, checks and changes the settings file.

use std::{
    fs::{self, DirBuilder, Metadata},
    io,
    os::unix::fs::{DirBuilderExt, MetadataExt},
    path::{Path, PathBuf},
};

use cohab_shell_state::quote;
use cohab_system::files::{self, Expected, FileError};
use toml_edit::{Document, DocumentMut, Item, Table, TableLike, Value};

use super::{
    agents, chosen_profile,
    error::{ConfigError, Position},
    keys::{self, Check, Key, Kind},
    mcp, profile, step_rules,
};

/// Largest settings file.
const FILE_MAX_BYTES: u64 = 1024 * 1024;
/// Most errors that are reported; the rest appear once these are fixed.
const PROBLEMS_MAX: usize = 50;
/// Permission bits of other users that a file with a secret must not have.
const OTHERS_MODE: u32 = 0o077;
/// Mode of a file written here.
const PRIVATE_MODE: u32 = 0o600;

/// A change to the settings file.
#[derive(Clone, Debug)]
pub enum Change {
    /// Gives this setting this value.
    Set(Key, Value),
    /// Removes this setting from the file.
    Unset(Key),
}

/// The settings file as it was read. A missing file is an empty one.
#[derive(Debug)]
pub struct ConfigFile {
    path: PathBuf,
    /// The target of `path`, if `path` is a link.
    real: PathBuf,
    text: String,
    metadata: Option<Metadata>,
}

impl ConfigFile {
    /// Reads the file without checking its content.
    ///
    /// # Errors
    /// The file exists, but cannot be read, is not a regular file, is too large or is not UTF-8.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let fault = |error: FileError| ConfigError::new(path, error.to_string());
        let real = match fs::canonicalize(path) {
            Ok(real) => real,
            Err(error) if error.kind() == io::ErrorKind::NotFound && fs::symlink_metadata(path).is_err() => {
                return Ok(Self { path: path.to_owned(), real: path.to_owned(), text: String::new(), metadata: None });
            }
            Err(error) => return Err(fault(error.into())),
        };
        let (bytes, metadata) = files::read_regular(&real, FILE_MAX_BYTES).map_err(fault)?;
        let text = String::from_utf8(bytes).map_err(|error| {
            let position = Position::of(error.as_bytes(), error.utf8_error().valid_up_to());
            ConfigError::new(path, "the file is not UTF-8 here").at(position)
        })?;
        Ok(Self { path: path.to_owned(), real, text, metadata: Some(metadata) })
    }

    /// The path as given.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its content.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the errors of the file in its order, at most 50; only the first if it is not TOML.
    #[must_use]
    pub fn problems(&self) -> Vec<ConfigError> {
        let document = match self.document() {
            Ok(document) => document,
            Err(error) => return vec![error],
        };
        let mut problems = Vec::new();
        self.check_table(document.as_table(), "", &mut problems);
        self.check_profiles(document.as_table(), &mut problems);
        problems.extend(self.table_problem(step_rules::TABLE, step_rules::problem));
        problems.extend(self.table_problem(agents::TABLE, agents::problem));
        problems.extend(self.table_problem(mcp::TABLE, mcp::problem));
        problems.sort_by_key(|problem| problem.position.map(|position| (position.line, position.column)));
        problems
    }

    /// Returns the file's value for a setting, valid or not, and its position.
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
            if prefix.is_empty() && [step_rules::TABLE, agents::TABLE, mcp::TABLE].contains(&name) {
                continue;
            }
            let full = if prefix.is_empty() { name.to_owned() } else { format!("{prefix}.{name}") };
            let position = self.position(key.span().map(|span| span.start));
            let fault = |message: String| ConfigError::new(&self.path, message).at(position).key(&full);
            match (keys::find(&full), item) {
                (Some(key), Item::Value(value)) => {
                    problems.extend(key.check(value).err().map(fault));
                    problems.extend(stray_path(&key, value, table).map(|hint| fault(hint.0).hint(hint.1)));
                    problems.extend(self.exposure(&key).map(|error| error.at(position).key(&full)));
                }
                (Some(key), _) => problems.push(fault(format!("`{full}` must be {}, not a table", key.allowed()))),
                (None, item) if keys::is_table(&full) => match item.as_table_like() {
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

    /// Reports the first error of a table that is no list of keys.
    fn table_problem(&self, table: &str, problem: fn(&str) -> Option<toml::de::Error>) -> Option<ConfigError> {
        let error = problem(&self.text)?;
        let position = self.position(error.span().map(|span| span.start));
        Some(ConfigError::new(&self.path, error.message()).at(position).key(table))
    }

    /// Reports each setting that names a missing profile.
    fn check_profiles(&self, table: &Table, problems: &mut Vec<ConfigError>) {
        let profiles = table.get(profile::TABLE).and_then(Item::as_table_like);
        let known: Vec<&str> = profiles.iter().flat_map(|table| table.iter()).map(|(name, _)| name).collect();
        let naming = keys::KEYS.iter().filter(|key| matches!(key.kind, Kind::Profile | Kind::Profiles));
        let of_models = naming.map(|key| key.name.to_string());
        let of_profiles = known.iter().map(|name| format!("{}.fallback", profile::table(Some(name))));
        for full in of_models.chain(of_profiles) {
            let Some((names, offset)) = named(table, &full) else { continue };
            let is_missing = |name: &&String| profile::is_name(name) && !known.contains(&name.as_str());
            for name in names.iter().filter(is_missing) {
                let fault = ConfigError::new(&self.path, format!("there is no profile `{name}`"));
                let fault = fault.at(self.position(offset)).key(&full);
                problems.push(fault.hint(chosen_profile::advice(name, &known)));
            }
        }
    }

    /// The names of the profiles, valid or not, in the order of the file.
    #[must_use]
    pub fn profiles(&self) -> Vec<String> {
        let Ok(document) = self.document() else { return Vec::new() };
        let profiles = document.get(profile::TABLE).and_then(Item::as_table_like);
        profiles.iter().flat_map(|table| table.iter()).map(|(name, _)| name.to_owned()).collect()
    }

    /// Reports a secret in a file that other users may read or change.
    fn exposure(&self, key: &Key) -> Option<ConfigError> {
        let mode = self.metadata.as_ref().map_or(PRIVATE_MODE, Metadata::mode) & 0o777;
        (key.is_secret() && mode & OTHERS_MODE != 0).then(|| {
            ConfigError::new(
                &self.path,
                format!("`{}` is in a file that other users can access (mode {mode:04o})", key.name),
            )
            .hint(format!("chmod 600 {}", quote::word(&self.path.to_string_lossy())))
        })
    }

    /// Sets one value and writes the file, as [`ConfigFile::change`] does.
    ///
    /// # Errors
    /// As there.
    pub fn set(&self, key: &Key, value: Value) -> Result<(), ConfigError> {
        self.change(&[Change::Set(key.clone(), value)])
    }

    /// Makes all changes and writes the file once, readable by its owner only. Comments, order and everything else stay.
    ///
    /// # Errors
    /// The file would be invalid afterwards, by this or another value; or it changed meanwhile or cannot be written. Nothing was written
    /// then.
    pub fn change(&self, changes: &[Change]) -> Result<(), ConfigError> {
        let mut document: DocumentMut = self.document()?.into_mut();
        for change in changes {
            match change {
                Change::Set(key, value) => assign(&mut document, &key.name, value.clone())
                    .map_err(|message| ConfigError::new(&self.path, message).key(&key.name))?,
                Change::Unset(key) => remove(document.as_table_mut(), &key.name),
            }
        }
        let changed =
            Self { path: self.path.clone(), real: self.real.clone(), text: document.to_string(), metadata: None };
        if let Some(problem) = changed.problems().into_iter().next() {
            return Err(problem);
        }
        changed.write(self.metadata.as_ref()).map_err(|error| ConfigError::new(&self.path, error.to_string()))
    }

    /// Puts `entry` in the place of `[TABLE.NAME]`, or removes it, and writes the file as [`change`](Self::change) does; returns whether
    /// there was one.
    ///
    /// # Errors
    /// As there.
    pub fn put_table(&self, table: &str, name: &str, entry: Option<Table>) -> Result<bool, ConfigError> {
        let mut document: DocumentMut = self.document()?.into_mut();
        let mut outer = Table::new();
        outer.set_implicit(true);
        let item = document.as_table_mut().entry(table).or_insert(Item::Table(outer));
        let tables = item.as_table_like_mut();
        let tables = tables.ok_or_else(|| ConfigError::new(&self.path, format!("`{table}` must be a table")))?;
        let was_there = tables.remove(name).is_some();
        if let Some(entry) = entry {
            tables.insert(name, Item::Table(entry));
        }
        if tables.is_empty() {
            document.as_table_mut().remove(table);
        }
        let changed =
            Self { path: self.path.clone(), real: self.real.clone(), text: document.to_string(), metadata: None };
        if let Some(problem) = changed.problems().into_iter().next() {
            return Err(problem);
        }
        let written = changed.write(self.metadata.as_ref());
        written.map(|()| was_there).map_err(|error| ConfigError::new(&self.path, error.to_string()))
    }

    fn write(&self, old: Option<&Metadata>) -> Result<(), FileError> {
        if let Some(folder) = self.real.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        }
        let expected = old.map_or(Expected::Absent, Expected::Same);
        files::replace(&self.real, self.text.as_bytes(), expected, Some(PRIVATE_MODE))
    }
}

/// The names in the setting of this full name, one or several, and its position.
fn named(root: &Table, full: &str) -> Option<(Vec<String>, Option<usize>)> {
    let (tables, leaf) = full.rsplit_once('.').map_or(("", full), |(tables, leaf)| (tables, leaf));
    let mut parts = tables.split('.').filter(|part| !part.is_empty());
    let table = parts.try_fold(root as &dyn TableLike, |table, part| table.get(part)?.as_table_like())?;
    let (key, item) = table.get_key_value(leaf)?;
    let several = item.as_array().into_iter().flatten().filter_map(Value::as_str);
    let names = item.as_str().into_iter().chain(several).map(str::to_owned).collect();
    Some((names, key.span().map(|span| span.start)))
}

/// Reports, with a hint, an address that is a path, although only `scripted` takes a path.
fn stray_path(key: &Key, value: &Value, siblings: &dyn TableLike) -> Option<(String, String)> {
    let path = value.as_str().filter(|text| key.kind == Kind::Address && text.starts_with('/'))?;
    let provider = siblings.get("provider").and_then(Item::as_str);
    (provider != Some("scripted")).then(|| {
        let message = format!("`{}` is a path, {path:?}; only the provider `scripted` takes a path", key.name);
        (message, format!("it must be {}", key.allowed()))
    })
}

fn assign(document: &mut DocumentMut, name: &str, value: Value) -> Result<(), String> {
    let (tables, leaf) = name.rsplit_once('.').map_or((None, name), |(tables, leaf)| (Some(tables), leaf));
    let parts: Vec<&str> = tables.into_iter().flat_map(|tables| tables.split('.')).collect();
    let mut new_table = Table::new();
    // Only a table with its own values needs a header.
    new_table.set_implicit(true);
    if parts.first().is_some_and(|first| !document.contains_key(first)) {
        // The new table goes to the very end, after comments there, which belong to the lines above them.
        new_table.set_position(Some(isize::MAX));
        let trailing = document.trailing().as_str().unwrap_or_default().to_owned();
        let gap = if document.is_empty() && trailing.is_empty() { "" } else { "\n" };
        document.set_trailing("");
        new_table.decor_mut().set_prefix(trailing + gap);
    }
    let mut table: &mut dyn TableLike = document.as_table_mut();
    for part in parts {
        let item = table.entry(part).or_insert_with(|| Item::Table(new_table.clone()));
        table = item.as_table_like_mut().ok_or_else(|| format!("`{part}` must be a table"))?;
    }
    match table.get_mut(leaf) {
        Some(Item::Value(old)) => {
            // Spaces and comments around the old value stay.
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

/// Removes a value. Anything else of this name stays and is reported as an error.
fn remove(root: &mut Table, name: &str) {
    let (tables, leaf) = name.rsplit_once('.').map_or((None, name), |(tables, leaf)| (Some(tables), leaf));
    let mut table: &mut dyn TableLike = root;
    for part in tables.into_iter().flat_map(|tables| tables.split('.')) {
        let Some(inner) = table.get_mut(part).and_then(Item::as_table_like_mut) else { return };
        table = inner;
    }
    if table.get(leaf).is_some_and(Item::is_value) {
        table.remove(leaf);
    }
}
