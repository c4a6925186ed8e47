//! What stands behind the prompt in place of the stub. Pure.

use crate::sanitize::sanitize;

/// Rows of a command that are shown.
const MAX_ROWS: usize = 10;
/// Of one such row.
const ROW_MAX_CHARS: usize = 400;

/// The command's text as the terminal shows it, cut to bounds, with a line break at its end.
pub(super) fn echo_of(text: &str) -> String {
    let mut echo = String::new();
    for (row, line) in text.lines().enumerate() {
        if row == MAX_ROWS {
            echo.push_str("...\r\n");
            return echo;
        }
        let clean = sanitize(line);
        let shown: String = clean.chars().filter(|c| *c == '\t' || !c.is_control()).take(ROW_MAX_CHARS).collect();
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
