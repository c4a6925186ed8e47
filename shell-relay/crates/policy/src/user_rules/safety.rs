//! Reads the table `[safety]` of a file of rules: the assistant's caution with texts, and with its actions after it has read them.
//!
//! ```toml
//! [safety]
//! level = "balanced"        # "permissive", "balanced", "strict": what holds for each key that is not set
//! [safety.personal]         # what leaves for a model: "keep" or "redact"
//! email = "redact"          # phone, card, iban, national-id, ip
//! [safety.stages]
//! injection = "note"        # "off", "note", "ask"
//! guard = "usual"           # "usual", "firm"
//! ```
//!
//! | key | permissive | balanced | strict |
//! |---|---|---|---|
//! | each of `personal` | keep | keep | redact |
//! | `injection` | off | note | ask |
//! | `guard` | usual | usual | firm |
//!
//! Secrets are taken out at every level. Of several files the strictest value of each key counts.

use std::{fmt, ops::Range};

use cohab_secrets::PersonalData;
use toml_edit::{Item, TableLike};

use super::origin::Origin;

/// The degree of caution, in one word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum SafetyLevel {
    /// Only the precautions that are never switched off.
    Permissive,
    /// The default.
    #[default]
    Balanced,
    /// All precautions.
    Strict,
}

/// The consequence of a text from elsewhere that reads like instructions to the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Injection {
    /// No consequence: no text is examined.
    Off,
    /// User and model are informed, and actions that the user allowed before are asked about again.
    Note,
    /// From then on every action is asked about, also an allowed one.
    Ask,
}

/// Whether the automatic mode answers for the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Guard {
    /// The automatic mode answers questions without danger.
    Usual,
    /// The automatic mode answers nothing: each question goes to the user.
    Firm,
}

const LEVELS: &[(&str, SafetyLevel)] =
    &[("permissive", SafetyLevel::Permissive), ("balanced", SafetyLevel::Balanced), ("strict", SafetyLevel::Strict)];
const INJECTIONS: &[(&str, Injection)] = &[("off", Injection::Off), ("note", Injection::Note), ("ask", Injection::Ask)];
const GUARDS: &[(&str, Guard)] = &[("usual", Guard::Usual), ("firm", Guard::Firm)];
const WITHHELD: &[(&str, bool)] = &[("keep", false), ("redact", true)];

/// Kinds of personal data.
const KINDS: usize = PersonalData::NAMES.len();

impl SafetyLevel {
    /// The word in files.
    #[must_use]
    pub fn word(self) -> &'static str {
        word(LEVELS, self)
    }
}

impl Injection {
    /// The word in files.
    #[must_use]
    pub fn word(self) -> &'static str {
        word(INJECTIONS, self)
    }
}

impl Guard {
    /// The word in files.
    #[must_use]
    pub fn word(self) -> &'static str {
        word(GUARDS, self)
    }
}

fn word<T: Copy + PartialEq>(words: &[(&'static str, T)], value: T) -> &'static str {
    words.iter().find(|(_, known)| *known == value).map_or("", |(word, _)| word)
}

/// The settings in files; `None` for keys that are not set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SafetySettings {
    level: Option<SafetyLevel>,
    injection: Option<Injection>,
    guard: Option<Guard>,
    personal: [Option<bool>; KINDS],
}

/// The settings in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Safety {
    /// The level, if one was set.
    pub level: SafetyLevel,
    /// The consequence of a text that reads like instructions.
    pub injection: Injection,
    /// Whether the automatic mode answers.
    pub guard: Guard,
    /// Personal data that does not leave for a model.
    pub personal: PersonalData,
}

impl Default for Safety {
    fn default() -> Self {
        Self::at(SafetyLevel::default())
    }
}

impl Safety {
    /// The settings of a level.
    #[must_use]
    pub fn at(level: SafetyLevel) -> Self {
        let (injection, guard, personal) = match level {
            SafetyLevel::Permissive => (Injection::Off, Guard::Usual, PersonalData::default()),
            SafetyLevel::Balanced => (Injection::Note, Guard::Usual, PersonalData::default()),
            SafetyLevel::Strict => (Injection::Ask, Guard::Firm, PersonalData::ALL),
        };
        Self { level, injection, guard, personal }
    }
}

/// Writes one line, without a line end: the level, what differs from its usual settings, and the personal data.
impl fmt::Display for Safety {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { level, injection, guard, personal } = self;
        let usual = Self::at(*level);
        formatter.write_str(level.word())?;
        if *injection != usual.injection {
            write!(formatter, ", injection {}", injection.word())?;
        }
        if *guard != usual.guard {
            write!(formatter, ", guard {}", guard.word())?;
        }
        let redacted: Vec<&str> = PersonalData::NAMES.into_iter().filter(|name| personal.contains(name)).collect();
        if redacted.is_empty() {
            formatter.write_str("; personal data is not redacted")
        } else {
            write!(formatter, "; personal data that is redacted: {}", redacted.join(", "))
        }
    }
}

impl SafetySettings {
    /// All precautions: a file that could not be read may have asked for them.
    #[must_use]
    pub fn strictest() -> Self {
        Self::default().filled_up(SafetyLevel::Strict)
    }

    /// Joins these settings and those of another file; of each key the strictest value counts.
    pub fn join(&mut self, other: &Self) {
        self.level = self.level.max(other.level);
        self.injection = self.injection.max(other.injection);
        self.guard = self.guard.max(other.guard);
        for (own, other) in self.personal.iter_mut().zip(other.personal) {
            *own = (*own).max(other);
        }
    }

    /// The settings in force by these files.
    #[must_use]
    pub fn in_force(&self) -> Safety {
        let usual = Safety::default();
        let names = PersonalData::NAMES.into_iter().zip(self.personal);
        let wanted = names.filter(|(name, wanted)| wanted.unwrap_or(usual.personal.contains(name)));
        Safety {
            level: self.level.unwrap_or(usual.level),
            injection: self.injection.unwrap_or(usual.injection),
            guard: self.guard.unwrap_or(usual.guard),
            personal: wanted.fold(PersonalData::default(), |all, (name, _)| all.with(name).unwrap_or(all)),
        }
    }

    /// Fills keys that are not set with the values of the level.
    fn filled_up(mut self, level: SafetyLevel) -> Self {
        let at = Safety::at(level);
        self.level.get_or_insert(level);
        self.injection.get_or_insert(at.injection);
        self.guard.get_or_insert(at.guard);
        for (own, name) in self.personal.iter_mut().zip(PersonalData::NAMES) {
            own.get_or_insert(at.personal.contains(name));
        }
        self
    }
}

/// A mistake in a key: its name, its place in bytes, whether it may have asked for more care, and the reason.
pub(super) struct Wrong {
    pub name: String,
    pub span: Option<Range<usize>>,
    pub may_tighten: bool,
    pub reason: String,
}

/// Reads the table. An invalid value counts as the strictest of its key.
pub(super) fn read(item: &Item, origin: Origin) -> (SafetySettings, Vec<Wrong>) {
    let mut reader = SettingsReader { origin, wrong: Vec::new() };
    let mut settings = SafetySettings::default();
    let Some(table) = item.as_table_like() else {
        reader.complain("safety", item, "`safety` is no table".into());
        return (SafetySettings::strictest(), reader.wrong);
    };
    for (key, item) in table.iter() {
        match key {
            "level" => settings.level = reader.value(key, item, LEVELS),
            "stages" => reader.stages(item, &mut settings),
            "personal" => reader.personal(item, &mut settings),
            _ => reader.unknown("safety", key, table, &["level", "stages", "personal"]),
        }
    }
    let settings = match settings.level {
        Some(level) => settings.filled_up(level),
        None => settings,
    };
    (settings, reader.wrong)
}

struct SettingsReader {
    origin: Origin,
    wrong: Vec<Wrong>,
}

impl SettingsReader {
    fn complain(&mut self, name: &str, item: &Item, reason: String) {
        self.wrong.push(Wrong { name: name.to_owned(), span: item.span(), may_tighten: true, reason });
    }

    fn unknown(&mut self, table_name: &str, key: &str, table: &dyn TableLike, known: &[&str]) {
        let span = table.key(key).and_then(toml_edit::Key::span);
        let reason = format!("`{key}` is not known; there are {}", known.join(", "));
        self.wrong.push(Wrong { name: format!("{table_name}.{key}"), span, may_tighten: true, reason });
    }

    /// Reads one of `words`, the least strict of which is first and not available to a project.
    fn value<T: Copy>(&mut self, key: &str, item: &Item, words: &[(&'static str, T)]) -> Option<T> {
        match item.as_str().and_then(|text| words.iter().position(|(word, _)| *word == text)) {
            Some(0) if self.origin == Origin::Project => {
                let reason = "a project may only make things stricter".into();
                self.wrong.push(Wrong { name: key.to_owned(), span: item.span(), may_tighten: false, reason });
                None
            }
            Some(at) => Some(words[at].1),
            None => {
                let known: Vec<String> = words.iter().map(|(word, _)| format!("\"{word}\"")).collect();
                self.complain(key, item, format!("`{key}` is none of {}", known.join(", ")));
                words.last().map(|(_, strictest)| *strictest)
            }
        }
    }

    fn stages(&mut self, item: &Item, settings: &mut SafetySettings) {
        let Some(table) = item.as_table_like() else {
            self.complain("stages", item, "`stages` is no table".into());
            (settings.injection, settings.guard) = (Some(Injection::Ask), Some(Guard::Firm));
            return;
        };
        for (key, item) in table.iter() {
            match key {
                "injection" => settings.injection = self.value(key, item, INJECTIONS),
                "guard" => settings.guard = self.value(key, item, GUARDS),
                _ => self.unknown("safety.stages", key, table, &["injection", "guard"]),
            }
        }
    }

    fn personal(&mut self, item: &Item, settings: &mut SafetySettings) {
        let Some(table) = item.as_table_like() else {
            self.complain("personal", item, "`personal` is no table".into());
            settings.personal = [Some(true); KINDS];
            return;
        };
        for (key, item) in table.iter() {
            match PersonalData::NAMES.iter().position(|name| *name == key) {
                Some(at) => settings.personal[at] = self.value(key, item, WITHHELD),
                None => self.unknown("safety.personal", key, table, &PersonalData::NAMES),
            }
        }
    }
}

#[cfg(test)]
#[path = "safety_tests.rs"]
mod tests;
