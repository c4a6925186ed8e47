//! The verdict on a line: a level, and the reasons for it.

/// The level of a verdict, from lax to strict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Plainly read-only: runs at once.
    Allow,
    /// Shown in full; one key approves.
    Ask,
    /// Known to do harm; asked loudly, never remembered.
    Danger,
    /// The line is not run.
    Deny,
}

impl Level {
    /// The level's word in files and outputs.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Danger => "danger",
            Self::Deny => "deny",
        }
    }

    /// The level of this word.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
        [Self::Allow, Self::Ask, Self::Danger, Self::Deny].into_iter().find(|level| level.word() == word)
    }
}

/// A level and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The strictest level of all parts.
    pub level: Level,
    /// The reasons for a level above `Allow`, a short sentence each, strictest first.
    pub reasons: Vec<String>,
    /// One of the reasons is asked about in every mode that asks at all.
    pub(crate) has_firm_reason: bool,
}

impl Verdict {
    /// A verdict without a firm reason.
    #[must_use]
    pub fn new(level: Level, reasons: Vec<String>) -> Self {
        Self { level, reasons, has_firm_reason: false }
    }

    /// Whether a question is asked in every mode that asks at all: by a rule, because of a secret, or because of a write outside the
    /// working directory.
    #[must_use]
    pub fn is_firm(&self) -> bool {
        self.level > Level::Ask || self.has_firm_reason
    }
}

/// One reason against a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Objection {
    pub level: Level,
    pub reason: String,
    /// It is asked about in every mode that asks at all.
    pub is_firm: bool,
}

impl Objection {
    pub(crate) fn new(level: Level, reason: impl Into<String>) -> Self {
        Self { level, reason: reason.into(), is_firm: false }
    }

    pub(crate) fn ask(reason: impl Into<String>) -> Self {
        Self::new(Level::Ask, reason)
    }

    pub(crate) fn danger(reason: impl Into<String>) -> Self {
        Self::new(Level::Danger, reason)
    }

    /// The same about a place to which the path `shown` leads.
    pub(crate) fn through(self, shown: &str) -> Self {
        Self { reason: format!("{} (through {shown})", self.reason), ..self }
    }

    pub(crate) fn firm(self) -> Self {
        Self { is_firm: true, ..self }
    }
}
