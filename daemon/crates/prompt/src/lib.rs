//! Prompts ask questions at a terminal: a list to choose from, a line, a secret. One trait has two implementations: a live area, and
//! plain numbered lines for terminals that cannot move their cursor and for users who prefer them.
//!
//! [`picker`] fills the screen with a list and a preview, for the records that `cohab sessions` and its like list elsewhere.

mod fuzzy;
mod keys;
mod line;
mod list;
pub mod picker;
mod plain;
mod screen;
mod terminal;

use std::io;

use cohab_text::sanitize::one_line;
use secrecy::SecretString;

pub use self::{plain::Plain, screen::Screen, terminal::Terminal};

/// A choice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// Its name.
    pub name: String,
    /// A remark on it; may be empty.
    pub remark: String,
    /// Further text that a filter finds and that the list does not show.
    pub keywords: String,
}

impl Row {
    /// A row. Untrusted text is made harmless.
    pub fn new(name: impl AsRef<str>, remark: impl AsRef<str>) -> Self {
        let clean = |text: &str| one_line(text, 200);
        Self { name: clean(name.as_ref()), remark: clean(remark.as_ref()), keywords: String::new() }
    }

    /// The same row, found by this text too.
    #[must_use]
    pub fn found_by(self, keywords: impl AsRef<str>) -> Self {
        Self { keywords: one_line(keywords.as_ref(), 200), ..self }
    }
}

/// Whether the user sees what is drawn: not on a terminal that cannot move its cursor, nor through a screen reader.
pub fn can_draw() -> bool {
    let is_accessible = set("COHAB_ACCESSIBLE").is_some_and(|value| value != "0");
    !is_accessible && set("TERM").is_some_and(|term| term != "dumb")
}

/// Whether output is not to wait for keys: so the assistant's commands run.
pub fn is_unpaged() -> bool {
    set("PAGER").is_some_and(|pager| pager == "cat")
}

/// Whether the user wants colours.
pub fn is_colored() -> bool {
    set("NO_COLOR").is_none()
}

/// The value of a variable, unless it is empty.
fn set(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// The reason why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum Stopped {
    /// The user cancels.
    #[error("cancelled")]
    Cancelled,
    /// The terminal is gone.
    #[error("the terminal cannot be used: {0}")]
    Gone(#[from] io::Error),
}

/// Checks a line; the error describes its fault.
pub type Check<'a> = &'a dyn Fn(&str) -> Result<(), String>;

/// A way to ask questions.
pub trait Prompt {
    /// Prints a line that stays.
    ///
    /// # Errors
    /// The terminal is gone.
    fn say(&mut self, tone: Tone, text: &str) -> Result<(), Stopped>;

    /// Shows the current wait, until the next output replaces it.
    ///
    /// # Errors
    /// The terminal is gone.
    fn wait(&mut self, text: &str) -> Result<(), Stopped>;

    /// Asks for one of `rows` (at least one); returns its index.
    ///
    /// # Errors
    /// No answer.
    fn choose(&mut self, question: &str, rows: &[Row], preselected: usize) -> Result<usize, Stopped>;

    /// Asks for a line that passes the check.
    ///
    /// # Errors
    /// No answer.
    fn line(&mut self, question: &str, hint: &str, check: Check<'_>) -> Result<String, Stopped>;

    /// Asks for a secret, typed or pasted, which is not shown.
    ///
    /// # Errors
    /// No answer.
    fn secret(&mut self, question: &str, hint: &str, check: Check<'_>) -> Result<SecretString, Stopped>;
}

/// The tone of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// The title.
    Title,
    /// A step that is done.
    Done,
    /// A step that failed.
    Failed,
    /// Less important words.
    Aside,
    /// Plain words.
    Plain,
}
