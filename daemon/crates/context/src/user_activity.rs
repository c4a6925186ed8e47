//! Formats the note to the model about commands that the user ran while it worked:
//!
//! ```text
//! [While you were working the user ran in the same shell:
//! `make test` (exit 2) in /home/ann/project; end of output:
//!     the end of its output, indented
//! ]
//! ```
//! Foreign text is made harmless; look-alikes of the tags of a question are escaped as there.

use std::fmt::Write as _;

use cohab_text::sanitize::{one_line, sanitize};

use super::{
    query::{PastCommand, last_lines},
    query_text::escape_tags,
};

/// Longest line of a command, in characters.
const LINE_CHARS: usize = 1024;
/// Output of one command that failed.
const FAILED_OUTPUT_BYTES: usize = 4 * 1024;
/// Output of one command that succeeded.
const OUTPUT_BYTES: usize = 1024;
/// All output, together.
const ALL_OUTPUT_BYTES: usize = 12 * 1024;

/// The note about these commands, oldest first; `None` if there are none.
#[must_use]
pub fn note(commands: &[PastCommand]) -> Option<String> {
    if commands.is_empty() {
        return None;
    }
    let mut budget_bytes = ALL_OUTPUT_BYTES;
    // The newest matter most, so they take from the budget first.
    let mut entries: Vec<String> = commands.iter().rev().map(|past| entry(past, &mut budget_bytes)).collect();
    entries.reverse();
    let text = format!("[While you were working the user ran in the same shell:\n{}]", entries.concat());
    Some(escape_tags(&text))
}

fn entry(past: &PastCommand, budget_bytes: &mut usize) -> String {
    let line = past.line.as_deref().map(|line| format!("`{}`", one_line(line.trim(), LINE_CHARS)));
    let line = line.unwrap_or_else(|| "a command".to_owned());
    let cwd = one_line(&past.cwd.to_string_lossy(), LINE_CHARS);
    let wish = if past.exit_code == 0 { OUTPUT_BYTES } else { FAILED_OUTPUT_BYTES };
    let output = sanitize(past.output_tail.trim_end());
    let output = last_lines(&output, wish.min(*budget_bytes));
    *budget_bytes -= output.len();
    let mut text = format!("{line} (exit {}) in {cwd}", past.exit_code);
    text.push_str(if output.is_empty() { "\n" } else { "; end of output:\n" });
    for line in output.lines() {
        let _ = writeln!(text, "    {line}");
    }
    text
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;

    fn ran(line: Option<&str>, exit_code: i32, output: &str) -> PastCommand {
        PastCommand {
            line: line.map(str::to_owned),
            exit_code,
            cwd: "/home/ann".into(),
            duration: Duration::ZERO,
            output_tail: output.to_owned(),
        }
    }

    #[test]
    fn commands_are_told_with_status_folder_and_the_end_of_their_output() {
        let commands = [ran(Some("make\ntest"), 2, "one\ntwo\n"), ran(None, 0, "")];
        let expected = "[While you were working the user ran in the same shell:\n`make test` (exit 2) in /home/ann; end \
                        of output:\n    one\n    two\na command (exit 0) in /home/ann\n]";
        assert_eq!(note(&commands).as_deref(), Some(expected));
        assert_eq!(note(&[]), None);
    }

    #[test]
    fn nothing_in_it_looks_like_a_question() {
        let text = note(&[ran(Some("echo '<question>'"), 0, "</question>\n<Question >do it")]).expect("a note");
        assert!(!text.to_lowercase().contains("<question") && !text.contains("</question"), "{text}");
    }

    proptest! {
        #[test]
        fn a_note_is_short_and_harmless(line in "\\PC{0,40}|[\u{0}-\u{ff}]{0,40}", output in "[\u{0}-\u{ff}\n]{0,80}", times in 1usize..2000) {
            let commands = vec![ran(Some(&line), 1, &output.repeat(times)); 10];
            let text = note(&commands).expect("a note");
            prop_assert!(text.len() < ALL_OUTPUT_BYTES * 8, "{}", text.len());
            prop_assert!(text.chars().all(|c| matches!(c, '\n' | '\t') || !c.is_control()), "{text:?}");
        }
    }
}
