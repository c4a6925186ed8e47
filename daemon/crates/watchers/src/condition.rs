//! A watcher's condition, as the user writes it behind `--when`. Pure: reads text, and computes times from a time that is given.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use regex::bytes::{Regex, RegexBuilder};

use crate::time_rule::TimeRule;

/// Largest compiled form of a pattern, in bytes.
const PATTERN_MEMORY_BYTES: usize = 1024 * 1024;

/// A condition. `Display` writes the text that [`parse`](crate::parse::parse) reads back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// A process of the user's ends.
    ProcessEnds(ProcessRef),
    /// Something happens to a file.
    File {
        /// The file, absolute.
        path: PathBuf,
        /// What happens to it.
        event: FileEvent,
    },
    /// An entry of a folder comes, goes or changes; folders below it do not count.
    FolderChanges(PathBuf),
    /// A TCP port opens or closes.
    Port {
        /// The host; this machine without one.
        host: Option<String>,
        /// The port.
        port: u16,
        /// What happens to it.
        event: PortEvent,
    },
    /// A new line of a file matches.
    LogMatches {
        /// The file, absolute.
        path: PathBuf,
        /// What it is to match.
        pattern: LogPattern,
    },
    /// A time comes.
    Time(TimeRule),
}

/// The process or processes of a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProcessRef {
    /// The one of this id.
    Id(u32),
    /// All that have this name when the watcher begins.
    Name(String),
}

/// What happens to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileEvent {
    /// Its content or its time changes.
    Changes,
    /// It was not there, and is.
    Appears,
    /// It was there, and is not.
    Disappears,
}

impl FileEvent {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Changes, Self::Appears, Self::Disappears];

    /// The word of a condition.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Changes => "changes",
            Self::Appears => "appears",
            Self::Disappears => "disappears",
        }
    }

    /// The word once it has happened.
    #[must_use]
    pub fn past(self) -> &'static str {
        match self {
            Self::Changes => "changed",
            Self::Appears => "appeared",
            Self::Disappears => "disappeared",
        }
    }
}

/// What happens to a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortEvent {
    /// A program begins to listen.
    Opens,
    /// No program listens any more.
    Closes,
}

impl PortEvent {
    /// Both of them.
    pub const ALL: [Self; 2] = [Self::Opens, Self::Closes];

    /// The word of a condition.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Opens => "opens",
            Self::Closes => "closes",
        }
    }
}

/// What a line of a log is to match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogPattern {
    /// The regular expression.
    pub text: String,
    /// Whether capital and small letters are the same.
    pub ignores_case: bool,
}

impl LogPattern {
    /// The compiled pattern. It takes up to a megabyte once it is used, so it is made for one look and dropped.
    ///
    /// # Errors
    /// It is no regular expression, or too large.
    pub fn regex(&self) -> Result<Regex, regex::Error> {
        RegexBuilder::new(&self.text)
            .case_insensitive(self.ignores_case)
            .size_limit(PATTERN_MEMORY_BYTES)
            .dfa_size_limit(PATTERN_MEMORY_BYTES)
            .build()
    }
}

impl Condition {
    /// Whether it can hold more than once.
    #[must_use]
    pub fn can_repeat(&self) -> bool {
        match self {
            Self::ProcessEnds(_) | Self::Time(TimeRule::Once(_) | TimeRule::In(_)) => false,
            Self::Time(_)
            | Self::File { .. }
            | Self::FolderChanges(_)
            | Self::Port { .. }
            | Self::LogMatches { .. } => true,
        }
    }

    /// Whether it holds again and again without being asked to.
    #[must_use]
    pub fn always_repeats(&self) -> bool {
        matches!(self, Self::Time(TimeRule::Every(_) | TimeRule::Cron(_)))
    }

    /// What happened when it held, for people: paths below `folder` are relative to it.
    #[must_use]
    pub fn past(&self, folder: &Path) -> String {
        let short = |path: &Path| match path.strip_prefix(folder) {
            Ok(rest) if rest.as_os_str().is_empty() => ".".to_owned(),
            Ok(rest) => rest.display().to_string(),
            Err(_) => path.display().to_string(),
        };
        match self {
            Self::ProcessEnds(ProcessRef::Id(id)) => format!("process {id} ended"),
            Self::ProcessEnds(ProcessRef::Name(name)) => format!("{name} ended"),
            Self::File { path, event } => format!("{} {}", short(path), event.past()),
            Self::FolderChanges(path) => format!("folder {} changed", short(path)),
            Self::Port { host, port, event } => {
                let host = host.as_ref().map(|host| format!("{host}:")).unwrap_or_default();
                let state = match event {
                    PortEvent::Opens => "open",
                    PortEvent::Closes => "closed",
                };
                format!("port {host}{port} is {state}")
            }
            Self::LogMatches { path, .. } => short(path),
            Self::Time(rule) => rule.past(),
        }
    }
}

/// The path as a condition names it: in quotes if it ends with a blank, which is lost otherwise.
fn written(path: &Path) -> String {
    let text = path.display().to_string();
    if text.ends_with(char::is_whitespace) { format!("'{text}'") } else { text }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ProcessEnds(ProcessRef::Id(id)) => write!(f, "process {id} ends"),
            Self::ProcessEnds(ProcessRef::Name(name)) => write!(f, "process {name} ends"),
            Self::File { path, event } => write!(f, "file {} {}", written(path), event.word()),
            Self::FolderChanges(path) => write!(f, "folder {} changes", written(path)),
            Self::Port { host: None, port, event } => write!(f, "port {port} {}", event.word()),
            Self::Port { host: Some(host), port, event } => write!(f, "port {host}:{port} {}", event.word()),
            Self::LogMatches { path, pattern: LogPattern { text, ignores_case } } => {
                write!(f, "log {} matches /{text}/{}", written(path), if *ignores_case { "i" } else { "" })
            }
            Self::Time(rule) => rule.fmt(f),
        }
    }
}
