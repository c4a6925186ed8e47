//! Reasons to ask about a line that plainly only reads, because of the shell, the programs or the repository that it meets.
//!
//! A [`Caveat`] holds the facts; its sentence is made where it is shown. A user who says yes settles the facts, so two caveats are equal
//! only if all of these are.

use std::{
    fmt::{self, Display, Formatter},
    path::PathBuf,
};

use cohab_text::sanitize;

/// What a yes means besides the command itself, where it settles something.
pub const SETTLES: &str = "your approval holds until this changes again";
/// Largest number of settings and variables that are named; more are counted.
const NAMED_MAX: usize = 4;
/// Largest size of the facts that a session keeps, in bytes: a repository's settings may have any length.
const KEPT_MAX_BYTES: usize = 16 * 1024;
/// Longest part of a value that is shown, in characters.
const VALUE_CHARS: usize = 60;

/// One of git's settings.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Setting {
    /// As git prints it: small letters except in the middle part.
    pub key: String,
    /// The value; empty without one.
    pub value: String,
}

/// A reason to ask about a line that plainly only reads.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Caveat {
    /// A word is a global alias.
    GlobalAlias(String),
    /// A word is an abbreviation.
    Abbreviation(String),
    /// A word leads to a named folder.
    NamedFolder {
        /// The word.
        word: String,
        /// Where it leads.
        folder: String,
    },
    /// A command's name is an alias.
    Alias {
        /// The name.
        name: String,
        /// What it stands for.
        meaning: String,
    },
    /// A command's name ends like a suffix alias.
    SuffixAlias(String),
    /// A command's name is a function.
    Function(String),
    /// A builtin of this name is switched off.
    BuiltinOff(String),
    /// The shell remembers another file for a command's name.
    Hashed {
        /// The name.
        name: String,
        /// The file.
        path: String,
    },
    /// The shell does not report its `PATH`.
    NoPath,
    /// The program of this name is not plainly the one that the rules know.
    Program {
        /// The name.
        name: String,
        /// What is wrong with it.
        fault: ProgramFault,
    },
    /// A variable that a separate shell does not know.
    NotExported(String),
    /// An alias or function that a separate shell does not know.
    NotInSeparateShell(String),
    /// `cd` looks into other folders by `CDPATH`.
    CdPath,
    /// By this option or variable a pattern may match hidden files.
    HiddenFiles(&'static str),
    /// By this option a pattern that matches nothing is left out.
    NullPattern(&'static str),
    /// By an option `..` may lead elsewhere.
    CdToParent {
        /// The option.
        option: &'static str,
        /// The operand of `cd`.
        target: String,
    },
    /// By an option or variable a relative `cd` may lead elsewhere.
    CdToVariable {
        /// The option or variable.
        option: &'static str,
        /// The operand of `cd`.
        target: String,
    },
    /// These variables of the shell's environment decide what git does.
    GitVariables(Vec<String>),
    /// A repository's own settings can start programs.
    GitSettings {
        /// The settings.
        settings: Vec<Setting>,
        /// The repository's folder.
        top: PathBuf,
    },
    /// Git's settings in a folder could not be read.
    GitUnknown {
        /// The folder.
        folder: PathBuf,
        /// Why, a clause.
        why: &'static str,
    },
    /// The line cannot be typed so that it only reads.
    NotTyped {
        /// Why, a clause.
        why: &'static str,
    },
    /// No thread reported git's settings in time.
    GitSilent,
}

/// What is wrong with a program. Places are where `PATH` finds it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ProgramFault {
    /// `PATH` wants the working directory to be searched first.
    RelativePath,
    /// It is a file of the working directory.
    InWorkingDirectory(PathBuf),
    /// Others can change it.
    Open(PathBuf),
    /// It belongs to somebody else.
    Foreign(PathBuf),
    /// It is not the system's program.
    NotOfTheSystem(PathBuf),
    /// It may run what the project names.
    StandIn {
        /// Where it is found.
        place: PathBuf,
        /// The name of the file that is run.
        real: PathBuf,
    },
}

impl Caveat {
    /// Whether a session may keep it as settled. A caveat with too many facts for that is asked about each time.
    #[must_use]
    pub fn can_be_settled(&self) -> bool {
        let size: usize = match self {
            Self::GitSettings { settings, .. } => settings.iter().map(|one| one.key.len() + one.value.len()).sum(),
            _ => 0,
        };
        size <= KEPT_MAX_BYTES
    }

    /// The sentences of a question about these: one each, then [`SETTLES`] if a yes settles all of them.
    #[must_use]
    pub fn question(caveats: &[Self]) -> Vec<String> {
        let settles = !caveats.is_empty() && caveats.iter().all(Self::can_be_settled);
        let sentences = caveats.iter().map(ToString::to_string);
        sentences.chain(settles.then(|| SETTLES.to_owned())).collect()
    }
}

impl Display for Caveat {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::GlobalAlias(word) => write!(f, "`{word}` is a global alias in this shell"),
            Self::Abbreviation(word) => write!(f, "`{word}` is an abbreviation in this shell"),
            Self::NamedFolder { word, folder } => {
                write!(f, "`{word}` leads to a named folder of this shell: `{folder}`")
            }
            Self::Alias { name, meaning } => write!(f, "`{name}` is an alias in this shell: `{meaning}`"),
            Self::SuffixAlias(name) => write!(f, "`{name}` ends like a suffix alias in this shell"),
            Self::Function(name) => write!(f, "`{name}` is a function in this shell"),
            Self::BuiltinOff(name) => write!(f, "`{name}` is a builtin that is switched off in this shell"),
            Self::Hashed { name, path } => write!(f, "`{name}` stands for `{path}` in this shell"),
            Self::NotTyped { why } => f.write_str(why),
            Self::NoPath => f.write_str("this shell does not tell its PATH"),
            Self::Program { name, fault } => write!(f, "`{name}` {fault}"),
            Self::NotExported(name) => write!(f, "`{name}` is not exported: a shell of its own does not know it"),
            Self::NotInSeparateShell(name) => {
                write!(f, "`{name}` is an alias or function: a shell of its own does not know it")
            }
            Self::CdPath => f.write_str("`cd` looks into other folders by `CDPATH`"),
            Self::HiddenFiles(name) => {
                write!(f, "`{name}` is set in this shell: a pattern may match hidden files")
            }
            Self::NullPattern(name) => {
                write!(f, "`{name}` is set in this shell: a pattern that matches nothing is left out")
            }
            Self::CdToParent { option, target } => {
                write!(f, "`{option}` is set in this shell: `cd {target}` may lead elsewhere")
            }
            Self::CdToVariable { option, target } => {
                write!(f, "`{option}` is set in this shell: `cd {target}` may lead elsewhere; `./` in front avoids it")
            }
            Self::GitVariables(names) => {
                let named = listed(names.iter().map(|name| format!("`{}`", one_line(name))));
                write!(f, "this shell's environment decides what git does: {named}")
            }
            Self::GitSettings { settings, top } => {
                let named =
                    listed(settings.iter().map(|one| format!("`{}` = `{}`", one_line(&one.key), one_line(&one.value))));
                let top = sanitize::one_line(&top.to_string_lossy(), usize::MAX);
                write!(f, "the repository's own git settings can start programs: {named}, in {top}")
            }
            Self::GitUnknown { folder, why } => {
                let folder = sanitize::one_line(&folder.to_string_lossy(), usize::MAX);
                write!(f, "git's settings in {folder} are not known: {why}")
            }
            Self::GitSilent => f.write_str("git did not report its settings here in time"),
        }
    }
}

impl Display for ProgramFault {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::RelativePath => f.write_str("is looked for in the working directory first, as PATH wants it"),
            Self::InWorkingDirectory(place) => write!(f, "is a file of the working directory: {}", place.display()),
            Self::Open(place) => write!(f, "is a program that others can change: {}", place.display()),
            Self::Foreign(place) => write!(f, "is a program of somebody else: {}", place.display()),
            Self::NotOfTheSystem(place) => write!(f, "is not the system's program: {}", place.display()),
            Self::StandIn { place, real } => {
                write!(f, "may run what the project names: {} is {}", place.display(), real.display())
            }
        }
    }
}

/// The first names; the rest is counted.
fn listed(names: impl ExactSizeIterator<Item = String>) -> String {
    let more = names.len().saturating_sub(NAMED_MAX);
    let shown = names.take(NAMED_MAX).collect::<Vec<_>>().join(", ");
    if more > 0 { format!("{shown} and {more} more") } else { shown }
}

fn one_line(text: &str) -> String {
    sanitize::one_line(text, VALUE_CHARS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_read_alike_are_not_the_same() {
        let setting = |end: &str| Setting { key: "core.fsmonitor".into(), value: format!("{}{end}", "x".repeat(100)) };
        let caveat = |end: &str| Caveat::GitSettings { settings: vec![setting(end)], top: "/src".into() };
        assert_eq!(caveat("a").to_string(), caveat("b").to_string());
        assert_ne!(caveat("a"), caveat("b"));
    }

    #[test]
    fn settings_of_any_length_are_not_kept() {
        let caveat = |count: usize| {
            let setting = Setting { key: "core.fsmonitor".into(), value: "x".repeat(100) };
            Caveat::GitSettings { settings: vec![setting; count], top: "/src".into() }
        };
        assert!(caveat(100).can_be_settled() && Caveat::CdPath.can_be_settled());
        assert!(!caveat(200).can_be_settled());
        assert_eq!(Caveat::question(&[Caveat::CdPath]).pop().as_deref(), Some(SETTLES));
        assert_eq!(Caveat::question(&[Caveat::CdPath, caveat(200)]).len(), 2);
        assert!(Caveat::question(&[]).is_empty());
    }
}
