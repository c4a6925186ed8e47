//! The help of `cohab` itself: the keys, and all commands in groups.

use clap::{Command as ClapCommand, Subcommand as _};

use super::Command;

/// Keys at the prompt of the shell, each with what it does.
const KEYS: &[(&str, &str)] = &[
    ("? question", "Ask; Alt-Enter asks the line as it is"),
    ("Ctrl-C, Esc", "Stop the answer"),
    ("? /help", "List what the prompt can do"),
];

/// Headings and the commands below them.
const GROUPS: &[(&str, &[&str])] = &[
    ("Ask and go on", &["ask", "sessions", "resume", "undo", "tasks", "context"]),
    ("Look back", &["history", "why", "trace", "export", "usage", "stats", "audit"]),
    ("Look after", &["setup", "doctor", "shell-check", "config", "models", "probe-model", "policy", "trust", "daemon"]),
    ("For scripts and other tools", &["gate", "scrub", "init", "completions", "man"]),
];

/// Columns of a name.
const NAME_COLUMNS: usize = 11;

/// The template of the help: the parts in braces are clap's. As tight as it is, it fits a screen of 45 rows.
pub(super) fn template() -> String {
    let commands = Command::augment_subcommands(ClapCommand::new("cohab"));
    let about = |name: &str| {
        let about = commands.find_subcommand(name).and_then(ClapCommand::get_about);
        about.map(ToString::to_string).unwrap_or_default()
    };
    let row = |name: &str, about: &str| format!("  {name:NAME_COLUMNS$}  {about}\n");
    let mut text = "{about}\n{usage-heading} {usage}\nAt the prompt of the shell:\n".to_owned();
    text.extend(KEYS.iter().map(|(key, about)| row(key, about)));
    for (heading, names) in GROUPS {
        text.push_str(&format!("{heading}:\n"));
        text.extend(names.iter().map(|name| row(name, &about(name))));
    }
    text + "Options:\n{options}"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_in_one_group_and_has_one_line() {
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        let mut all: Vec<&str> = super::super::SUBCOMMANDS.iter().copied().filter(|name| *name != "help").collect();
        grouped.sort_unstable();
        all.sort_unstable();
        assert_eq!(grouped, all);
    }

    #[test]
    fn the_rows_fit_a_narrow_terminal() {
        let text = template();
        assert!(text.lines().all(|row| row.chars().count() <= 60 && row.trim_end() == row), "{text}");
    }
}
