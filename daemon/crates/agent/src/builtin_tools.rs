//! What others need to know of the built-in tools: their names, the longest line of a result, how a result ends. Pure.

use std::borrow::Cow;

/// Name of the tool that runs commands in the user's own shell, where there is one.
pub const LIVE: &str = "bash";
/// Name of the tool that runs commands without the sandbox. The user is asked for each, whatever is remembered.
pub const UNCONFINED: &str = "bash_unconfined";
/// Name of the tool that shows a file or lists a folder.
pub const READ: &str = "read";
/// Name of the tool that sends a subagent.
pub const DELEGATE: &str = "delegate";
/// Name of the tool that reads a resource of an MCP server.
pub const RESOURCE_TOOL: &str = "mcp_read";
/// Name of the tool that reads a prompt of an MCP server. It is there in a turn whose question asks for a prompt of a known server.
pub const PROMPT_TOOL: &str = "mcp_prompt";
/// Longest line of a file that is shown whole.
pub const LINE_MAX_BYTES: usize = 2_000;

/// A result as it would be had the call taken another time: its last line without the part that is a duration.
#[must_use]
pub fn without_duration(result: &str) -> Cow<'_, str> {
    let (before, last) =
        result.rsplit_once('\n').map_or(("", result), |(before, last)| (&result[..=before.len()], last));
    let Some(status) = last.strip_prefix('[').and_then(|last| last.strip_suffix(']')) else {
        return Cow::Borrowed(result);
    };
    let parts: Vec<&str> = status.split("; ").filter(|part| !is_duration(part)).collect();
    Cow::Owned(format!("{before}[{}]", parts.join("; ")))
}

/// The output in the result of a command: without the last lines in brackets, which say how it ended and what a sandbox did.
#[must_use]
pub fn output_of(result: &str) -> &str {
    let mut output = result.trim_end_matches('\n');
    loop {
        let (before, last) = output.rsplit_once('\n').unwrap_or(("", output));
        if output.is_empty() || !(last.starts_with('[') && last.ends_with(']')) {
            return output;
        }
        output = before;
    }
}

fn is_duration(text: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let Some(number) = text.strip_suffix(" s") else { return false };
    number.split(" min ").all(is_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_output_is_what_the_command_wrote() {
        let result = "cannot create\n[a]: no\n[sandbox: this ran with `read-only`]\n[exit 1; cwd /w; 0.04 s]";
        assert_eq!(output_of(result), "cannot create\n[a]: no");
        assert_eq!(output_of("[exit 1; cwd /w; 0.04 s]"), "");
        assert_eq!(output_of(""), "");
    }

    #[test]
    fn a_result_is_known_again_whatever_time_the_call_took() {
        for took in ["0.00 s", "11.0 s", "1 min 15 s"] {
            let result = format!("[a; 1.0 s]\n3.0 s\n[exit 0; cwd /x; {took}; 5 of 9 bytes of output left out]");
            let timeless = "[a; 1.0 s]\n3.0 s\n[exit 0; cwd /x; 5 of 9 bytes of output left out]";
            assert_eq!(without_duration(&result), timeless);
        }
        for other in ["", "0.04 s", "a; 0.04 s; b", "[exit 0\n0.04 s]"] {
            assert_eq!(without_duration(other), other);
        }
    }
}
