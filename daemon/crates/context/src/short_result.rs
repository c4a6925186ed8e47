//! The short form of a tool result: one line with the outcome of the call, without its output. Pure.

use cohab_agent::{builtin_tools::LIVE, state::NOTE_MARK};
use cohab_model_api::{Message, ToolResult};
use cohab_text::cut::head;

/// A result of at most so many bytes is short as it is.
const SHORT_BYTES: usize = 128;
/// Most kept bytes of the reason of a failure, and of notes behind a result.
const KEPT_BYTES: usize = 192;
/// The end of a short form.
const LEFT_OUT: &str = "left out]";

/// Whether all results in the message are short; false for any other message.
#[must_use]
pub fn is_short(message: &Message) -> bool {
    matches!(message, Message::ToolResults(results) if results.iter().all(|result| is_short_text(body(result))))
}

/// Replaces longer results by their short form: `[exit 0; output left out]` for a command. Notes behind a result stay. Returns the
/// number of shortened results.
pub fn shorten(message: &mut Message) -> usize {
    let Message::ToolResults(results) = message else { return 0 };
    let mut count = 0;
    for result in results {
        if let Some(short) = short_form(result) {
            result.content = short;
            count += 1;
        }
    }
    count
}

/// The short form of a result; `None` for a result that is short already.
#[must_use]
pub fn short_form(result: &ToolResult) -> Option<String> {
    let body = body(result);
    (!is_short_text(body)).then(|| line(result) + head(&result.content[body.len()..], KEPT_BYTES))
}

fn is_short_text(body: &str) -> bool {
    body.len() <= SHORT_BYTES || body.len() <= 2 * KEPT_BYTES && !body.contains('\n') && body.ends_with(LEFT_OUT)
}

/// The result without the notes behind it.
fn body(result: &ToolResult) -> &str {
    result.content.split(NOTE_MARK).next().unwrap_or_default()
}

fn line(result: &ToolResult) -> String {
    let body = body(result);
    let status = (result.tool == LIVE).then(|| body.trim_end().lines().next_back().and_then(status)).flatten();
    match status {
        Some(status) => format!("[{status}; output {LEFT_OUT}"),
        // The reason shows whether it ran.
        None if result.is_error => {
            let reason = head(body.trim_start(), KEPT_BYTES).replace('\n', " ");
            format!("{reason}… [{} bytes in all, the rest {LEFT_OUT}", body.len())
        }
        None => format!("[done; {} bytes of output {LEFT_OUT}", body.len()),
    }
}

/// The status of a command, from the line in brackets that `bash` appends to its output.
fn status(line: &str) -> Option<&str> {
    let told = line.strip_prefix('[')?.strip_suffix(']')?;
    let end = [": ", "; "].iter().filter_map(|stop| told.find(stop)).min().unwrap_or(told.len());
    Some(head(&told[..end], SHORT_BYTES / 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(tool: &str, content: String, is_error: bool) -> Message {
        Message::ToolResults(vec![ToolResult { call_id: "1".into(), tool: tool.into(), content, is_error }])
    }

    fn shortened(mut message: Message) -> String {
        let before = message.clone();
        let count = shorten(&mut message);
        assert!(is_short(&message) && (count == 0) == is_short(&before));
        assert_eq!(shorten(&mut message), 0, "twice is once");
        let Message::ToolResults(results) = message else { panic!("{message:?}") };
        results[0].content.clone()
    }

    #[test]
    fn what_came_of_a_command_stays_in_one_line() {
        let long = "word\n".repeat(100);
        for (line, told) in [
            ("[exit 0; cwd /w; 0.04 s]", "[exit 0; output left out]"),
            ("[exit 3; cwd is now /w/sub; 1 s; environment: A=\"[x]\"]", "[exit 3; output left out]"),
            (
                "[interrupted by the user (exit 130); cwd /w; 2 s]",
                "[interrupted by the user (exit 130); output left out]",
            ),
            (
                "[still running after 2.00 s, not killed: `vim` has the whole screen; cwd /w; 2 s]",
                "[still running after 2.00 s, not killed; output left out]",
            ),
        ] {
            assert_eq!(shortened(result("bash", format!("{long}{line}"), false)), told);
        }
    }

    #[test]
    fn only_a_command_has_a_status_line() {
        let text = "word\n".repeat(100) + "[exit 0; cwd /w]";
        assert_eq!(shortened(result("read", text, false)), "[done; 516 bytes of output left out]");
    }

    #[test]
    fn a_failure_keeps_its_reason() {
        let reason = "unknown: the program ended while this call was on.\nIt may or may not have run. ".repeat(9);
        let short = shortened(result("bash", reason, true));
        assert!(short.starts_with("unknown: the program ended while this call was on. It may or"), "{short}");
        assert!(short.ends_with("bytes in all, the rest left out]") && !short.contains('\n'), "{short}");
    }

    #[test]
    fn what_is_short_is_left_alone_and_notes_stay() {
        let text = "x\n[exit 0; cwd /w; 0.04 s]";
        assert_eq!(shortened(result("bash", text.into(), false)), text);
        let long = format!("{}[exit 0; cwd /w]{NOTE_MARK}[The user ran `ls`.]", "word\n".repeat(100));
        let told = format!("[exit 0; output left out]{NOTE_MARK}[The user ran `ls`.]");
        assert_eq!(shortened(result("bash", long, false)), told);
        assert!(!is_short(&Message::user(String::new())));
    }
}
