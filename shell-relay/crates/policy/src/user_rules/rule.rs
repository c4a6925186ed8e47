//! One rule, and the commands that it matches.

use std::path::{Path, PathBuf};

use cohab_shell_state::{quote::literal, shell::Shell};
use cohab_shell_syntax::LooseWord;

use super::argv;
use crate::{Context, Level, paths};

/// The words that may follow those of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operands {
    /// No operands: the words of the rule are the whole command.
    None,
    /// Paths inside the working directory that are neither secret nor options.
    WorkspacePaths,
    /// Any literal words that are not options.
    AnyLiteral,
    /// Anything. Only for rules that tighten.
    Anything,
}

/// One rule: commands that begin with these words, in this folder or in any, and the decision on them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// `Allow` lowers a question; everything else makes a line at least as strict.
    pub decision: Level,
    /// The words of the command, quotes removed, each one of a set; the name first.
    pub words: Vec<Vec<String>>,
    /// The words that may follow.
    pub operands: Operands,
    /// The working directory in which it holds; absent: any.
    pub folder: Option<PathBuf>,
}

impl Rule {
    /// The rule that allows exactly `line`, as `shell` reads it.
    ///
    /// # Errors
    /// The reason why there can be no such rule, in a few words.
    pub fn of(line: &str, folder: Option<&Path>, shell: Shell) -> Result<Self, &'static str> {
        let argv = argv::argv_of(line, shell)?;
        let rule = Self::exactly(Level::Allow, argv.clone(), folder.map(Path::to_path_buf));
        if let Some(reason) = rule.why_never() {
            return Err(reason);
        }
        // The rule is written as a line with other quotes, which must be the same command.
        let is_same = argv::argv_of(&rule.line(), Shell::Bash).is_ok_and(|again| again == argv);
        if is_same { Ok(rule) } else { Err("has words that cannot be written down") }
    }

    pub(super) fn exactly(decision: Level, argv: Vec<String>, folder: Option<PathBuf>) -> Self {
        Self { decision, words: argv.into_iter().map(|word| vec![word]).collect(), operands: Operands::None, folder }
    }

    /// The reason why such a rule never holds.
    pub(super) fn why_never(&self) -> Option<&'static str> {
        if self.folder.as_ref().is_some_and(|folder| !folder.is_absolute() || folder.to_str().is_none()) {
            return Some("its folder is no absolute path of plain text");
        }
        if self.decision > Level::Allow {
            return None;
        }
        if self.operands == Operands::Anything {
            return Some("allows options that nobody has seen");
        }
        self.words.first()?.iter().find_map(|name| {
            if self.folder.is_none() && name.contains('/') && !name.starts_with('/') {
                return Some("is another program in another folder");
            }
            argv::why_name_never(name)
        })
    }

    /// The command as it could be typed; words of a set with bars between.
    #[must_use]
    pub fn line(&self) -> String {
        let word = |set: &Vec<String>| set.iter().map(|word| literal(word)).collect::<Vec<_>>().join("|");
        let words = self.words.iter().map(word).collect::<Vec<_>>().join(" ");
        match self.operands {
            Operands::None => words,
            Operands::WorkspacePaths => words + " [paths in the folder]",
            Operands::AnyLiteral => words + " [words]",
            Operands::Anything => words + " [anything]",
        }
    }

    /// Lines that the rule must allow, and lines that it must not: they are in the file, to be read and to be checked.
    #[must_use]
    pub fn examples(&self) -> (Vec<String>, Vec<String>) {
        let line = self.line();
        let mut others = vec![format!("{line} more"), format!("{line}; id"), format!("{line} > out")];
        if let [name, _, ..] = self.words.as_slice() {
            others.insert(0, literal(&name[0]));
        }
        (vec![line], others)
    }

    pub(super) fn holds_in(&self, cwd: &Path) -> bool {
        self.folder.as_deref().is_none_or(|folder| folder == cwd)
    }

    /// Whether it allows the command of exactly these words.
    pub(super) fn allows(&self, argv: &[String], context: Context<'_>) -> bool {
        if self.decision != Level::Allow || !self.holds_in(context.cwd) || argv.len() < self.words.len() {
            return false;
        }
        let (named, rest) = argv.split_at(self.words.len());
        let is_named = named.iter().zip(&self.words).all(|(word, set)| set.contains(word));
        is_named
            && match self.operands {
                Operands::None => rest.is_empty(),
                Operands::AnyLiteral => rest.iter().all(|word| !word.starts_with('-')),
                Operands::WorkspacePaths => rest.iter().all(|word| is_workspace_path(word, context)),
                Operands::Anything => false,
            }
    }

    /// Whether the rule makes one of the commands of a line stricter, at any place in it.
    pub(super) fn catches(&self, command: &[LooseWord], cwd: &Path) -> bool {
        if self.decision == Level::Allow || !self.holds_in(cwd) || command.len() < self.words.len() {
            return false;
        }
        let is_named = command.iter().zip(&self.words).enumerate().all(|(index, (word, set))| {
            let name = word.text.rsplit('/').next().unwrap_or_default();
            set.iter().any(|wanted| *wanted == word.text || (index == 0 && wanted == name))
        });
        // The result of an expansion may be the word of the rule.
        let may_be_named =
            || command.iter().zip(&self.words).all(|(word, set)| word.expands || set.contains(&word.text));
        let is_whole = self.operands != Operands::None || command.len() == self.words.len();
        is_whole && (is_named || may_be_named())
    }
}

fn is_workspace_path(word: &str, context: Context<'_>) -> bool {
    !word.starts_with('-') && paths::is_plain_below(word, context)
}
