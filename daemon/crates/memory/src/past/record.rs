//! The records of what was done. Pure.

use std::{
    fmt,
    path::{Path, PathBuf},
    str::FromStr,
    time::Duration,
};

use jiff::Timestamp;

use crate::record::Source;

/// Longest stored line of a command, in bytes. A longer line is not stored: half a command is none.
pub const MAX_LINE_BYTES: usize = 8 * 1024;
/// Longest stored question and answer, in bytes; a longer one loses its end.
pub const MAX_TEXT_BYTES: usize = 1_200;
/// Longest stored output of a command, in bytes; of a longer one only the end.
pub const MAX_OUTPUT_BYTES: usize = 1_024;
/// Most commands of a turn that are stored.
pub const MAX_TURN_COMMANDS: usize = 32;

/// The source of a user's command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RunSource {
    /// It ran in a cohab shell.
    Shell,
    /// The history file of bash.
    Bash,
    /// The history file of zsh.
    Zsh,
    /// The history file of fish.
    Fish,
    /// The database of atuin.
    Atuin,
}

impl RunSource {
    /// All of them, with their word in a store and at the command line.
    pub const WORDS: [(Self, &'static str); 5] = [
        (Self::Shell, "shell"),
        (Self::Bash, "bash"),
        (Self::Zsh, "zsh"),
        (Self::Fish, "fish"),
        (Self::Atuin, "atuin"),
    ];

    /// Its word.
    #[must_use]
    pub fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(source, _)| *source == self).map_or("", |(_, word)| word)
    }

    /// The source of this word.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(_, known)| *known == word).map(|(source, _)| *source)
    }

    /// Whether it was imported.
    #[must_use]
    pub fn is_import(self) -> bool {
        self != Self::Shell
    }
}

/// A command that the user ran, to be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewRun {
    /// The line as typed, at most [`MAX_LINE_BYTES`], without control characters other than newline and tab; it may have several lines.
    pub line: String,
    /// The time at which it began, if known.
    pub at: Option<Timestamp>,
    /// The folder in which it ran, if known.
    pub folder: Option<PathBuf>,
    /// Its exit status, if known.
    pub exit_code: Option<i32>,
    /// Its duration, if known.
    pub duration: Option<Duration>,
    /// The end of its output, at most [`MAX_OUTPUT_BYTES`]; empty if outputs are not kept.
    pub output_tail: String,
    /// Its source.
    pub source: RunSource,
}

/// A command of the assistant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnCommand {
    /// The line, cut as [`NewRun::line`].
    pub line: String,
    /// Its exit status; `None` if it did not run or its end is not known.
    pub exit_code: Option<i32>,
}

/// A question to the assistant with what came of it, to be stored.
#[derive(Clone, Debug, PartialEq)]
pub struct NewTurn {
    /// The turn's id. A store holds each turn once.
    pub turn: String,
    /// Name of its session; turns of one session that follow each other are neighbours.
    pub session: String,
    /// The time of the question.
    pub at: Timestamp,
    /// The folder in which it was asked.
    pub folder: PathBuf,
    /// The question, at most [`MAX_TEXT_BYTES`].
    pub question: String,
    /// The beginning of the answer, at most [`MAX_TEXT_BYTES`].
    pub answer: String,
    /// The commands that were called, in their order, at most [`MAX_TURN_COMMANDS`].
    pub commands: Vec<TurnCommand>,
    /// From 0 to 1: 0.7, or at most 0.3 if the turn had read text of strangers.
    pub trust: f64,
}

/// One command that was run, by the user or by the assistant.
#[derive(Clone, Debug, PartialEq)]
pub struct Deed {
    /// The line.
    pub line: String,
    /// The time at which it began; of the assistant's commands, the time of the question.
    pub at: Timestamp,
    /// The folder in which it ran, or in which the question was asked.
    pub folder: PathBuf,
    /// Its exit status, if known.
    pub exit_code: Option<i32>,
    /// The assistant's session; `None` if the user ran it.
    pub session: Option<String>,
    /// The assistant's turn, or the commands of the user.
    pub source: Source,
    /// From 0 to 1: as of the turn; 0.9 if the user ran it in a cohab shell, 0.6 if it was imported.
    pub trust: f64,
}

/// Number of a record. A store gives each number once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PastId {
    /// A line that the user ran, however often.
    Line(u64),
    /// A turn.
    Turn(u64),
}

impl fmt::Display for PastId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(number) => write!(f, "c{number}"),
            Self::Turn(number) => write!(f, "t{number}"),
        }
    }
}

impl FromStr for PastId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = |digits: &str| digits.parse().map_err(|_| format!("`{text}` is no id: c12 or t3"));
        match text.split_at_checked(1) {
            Some(("c", digits)) => number(digits).map(Self::Line),
            Some(("t", digits)) => number(digits).map(Self::Turn),
            _ => number("").map(Self::Line),
        }
    }
}

/// A line that the user ran, with its newest run among those that were asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct PastLine {
    /// Its number.
    pub id: u64,
    /// The newest run.
    pub last: NewRun,
    /// Number of runs among those that were asked for.
    pub runs: u64,
}

/// A stored turn.
#[derive(Clone, Debug, PartialEq)]
pub struct PastTurn {
    /// Its number.
    pub id: u64,
    /// The turn.
    pub turn: NewTurn,
}

/// Something that was done.
#[derive(Clone, Debug, PartialEq)]
pub enum PastItem {
    /// The user ran a line.
    Line(PastLine),
    /// The assistant was asked.
    Turn(PastTurn),
}

impl PastItem {
    /// Its number.
    #[must_use]
    pub fn id(&self) -> PastId {
        match self {
            Self::Line(line) => PastId::Line(line.id),
            Self::Turn(turn) => PastId::Turn(turn.id),
        }
    }

    /// Its time, if known.
    #[must_use]
    pub fn at(&self) -> Option<Timestamp> {
        match self {
            Self::Line(line) => line.last.at,
            Self::Turn(turn) => Some(turn.turn.at),
        }
    }

    /// Its folder, if known.
    #[must_use]
    pub fn folder(&self) -> Option<&Path> {
        match self {
            Self::Line(line) => line.last.folder.as_deref(),
            Self::Turn(turn) => Some(&turn.turn.folder),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_read_as_it_is_printed() {
        for id in [PastId::Line(12), PastId::Turn(3)] {
            assert_eq!(id.to_string().parse(), Ok(id));
        }
        for text in ["", "c", "12", "x1", "c1x", "ü1", "c-1"] {
            assert!(text.parse::<PastId>().unwrap_err().contains("c12"), "{text}");
        }
    }

    #[test]
    fn each_source_has_a_word_of_its_own() {
        for (source, word) in RunSource::WORDS {
            assert_eq!((RunSource::of_word(word), source.word()), (Some(source), word));
        }
        assert_eq!(RunSource::of_word("model"), None);
        assert!(!RunSource::Shell.is_import() && RunSource::Atuin.is_import());
    }
}
