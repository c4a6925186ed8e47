//! Formats a command for the prompt, in place of the stub that runs it. Pure.

use cohab_text::sanitize::sanitize;

/// Largest number of rows of a command that are shown in place of the stub.
const ECHO_MAX_ROWS: usize = 10;
/// Longest of these rows, in characters.
const ECHO_ROW_MAX_CHARS: usize = 400;

/// The text behind the prompt in place of the stub.
pub(super) fn echo_of(text: &str) -> String {
    let mut echo = String::new();
    for (row, line) in text.lines().enumerate() {
        if row == ECHO_MAX_ROWS {
            echo.push_str("...\r\n");
            return echo;
        }
        let clean = sanitize(line);
        let shown: String = clean.chars().filter(|c| *c == '\t' || !c.is_control()).take(ECHO_ROW_MAX_CHARS).collect();
        echo.push_str(&shown);
        if shown.len() < clean.len() {
            echo.push_str("...");
        }
        echo.push_str("\r\n");
    }
    if echo.is_empty() {
        echo.push_str("\r\n");
    }
    echo
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_letters_are_bounded_and_nothing_controls_the_terminal() {
        assert_eq!(echo_of(""), "\r\n");
        assert_eq!(echo_of("a\n\tb"), "a\r\n\tb\r\n");
        assert!(!echo_of("a\x1b[2Jb\x07").contains('\x1b'));
        assert_eq!(echo_of(&"x\n".repeat(50)).lines().count(), ECHO_MAX_ROWS + 1);
        assert_eq!(echo_of(&"y".repeat(5000)).trim_end(), format!("{}...", "y".repeat(ECHO_ROW_MAX_CHARS)));
    }
}
