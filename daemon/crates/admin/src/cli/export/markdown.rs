//! Renders a conversation as a Markdown transcript. Pure.

use cohab_store::sessions::event::{Approval, Call, Event};
use cohab_text::sanitize::{one_line, sanitize, sanitize_prose};

use super::{super::record, Exported};

/// The shortest fence.
const FENCE: usize = 3;

/// The transcript.
pub(super) fn transcript(exported: &Exported) -> String {
    let session = &exported.session;
    let mut text = format!(
        "# {}\n\nSession {}, {}, {}\n",
        one_line(&session.title, usize::MAX),
        record::short(&session.id),
        exported.day(),
        one_line(&session.model, usize::MAX),
    );
    let mut console: Option<String> = None;
    for row in &exported.events {
        match &row.event {
            Event::Call(call) => {
                close(&mut text, console.take());
                console = Some(called(call));
            }
            Event::Result(result) => {
                let console = console.get_or_insert_default();
                console.push_str(&sanitize(&result.output));
                if !console.ends_with('\n') {
                    console.push('\n');
                }
                if let Some(code) = result.exit_code.filter(|code| *code != 0) {
                    console.push_str(&format!("[exit {code}]\n"));
                }
            }
            other => {
                close(&mut text, console.take());
                text.push_str(&paragraph(other));
            }
        }
    }
    close(&mut text, console);
    text
}

fn called(call: &Call) -> String {
    let what = call.command.as_ref().map_or_else(|| format!("{} {}", call.tool, call.title), |one| format!("$ {one}"));
    let refused = if call.approval == Approval::Refused { "[refused]\n" } else { "" };
    format!("{}\n{refused}", sanitize(&what))
}

fn paragraph(event: &Event) -> String {
    match event {
        Event::Question { text, .. } => format!("\n## {}\n", one_line(text.trim(), usize::MAX)),
        Event::Added { text } => format!("\n**You added:** {}\n", one_line(text.trim(), usize::MAX)),
        Event::Answer { text } => format!("\n{}\n", sanitize_prose(text).trim_end()),
        Event::Shell { line: Some(line), exit_code, .. } => {
            format!("\n> You ran {}, exit {exit_code}.\n", code(&one_line(line, usize::MAX)))
        }
        Event::Error { message } => format!("\n**Error:** {}\n", one_line(message, usize::MAX)),
        _ => String::new(),
    }
}

fn close(text: &mut String, console: Option<String>) {
    if let Some(console) = console {
        let fence = "`".repeat(longest_run(&console).max(FENCE - 1) + 1);
        text.push_str(&format!("\n{fence}console\n{console}{fence}\n"));
    }
}

fn code(line: &str) -> String {
    let fence = "`".repeat(longest_run(line) + 1);
    format!("{fence} {line} {fence}")
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}
