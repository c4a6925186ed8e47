//! Questions at a terminal: a list to choose from, a line, a secret. One trait, two ways to ask: a live area, and plain numbered
//! lines where the terminal cannot move its cursor or the user wants it so.

mod keys;
mod line;
mod list;
mod plain;
mod screen;
mod terminal;

use std::io;

use cohab_text::sanitize::one_line;
use secrecy::SecretString;

pub use self::{plain::Plain, screen::Screen, terminal::Terminal};

/// One thing to choose.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// What it is.
    pub name: String,
    /// What one should know of it; may be empty.
    pub remark: String,
}

impl Row {
    /// A row. Texts of others are made harmless.
    pub fn new(name: impl AsRef<str>, remark: impl AsRef<str>) -> Self {
        let clean = |text: &str| one_line(text, 200);
        Self { name: clean(name.as_ref()), remark: clean(remark.as_ref()) }
    }
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum Stopped {
    /// The user wants no more questions.
    #[error("cancelled")]
    Cancelled,
    /// The terminal is gone.
    #[error("the terminal cannot be used: {0}")]
    Gone(#[from] io::Error),
}

/// What is wrong with a line, or nothing.
pub type Check<'a> = &'a dyn Fn(&str) -> Result<(), String>;

/// A way to ask.
pub trait Prompt {
    /// Prints a line that stays.
    ///
    /// # Errors
    /// The terminal is gone.
    fn say(&mut self, tone: Tone, text: &str) -> Result<(), Stopped>;

    /// Shows what is being waited for, until the next output takes its place.
    ///
    /// # Errors
    /// The terminal is gone.
    fn wait(&mut self, text: &str) -> Result<(), Stopped>;

    /// Has one of `rows` (at least one) chosen; gives its index.
    ///
    /// # Errors
    /// No answer.
    fn choose(&mut self, question: &str, rows: &[Row], preselected: usize) -> Result<usize, Stopped>;

    /// Has a line written that passes the check.
    ///
    /// # Errors
    /// No answer.
    fn line(&mut self, question: &str, hint: &str, check: Check<'_>) -> Result<String, Stopped>;

    /// Has a secret written or pasted, which is not shown.
    ///
    /// # Errors
    /// No answer.
    fn secret(&mut self, question: &str, hint: &str, check: Check<'_>) -> Result<SecretString, Stopped>;
}

/// How a line is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// The title.
    Title,
    /// A step that is done.
    Done,
    /// A step that failed.
    Failed,
    /// Words of second rank.
    Aside,
    /// Just so.
    Plain,
}
