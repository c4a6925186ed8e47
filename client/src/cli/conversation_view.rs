//! `cohab sessions show` at a terminal: renders the answers and shows the text in a pager. The daemon's program reads the store.

use std::{
    ffi::OsString,
    io::IsTerminal,
    process::{ExitCode, Stdio},
};

use cohab_daemon_link::connection;
use cohab_term::{
    ansi::{ColorSupport, write_line},
    markdown::MarkdownStream,
    output_style::OutputStyle,
    window_size,
};
use cohab_text::sanitize::sanitize_prose;
use serde::Deserialize;
use tokio::process::Command;

use super::pager;
use crate::colours;

/// A conversation as `cohabd sessions show --parts` prints it.
#[derive(Deserialize)]
struct Conversation {
    head: String,
    parts: Vec<Part>,
}

#[derive(Deserialize)]
struct Part {
    text: String,
    is_markdown: bool,
}

/// Whether these words ask for a conversation that a person reads.
pub(super) fn is_wanted(words: &[OsString]) -> bool {
    let is_show = words.first().is_some_and(|word| word == "sessions")
        && words.len() <= 3
        && words.get(1).is_some_and(|word| word == "show");
    let has_options = words.iter().any(|word| word.as_encoded_bytes().starts_with(b"-"));
    is_show && !has_options && std::io::stdout().is_terminal()
}

/// Shows it. `None` if that fails before anything was shown.
pub(super) async fn run(words: &[OsString]) -> Option<ExitCode> {
    let mut reader = Command::new(connection::daemon_program());
    let read = reader.args(words).arg("--parts").stderr(Stdio::null()).output().await.ok()?;
    let conversation: Conversation = serde_json::from_slice(&read.stdout).ok().filter(|_| read.status.success())?;
    let colors = colours::of_subcommand();
    let (columns, _) = window_size::size_of(rustix::stdio::stdout());
    let page = rendered(&conversation, columns, colors, OutputStyle::from_env(colors));
    Some(if pager::show(&page).await.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn rendered(conversation: &Conversation, columns: u16, colors: ColorSupport, output_style: OutputStyle) -> Vec<u8> {
    let mut out = (sanitize_prose(&conversation.head) + "\n").into_bytes();
    for part in &conversation.parts {
        if !part.is_markdown {
            out.extend_from_slice(sanitize_prose(&part.text).as_bytes());
            continue;
        }
        let mut stream = MarkdownStream::new(columns, None).with_output_style(output_style);
        stream.push(&part.text);
        for line in stream.finish() {
            write_line(&line, colors, &mut out);
            out.push(b'\n');
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_rendered_and_the_rest_stays() {
        let whole = r##"{"head": "Title\n", "parts": [{"text": "? why **so**\n", "is_markdown": false},
            {"text": "\n", "is_markdown": false}, {"text": "# Head\n\n**bold** \u001b[2Jword\n", "is_markdown": true}]}"##;
        let conversation: Conversation = serde_json::from_str(whole).unwrap();
        let text = |colors| String::from_utf8(rendered(&conversation, 80, colors, OutputStyle::Rich)).unwrap();
        assert_eq!(text(ColorSupport::None), "Title\n\n? why **so**\n\nHead\n\nbold word\n");
        assert!(text(ColorSupport::Ansi16).contains("\u{1b}[1mbold\u{1b}[m word"), "{}", text(ColorSupport::Ansi16));
    }

    #[test]
    fn options_and_other_commands_are_the_daemons() {
        let wanted = |line: &str| is_wanted(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
        for line in
            ["sessions", "sessions show last --json", "sessions show --help", "sessions rm show", "sessions list"]
        {
            assert!(!wanted(line), "{line}");
        }
    }
}
