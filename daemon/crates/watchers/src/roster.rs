//! The operations of a user's command on watchers: make, find, pause, resume and remove. It writes the store; a daemon that runs hears of
//! it by the store's signal.

use std::path::PathBuf;

use cohab_model_api::Secrets;
use cohab_store::{
    StoreError,
    watchers::{MAX_WATCHERS, NewWatcher, WatcherRow, WatcherState, WatcherStore},
};
use jiff::{Timestamp, Zoned};

use crate::{condition::Condition, files::WatcherFiles, look, parse::parse};

/// Longest question, in bytes.
pub const MAX_QUESTION_BYTES: usize = 4 * 1024;
/// Longest name, in characters.
pub const MAX_NAME_CHARS: usize = 40;

/// Why nothing was done: a clause, and what helps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RosterError {
    /// What is wrong.
    pub message: String,
    /// What the user can do.
    pub hint: Option<String>,
}

fn wrong<T>(message: impl Into<String>, hint: impl Into<String>) -> Result<T, RosterError> {
    Err(RosterError { message: message.into(), hint: Some(hint.into()) })
}

/// What the user asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wish<'a> {
    /// The condition.
    pub when: &'a str,
    /// What is asked then.
    pub question: Option<&'a str>,
    /// Whether it is waited for again each time.
    pub is_repeat: bool,
    /// What it is called.
    pub name: Option<&'a str>,
}

/// The watchers of a user, for a command that runs somewhere.
pub struct Roster {
    /// Their files.
    pub files: WatcherFiles,
    /// Where the command runs.
    pub folder: PathBuf,
    /// The user's home.
    pub home: PathBuf,
    /// The terminal in which it runs, if cohab opened it.
    pub terminal: Option<String>,
    /// When it runs.
    pub now: Zoned,
}

/// What a condition is when it begins to be waited for.
struct Beginning {
    condition: Condition,
    anchor: String,
    due: Option<Timestamp>,
}

impl Roster {
    /// Makes a watcher; returns its number and what is stored of it.
    ///
    /// # Errors
    /// It cannot be waited for, or not be stored.
    pub fn add(&self, wish: Wish<'_>) -> Result<(u32, NewWatcher), RosterError> {
        let Some(terminal) = self.terminal.clone() else {
            let message = "this is no shell of cohab, and a watcher needs one to report to";
            return wrong(message, "run `cohab`, and type this there");
        };
        let Beginning { condition, anchor, due } = self.begin(wish.when, &self.folder.clone())?;
        if wish.is_repeat && !condition.can_repeat() {
            let hint = "leave --repeat out; `every 10m` and `cron` repeat";
            return wrong("that happens only once, so it cannot repeat", hint);
        }
        let question = wish.question.map(str::trim).filter(|question| !question.is_empty());
        if question.is_some_and(|question| question.len() > MAX_QUESTION_BYTES) {
            let message = format!("the question is longer than {MAX_QUESTION_BYTES} bytes");
            return wrong(message, "put the text into a file and ask about that");
        }
        let mut store =
            WatcherStore::create(&self.files.store, &self.files.signal).map_err(|error| self.unusable(&error))?;
        let new = NewWatcher {
            name: self.checked_name(wish.name, &store)?,
            condition: condition.to_string(),
            question: question.map(without_secrets),
            folder: self.folder.clone(),
            terminal,
            is_repeat: wish.is_repeat || condition.always_repeats(),
            made: self.now.timestamp(),
            anchor,
            due,
        };
        match store.add(&new).map_err(|error| self.unusable(&error))? {
            Some(id) => Ok((id, new)),
            None => wrong(
                format!("there are {MAX_WATCHERS} watchers, which is the limit"),
                "remove some with `cohab watch rm`",
            ),
        }
    }

    /// All watchers, by number.
    ///
    /// # Errors
    /// The store cannot be used.
    pub fn all(&self) -> Result<Vec<WatcherRow>, RosterError> {
        let all = self.files.open().and_then(|store| store.map_or(Ok(Vec::new()), |store| store.all()));
        all.map_err(|error| self.unusable(&error))
    }

    /// Pauses a watcher; returns it, and whether it was active.
    ///
    /// # Errors
    /// There is none, or the store cannot be used.
    pub fn pause(&self, id: &str) -> Result<(WatcherRow, bool), RosterError> {
        self.change(id, |store, row| store.pause(row.id))
    }

    /// Removes a watcher; returns it.
    ///
    /// # Errors
    /// There is none, or the store cannot be used.
    pub fn remove(&self, id: &str) -> Result<WatcherRow, RosterError> {
        self.change(id, |store, row| store.remove(row.id)).map(|(row, _)| row)
    }

    /// Waits again for a watcher's condition, as things are now; returns it, and whether it was not active.
    ///
    /// # Errors
    /// There is none, it cannot be waited for, or the store cannot be used.
    pub fn resume(&self, id: &str) -> Result<(WatcherRow, bool), RosterError> {
        let (_, row) = self.found(id)?;
        let Beginning { anchor, due, .. } = self.begin(&row.watcher.condition, &row.watcher.folder)?;
        self.change(id, |store, row| store.resume(row.id, &anchor, due))
    }

    fn change(
        &self,
        id: &str,
        change: impl FnOnce(&mut WatcherStore, &WatcherRow) -> Result<bool, StoreError>,
    ) -> Result<(WatcherRow, bool), RosterError> {
        let (mut store, row) = self.found(id)?;
        let is_changed = change(&mut store, &row).map_err(|error| self.unusable(&error))?;
        Ok((row, is_changed))
    }

    /// The watcher of this number or name; of several with the name, the newest that still waits.
    fn found(&self, id: &str) -> Result<(WatcherStore, WatcherRow), RosterError> {
        let number: Option<u32> = id.parse().ok();
        let is_meant = |row: &WatcherRow| match number {
            Some(number) => row.id == number,
            None => row.watcher.name.as_deref() == Some(id),
        };
        let rows = self.all()?.into_iter().filter(is_meant);
        let row = rows.max_by_key(|row| (is_waiting(row), row.id));
        match row.zip(self.files.open().map_err(|error| self.unusable(&error))?) {
            Some((row, store)) => Ok((store, row)),
            None => {
                let id = cohab_text::sanitize::one_line(id, MAX_NAME_CHARS);
                wrong(format!("there is no watcher {id}"), "`cohab watch list` lists them")
            }
        }
    }

    /// Reads a condition, and how what it depends on is now.
    fn begin(&self, text: &str, folder: &std::path::Path) -> Result<Beginning, RosterError> {
        let condition = match parse(text, folder, &self.home) {
            Ok(condition) => condition,
            Err(error) => {
                return wrong(error.to_string(), format!("for example: cohab watch --when \"{}\"", error.example));
            }
        };
        let impossible = |message: String| RosterError { message, hint: None };
        let due = match &condition {
            Condition::Time(rule) => {
                let next = rule.next(&self.now).ok_or_else(|| impossible("that time is over".to_owned()))?;
                Some(next.timestamp())
            }
            _ => None,
        };
        let anchor = look::begin(&condition).map_err(impossible)?;
        Ok(Beginning { condition, anchor, due })
    }

    fn checked_name(&self, name: Option<&str>, store: &WatcherStore) -> Result<Option<String>, RosterError> {
        let Some(name) = name else { return Ok(None) };
        let is_word = !name.is_empty() && !name.contains(|c: char| c.is_whitespace() || c.is_control());
        if !is_word || name.chars().count() > MAX_NAME_CHARS || name.bytes().all(|byte| byte.is_ascii_digit()) {
            let hint = format!("a name is one word of at most {MAX_NAME_CHARS} characters, and no number");
            return wrong("that is no name for a watcher", hint);
        }
        let rows = store.all().map_err(|error| self.unusable(&error))?;
        match rows.iter().find(|row| is_waiting(row) && row.watcher.name.as_deref() == Some(name)) {
            Some(row) => {
                wrong(format!("watcher {} has that name", row.id), format!("`cohab watch rm {name}` removes it"))
            }
            None => Ok(Some(name.to_owned())),
        }
    }

    fn unusable(&self, error: &StoreError) -> RosterError {
        let message = format!("{} cannot be used: {error}", self.files.store.display());
        RosterError { message, hint: error.remedy().map(str::to_owned) }
    }
}

fn is_waiting(row: &WatcherRow) -> bool {
    matches!(row.state, WatcherState::Active | WatcherState::Paused)
}

/// The question as it is stored: secrets of this process and of known forms are taken out.
fn without_secrets(question: &str) -> String {
    let mut question = question.to_owned();
    Secrets::of_this_process().text(&mut question);
    question
}

#[cfg(test)]
#[path = "roster_tests.rs"]
mod tests;
