//! The line that a picker prints last, for the client whose shell it ran in: a command to put on the prompt, or one that the client answers.

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
