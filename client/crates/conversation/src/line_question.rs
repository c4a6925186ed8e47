//! A line at the prompt as the classifier is asked about it, and what the line's text alone decides.

use std::{path::PathBuf, time::Duration};

/// Enter is held so long for a decision; then the line is the shell's. It takes less than a millisecond, but a machine under load may
/// take long, and a question must not run as a command.
pub const ENTER_LIMIT: Duration = Duration::from_millis(300);

/// What the classifier is asked about a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineQuestion {
    /// To be given back with the decision.
    pub id: QuestionId,
    /// As typed.
    pub line: String,
    /// Where the shell is.
    pub cwd: PathBuf,
    /// Whether the shell knows its first word; `None`: its `PATH` is looked at.
    pub is_command: Option<bool>,
}

/// Who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuestionId {
    /// Enter is held for it.
    Enter(u64),
    /// The hint next to the line.
    Hint(u64),
}

/// Whether the shell gets this line unasked, however it reads: it begins with a blank or a backslash, has several rows, nothing at all,
/// or is the path of a program.
#[must_use]
pub(crate) fn is_fixed(line: &str) -> bool {
    let first = first_word(line);
    line.starts_with([' ', '\t', '\\']) || line.contains('\n') || first.is_empty() || is_path(first)
}

/// Whether this one word is a command line that needs no judging: most of what is typed, and no sentence.
#[must_use]
pub(crate) fn is_one_command(line: &str, is_command: Option<bool>) -> bool {
    is_command == Some(true) && !line.trim().contains(char::is_whitespace)
}

/// The first word as the shell's own script finds it: what it said about it is about this.
#[must_use]
pub fn first_word(line: &str) -> &str {
    let line = line.trim_start_matches([' ', '\t', '\n']);
    let end = line.find([' ', '\t', '\n', ';', '|', '&', '<', '>', '(', ')']).unwrap_or(line.len());
    &line[..end]
}

fn is_path(word: &str) -> bool {
    ["/", "./", "../", "~/"].iter().any(|start| word.starts_with(start)) || matches!(word, "." | ".." | "~")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_lines_are_the_shells_however_they_read() {
        for line in [
            "",
            "  ",
            " what is new",
            "\twhat",
            "\\what is new",
            "/usr/bin/ls",
            "./run me",
            "../x",
            "~/bin/x what is",
            "what\nis",
            "..",
            "~",
        ] {
            assert!(is_fixed(line), "{line:?}");
        }
        for line in ["what is new", "ls", "日本語", "...what", "and/or what", "'quoted' words"] {
            assert!(!is_fixed(line), "{line:?}");
        }
    }

    #[test]
    fn one_word_that_is_a_command_needs_no_judge() {
        assert!(is_one_command("ls", Some(true)) && is_one_command("ls ", Some(true)));
        assert!(
            !is_one_command("ls", Some(false)) && !is_one_command("ls", None) && !is_one_command("ls -l", Some(true))
        );
    }

    #[test]
    fn the_first_word_is_the_one_that_the_shell_looks_at() {
        for (line, word) in [
            ("ls -l", "ls"),
            ("  ls", "ls"),
            ("ls;pwd", "ls"),
            ("a|b", "a"),
            ("(ls)", ""),
            ("", ""),
            ("what's up", "what's"),
        ] {
            assert_eq!(first_word(line), word, "{line:?}");
        }
    }
}
