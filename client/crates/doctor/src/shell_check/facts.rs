//! The facts collected about a shell, before they are judged. Pure.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use cohab_shell_state::shell::Shell;
use cohab_text::sanitize::one_line;

/// Shown of a path.
const PATH_MAX_COLUMNS: usize = 100;

/// Everything that was found out.
#[derive(Clone, Debug, PartialEq)]
pub struct Facts {
    /// Which shell.
    pub shell: ShellFacts,
    /// Around it.
    pub place: PlaceFacts,
    /// The folder for its private files.
    pub folder: FolderFacts,
    /// How it came up.
    pub start: StartFacts,
    /// What its start-up files say.
    pub rc: RcFacts,
    /// There is a key that asks with the line as it stands.
    pub has_hotkey: bool,
    /// How the relay works in it; absent if it never got to a marked prompt.
    pub relay: Option<RelayFacts>,
}

/// The shell that was checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellFacts {
    /// Its kind.
    pub kind: Shell,
    /// Its program.
    pub path: PathBuf,
    /// As it says itself.
    pub version: Option<Version>,
    /// Started as a login shell.
    pub is_login: bool,
    /// Better candidates that did not start, and why.
    pub passed_over: Vec<String>,
}

/// A version as `major.minor.patch`; absent parts are 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub u32, pub u32, pub u32);

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self(major, minor, 0) => write!(f, "{major}.{minor}"),
            Self(major, minor, patch) => write!(f, "{major}.{minor}.{patch}"),
        }
    }
}

impl Version {
    /// The first number with a dot in it.
    #[must_use]
    pub fn find(text: &str) -> Option<Self> {
        let words = text.split(|c: char| !c.is_ascii_digit() && c != '.');
        words.filter(|word| word.contains('.')).find_map(|word| {
            let mut numbers = word.split('.').map(str::parse);
            let major = numbers.next()?.ok()?;
            let minor = numbers.next()?.ok()?;
            Some(Self(major, minor, numbers.next().and_then(Result::ok).unwrap_or(0)))
        })
    }
}

/// The least version of a shell that commands can run in; none of the others.
#[must_use]
pub fn least_version(kind: Shell) -> Option<Version> {
    match kind {
        Shell::Bash => Some(Version(4, 4, 0)),
        Shell::Zsh => Some(Version(5, 3, 0)),
        Shell::Fish => Some(Version(3, 4, 0)),
        Shell::Other => None,
    }
}

/// The terminal and what it is in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlaceFacts {
    /// `$TERM`, unless empty.
    pub term: Option<String>,
    /// The current folder is there.
    pub has_cwd: bool,
    /// There is a `/dev/tty`.
    pub has_dev_tty: bool,
    /// This very terminal is one of cohab's.
    pub is_inside_cohab: bool,
    /// Inside tmux.
    pub is_inside_tmux: bool,
    /// Inside GNU screen.
    pub is_inside_screen: bool,
    /// Over ssh.
    pub is_over_ssh: bool,
}

/// The runtime folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderFacts {
    /// Where it is.
    pub path: PathBuf,
    /// Why it cannot be used.
    pub error: Option<String>,
    /// Bytes that can still be written there.
    pub free_bytes: Option<u64>,
}

/// How the shell came up.
#[derive(Clone, Debug, PartialEq)]
pub struct StartFacts {
    /// With the integration, as `cohab` starts it.
    pub ours: StartEnd,
    /// How long that took.
    pub first: Duration,
    /// The same shell without it; absent if not tried.
    pub plain: Option<StartEnd>,
    /// From the start to the line editor, with the integration: the best of several.
    pub with: Option<Duration>,
    /// The same without.
    pub without: Option<Duration>,
    /// What was seen of the marks.
    pub marks: MarksSeen,
    /// What the shell printed before its prompt, as text.
    pub printed: String,
}

/// Where a start led.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StartEnd {
    /// No attempt: the shell is opened as it is.
    NotIntegrated,
    /// It could not be started.
    Failed(String),
    /// To a prompt; with the integration, to a marked one.
    Prompt,
    /// To a line editor that gave no mark.
    Unmarked,
    /// Another program took its place.
    Replaced {
        /// Its name.
        by: String,
    },
    /// It ended.
    Ended {
        /// Exit status.
        status: i32,
    },
    /// Its time was over before there was a prompt.
    Slow {
        /// What had the terminal, if that was not the shell itself.
        running: Option<String>,
        /// How long was waited.
        after: Duration,
    },
}

/// The kinds of marks that came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MarksSeen {
    /// The line editor is ready.
    pub prompt: bool,
    /// A command starts.
    pub start: bool,
    /// A command ended.
    pub end: bool,
    /// The line continues.
    pub continuation: bool,
}

/// A line of a start-up file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RcLine {
    /// The file, as the user would write it.
    pub file: String,
    /// From 1.
    pub number: usize,
    /// The line.
    pub text: String,
}

/// What the start-up files say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RcFacts {
    /// The first complaint the shell printed about one of them.
    pub complaint: Option<String>,
    /// A line that replaces the shell.
    pub exec: Option<RcLine>,
    /// A line that sends the shell's output elsewhere.
    pub redirect: Option<RcLine>,
    /// A line that ends the shell.
    pub exit: Option<RcLine>,
    /// A line that switches `promptvars` off.
    pub promptvars: Option<RcLine>,
    /// Prompt tools that they name.
    pub tools: Vec<&'static str>,
}

/// How one thing went: as it should, differently, or it was not looked at for want of time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tried {
    /// As it should.
    Right,
    /// Not so: what came instead.
    Wrong(String),
    /// Not tried.
    Skipped,
}

impl Tried {
    /// Right if nothing is wrong.
    #[must_use]
    pub fn unless(wrong: Option<String>) -> Self {
        wrong.map_or(Self::Right, Self::Wrong)
    }
}

/// What a half-typed line went through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HalfLine {
    /// Back with its cursor.
    Back,
    /// Back, but the cursor is elsewhere.
    CursorMoved,
    /// Another text came back.
    Changed(String),
    /// Not known: the line editor was not asked, or did not answer.
    Unknown,
}

/// How the relay works.
#[derive(Clone, Debug, PartialEq)]
pub struct RelayFacts {
    /// The shell reads lines with its line editor; else nothing was tried.
    pub has_line_editor: bool,
    /// The first command.
    pub first: Tried,
    /// The shell's history went to a file of ours; else nothing more was tried.
    pub is_history_aside: bool,
    /// Marks that were seen in all.
    pub marks: MarksSeen,
    /// An unfinished line was typed.
    pub continuation_tried: bool,
    /// Enter on a line is answered before it takes effect.
    pub enter: Tried,
    /// So is the hotkey.
    pub hotkey: Tried,
    /// A half-typed line after a command.
    pub half_line: HalfLine,
    /// A line that no command came across is as it was typed.
    pub types_right: bool,
    /// A command inside an answer.
    pub answer: Tried,
    /// `sh -c 'exit 42'`.
    pub status: Tried,
    /// `cd`.
    pub cwd: Tried,
    /// `export` stays.
    pub variables: Tried,
    /// `export` is reported: what the assistant hears of it, and the line about it.
    pub variables_told: Tried,
    /// A here-document, a comment, an unclosed quote: name and how it went.
    pub shapes: Vec<(&'static str, Tried)>,
    /// Nothing of cohab's in the shell's list of commands.
    pub history: Tried,
    /// A relayed `true`, prompt to prompt.
    pub relayed: Vec<Duration>,
    /// A typed one.
    pub typed: Vec<Duration>,
    /// What the shell knows about itself; absent if it did not say.
    pub inside: Option<Inside>,
}

/// What the shell reported about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inside {
    /// Prompt tools that are loaded.
    pub tools: Vec<&'static str>,
    /// bash expands variables in prompts.
    pub promptvars: Option<bool>,
}

/// The median; absent for none.
#[must_use]
pub fn median(times: &[Duration]) -> Option<Duration> {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).copied()
}

/// A duration in milliseconds.
#[must_use]
pub fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// A path on one harmless line.
#[must_use]
pub fn shown(path: &Path) -> String {
    one_line(&path.to_string_lossy(), PATH_MAX_COLUMNS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_what_shells_say() {
        for (text, version) in [
            ("GNU bash, version 5.2.15(1)-release (x86_64-pc-linux-gnu)", Some(Version(5, 2, 15))),
            ("zsh 5.9 (x86_64-debian-linux-gnu)", Some(Version(5, 9, 0))),
            ("fish, version 3.6.0", Some(Version(3, 6, 0))),
            ("fish, version 4.0b1-12-gabc", Some(Version(4, 0, 0))),
            ("no number", None),
            ("99999999999.1", None),
        ] {
            assert_eq!(Version::find(text), version, "{text}");
        }
        assert!(Version(5, 0, 0) > least_version(Shell::Bash).unwrap() && Version(4, 3, 48) < Version(4, 4, 0));
    }

    #[test]
    fn the_median_of_nothing_is_nothing() {
        let times = [5, 1, 9].map(Duration::from_millis);
        assert_eq!(median(&times), Some(Duration::from_millis(5)));
        assert_eq!(median(&[]), None);
    }
}
