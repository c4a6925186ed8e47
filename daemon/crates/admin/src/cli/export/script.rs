//! Renders the commands of a conversation as a script that runs them again. Pure.

use cohab_shell_state::shell::Shell;
use cohab_store::sessions::event::{Approval, Event};
use cohab_text::sanitize::{one_line, sanitize};

use super::{super::record, Exported, record::command::Command};

/// Longest comment, in columns.
const COMMENT_COLUMNS: usize = 100;

/// The shell that reads a script: that of the first question. bash reads commands of other shells.
fn reader(exported: &Exported) -> Shell {
    let shell = exported.events.iter().find_map(|row| match &row.event {
        Event::Question { shell, .. } => Some(shell.as_deref().unwrap_or_default()),
        _ => None,
    });
    match shell {
        Some("zsh") => Shell::Zsh,
        Some("fish") => Shell::Fish,
        _ => Shell::Bash,
    }
}

/// The script. It stops at the first command that fails (not in fish, which cannot).
pub(super) fn script(exported: &Exported) -> String {
    let reader = reader(exported);
    let mut text = format!("#!/usr/bin/env {}\n", reader.name());
    let title = comment(&exported.session.title);
    text.push_str(&format!(
        "# Session {} \"{title}\" of {}, written by `cohab export`.\n\
         # It runs the commands of that session again. Read it before you run it.\n",
        record::short(&exported.session.id),
        exported.day(),
    ));
    if reader != Shell::Fish {
        text.push_str("set -e\n");
    }
    let mut cwd = None;
    for (place, row) in exported.events.iter().enumerate() {
        match &row.event {
            Event::Question { text: question, .. } => text.push_str(&format!("\n# You asked: {}\n", comment(question))),
            Event::Call(call) if call.command.is_some() => {
                if let Some(command) = Command::among(&exported.events[..], exported.events[place].number) {
                    write_command(&mut text, &command, &mut cwd, reader);
                }
            }
            Event::Call(call) if call.approval != Approval::Refused => {
                text.push_str(&format!("# The assistant used {}: {}\n", comment(&call.tool), comment(&call.title)));
            }
            _ => {}
        }
    }
    text
}

fn write_command(text: &mut String, command: &Command, cwd: &mut Option<String>, reader: Shell) {
    let line = sanitize(command.text());
    let who = match command.call.approval {
        Approval::NotNeeded => "unasked".to_owned(),
        other => other.words().to_owned(),
    };
    if !command.went_well() {
        text.push_str(&format!("# Not repeated ({who}, {}):\n", command.went()));
        line.lines().for_each(|line| text.push_str(&format!("#   {line}\n")));
        return;
    }
    if cwd.as_deref() != Some(command.call.cwd.as_str()) {
        text.push_str(&format!("cd -- {}\n", reader.quoted_text(&sanitize(&command.call.cwd))));
    }
    *cwd = command.result.as_ref().and_then(|result| result.cwd.clone());
    text.push_str(&format!("# {who}, {}\n", command.went()));
    text.push_str(&standing_alone(line.trim_end_matches('\n'), reader));
    text.push('\n');
}

/// Quotes a command as a whole if it could affect the lines behind it, or means something else as part of a script.
fn standing_alone(command: &str, reader: Shell) -> String {
    let reaches_on = command.contains("<<") || command.ends_with('\\');
    let is_extended = ["!(", "?(", "*(", "+(", "@("].iter().any(|start| command.contains(start));
    if reaches_on || is_extended { format!("eval {}", reader.quoted_text(command)) } else { command.to_owned() }
}

fn comment(text: &str) -> String {
    one_line(text.trim(), COMMENT_COLUMNS)
}
