//! The line that a picker prints last, for the client whose shell it ran in: a command to put on the prompt, or one that the client answers.

use std::fmt;

/// Begins such a line.
const MARK: &str = "❯ ";

/// The output that reports this line.
#[must_use]
pub fn report(line: &str) -> String {
    format!("{MARK}{line}\n")
}

/// The line that the output of a picker reports.
///
/// ```
/// use cohab_types::picked_line::{picked, report};
/// assert_eq!(picked(&report("git log")), Some("git log"));
/// assert_eq!(picked("git log\n"), None);
/// ```
#[must_use]
pub fn picked(output: &str) -> Option<&str> {
    output.trim_end().lines().last()?.strip_prefix(MARK)
}

/// The report of `cohab rewind`: what the client takes back.
///
/// ```
/// use cohab_types::picked_line::Rewind;
/// let rewind = Rewind { questions: 2, shell: Some("t1".to_owned()), folder: Some("/a b".to_owned()) };
/// assert_eq!(rewind.to_string(), "2 questions back, shell before t1, to /a b");
/// assert_eq!(Rewind::parse("2 questions back, shell before t1, to /a b"), Some(rewind));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rewind {
    /// Questions that the conversation loses, from its end.
    pub questions: usize,
    /// The turn before which the variables, aliases and options of the shell are to be again.
    pub shell: Option<String>,
    /// The folder that the shell returns to.
    pub folder: Option<String>,
}

impl Rewind {
    /// Reads a report.
    #[must_use]
    pub fn parse(line: &str) -> Option<Self> {
        let (back, folder) = line.split_once(", to ").map_or((line, None), |(back, folder)| (back, Some(folder)));
        let (back, shell) =
            back.split_once(", shell before ").map_or((back, None), |(back, turn)| (back, Some(turn.to_owned())));
        let (questions, unit) = back.split_once(' ')?;
        matches!(unit, "question back" | "questions back").then_some(())?;
        Some(Self { questions: questions.parse().ok()?, shell, folder: folder.map(str::to_owned) })
    }
}

impl fmt::Display for Rewind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.questions == 1 { "" } else { "s" };
        write!(f, "{} question{plural} back", self.questions)?;
        self.shell.iter().try_for_each(|turn| write!(f, ", shell before {turn}"))?;
        self.folder.iter().try_for_each(|folder| write!(f, ", to {folder}"))
    }
}
