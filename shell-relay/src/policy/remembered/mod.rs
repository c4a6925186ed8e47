//! What the user allowed for good: rules that match the words of one simple command, never text. An allow rule lowers `Ask` only;
//! danger stays danger. The file they stand in is read and written by [`crate::rules_file`].

mod argv;
mod document;

#[cfg(test)]
mod tests;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

pub use document::{DocumentError, Loaded, Refusal, parse, with_rule, without_rule};

use crate::shell::Shell;

/// Whoever knows the rules in force.
pub trait Remembered: std::fmt::Debug + Send + Sync {
    /// The rules as of now. What cannot be read holds no rules.
    fn loaded(&self) -> Arc<Loaded>;
}

/// Nothing is remembered.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nothing;

impl Remembered for Nothing {
    fn loaded(&self) -> Arc<Loaded> {
        Arc::default()
    }
}

/// One rule: exactly these words, in this folder or in any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The words of the command, quotes removed; the name first.
    pub argv: Vec<String>,
    /// The working directory it holds in; absent: any.
    pub folder: Option<PathBuf>,
}

impl Rule {
    /// The rule for exactly `line`, as `shell` reads it.
    ///
    /// # Errors
    /// Why there can be none, in a few words.
    pub fn of(line: &str, folder: Option<&Path>, shell: Shell) -> Result<Self, &'static str> {
        let argv = argv::argv_of(line, shell)?;
        let rule = Self { argv, folder: folder.map(Path::to_path_buf) };
        if let Some(reason) = rule.why_never() {
            return Err(reason);
        }
        // It is written down as a line with other quotes: that must be the same command.
        let is_same = argv::argv_of(&rule.line(), Shell::Bash).is_ok_and(|argv| argv == rule.argv);
        if is_same { Ok(rule) } else { Err("has words that cannot be written down") }
    }

    /// Why such a rule never holds.
    fn why_never(&self) -> Option<&'static str> {
        let name = self.argv.first().map(String::as_str).unwrap_or_default();
        if self.folder.as_ref().is_some_and(|folder| !folder.is_absolute() || folder.to_str().is_none()) {
            return Some("its folder is no absolute path of plain text");
        }
        if self.folder.is_none() && name.contains('/') && !name.starts_with('/') {
            return Some("is another program in another folder");
        }
        argv::why_name_never(name)
    }

    /// The command as it could be typed.
    #[must_use]
    pub fn line(&self) -> String {
        self.argv.iter().map(|word| super::quoted(word)).collect::<Vec<_>>().join(" ")
    }

    fn holds(&self, argv: &[String], cwd: &Path) -> bool {
        self.argv == argv && self.folder.as_deref().is_none_or(|folder| folder == cwd)
    }

    /// Lines that it must allow, and lines that it must not: they stand in the file, to be read and to be checked.
    #[must_use]
    pub fn examples(&self) -> (Vec<String>, Vec<String>) {
        let line = self.line();
        let mut others = vec![format!("{line} more"), format!("{line}; id"), format!("{line} > out")];
        if let [name, _, ..] = self.argv.as_slice() {
            others.insert(0, super::quoted(name));
        }
        (vec![line], others)
    }
}

/// Rules, in the order of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules(Vec<Rule>);

impl Rules {
    /// All of them.
    #[must_use]
    pub fn all(&self) -> &[Rule] {
        &self.0
    }

    /// The rule that allows `line` in the folder `cwd`, as `shell` reads it. Whoever asks must know that it is neither danger nor denied.
    #[must_use]
    pub fn find(&self, line: &str, cwd: &Path, shell: Shell) -> Option<&Rule> {
        if self.0.is_empty() {
            return None;
        }
        let argv = argv::argv_of(line, shell).ok()?;
        self.0.iter().find(|rule| rule.holds(&argv, cwd))
    }
}
