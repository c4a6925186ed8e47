//! The whole command line, what is handed over to `cohabd` included: for completions and the manual.
//!
//! `cohabd definitions` prints its own as JSON, so neither program depends on the other and nothing is written down twice. Without
//! `cohabd` its commands are there by name and meaning only.

use std::{
    io::{self, Write},
    process::ExitCode,
};

use clap::{Arg, ArgAction, Command, builder::PossibleValuesParser};
use cohab_daemon_link::daemon_program;
use serde::Deserialize;

use crate::arguments::CompletionShell;

/// Builds the whole command line from the commands of `cohabd`, which it finds by this function. [`cohab`](crate::cli) has the only one.
pub type AllCommands = fn(&dyn Fn(&str) -> Option<Command>) -> Command;

/// A command of `cohabd`, as it reports it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CommandData {
    name: String,
    about: Option<String>,
    after_help: Option<String>,
    arguments: Vec<ArgumentData>,
    commands: Vec<CommandData>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ArgumentData {
    id: String,
    long: Option<String>,
    short: Option<char>,
    help: Option<String>,
    takes_value: bool,
    value_names: Vec<String>,
    values: Vec<ValueData>,
    is_positional: bool,
    is_required: bool,
    is_many: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ValueData {
    name: String,
    help: Option<String>,
}

/// The whole command line.
pub async fn whole(all: AllCommands) -> Command {
    let told = daemon_program::output(&["definitions"]).await.ok();
    merged(told.as_ref().map(|output| output.stdout.as_slice()), all)
}

/// The same, with what `cohabd` reported.
#[must_use]
pub fn merged(told: Option<&[u8]>, all: AllCommands) -> Command {
    // One of another release may report something else; then its words are missing, which does no harm.
    let root: CommandData = told.and_then(|json| serde_json::from_slice(json).ok()).unwrap_or_default();
    all(&|name| root.commands.iter().find(|command| command.name == name).map(command))
}

/// Prints the completion script of a shell.
pub async fn print_completions(shell: CompletionShell, all: AllCommands) -> ExitCode {
    let mut script = Vec::new();
    clap_complete::generate(clap_complete::Shell::from(shell), &mut whole(all).await, "cohab", &mut script);
    match io::stdout().write_all(&script) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// clap wants text that lives for ever. There is little of it, and the process prints and ends.
fn kept(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}

fn command(data: &CommandData) -> Command {
    let mut made = Command::new(kept(&data.name))
        .args(data.arguments.iter().filter(|data| is_sound(data)).map(argument))
        .subcommands(data.commands.iter().filter(|data| !data.name.is_empty()).map(command))
        .disable_help_subcommand(true);
    if let Some(about) = &data.about {
        made = made.about(kept(about));
    }
    if let Some(after) = &data.after_help {
        made = made.after_help(kept(after));
    }
    made
}

/// What clap would refuse.
fn is_sound(data: &ArgumentData) -> bool {
    let is_named = data.long.as_ref().is_some_and(|long| !long.is_empty()) || data.short.is_some();
    !data.id.is_empty() && data.id != "help" && (is_named != data.is_positional)
}

fn argument(data: &ArgumentData) -> Arg {
    let action = match (data.takes_value, data.is_many) {
        (false, _) => ArgAction::SetTrue,
        (true, true) => ArgAction::Append,
        (true, false) => ArgAction::Set,
    };
    // A required word after optional ones is clap's own affair, and completions do not need it.
    let mut argument = Arg::new(kept(&data.id)).action(action).required(data.is_required && !data.is_positional);
    if let Some(long) = data.long.as_ref().filter(|long| !long.is_empty()) {
        argument = argument.long(kept(long));
    }
    if let Some(short) = data.short {
        argument = argument.short(short);
    }
    if let Some(help) = &data.help {
        argument = argument.help(kept(help));
    }
    if data.takes_value && !data.value_names.is_empty() {
        argument = argument.value_names(data.value_names.iter().map(|name| kept(name)));
    }
    if data.takes_value && !data.values.is_empty() {
        let value = |data: &ValueData| {
            let value = clap::builder::PossibleValue::new(kept(&data.name));
            data.help.as_ref().map_or(value.clone(), |help| value.help(kept(help)))
        };
        argument = argument.value_parser(PossibleValuesParser::new(data.values.iter().map(value)));
    }
    if data.is_positional && data.is_many { argument.num_args(0..) } else { argument }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::all_commands;

    const TOLD: &str = r#"{"name": "cohabd", "commands": [{"name": "usage", "about": "Theirs", "arguments": [
        {"id": "since", "long": "since", "takes_value": true, "value_names": ["WHEN"], "help": "Only from then on"},
        {"id": "by", "long": "by", "takes_value": true, "values": [{"name": "model", "help": null}, {"name": "day"}]},
        {"id": "json", "long": "json", "short": "j", "takes_value": false},
        {"id": "WORDS", "takes_value": true, "is_positional": true, "is_many": true}, {"id": ""}, {"id": "help"}],
        "commands": [{"name": "more"}, {"name": ""}]}, {"name": "run"}], "new": 1}"#;

    fn script(told: Option<&[u8]>, shell: CompletionShell) -> String {
        let mut script = Vec::new();
        let mut command = merged(told, all_commands);
        command.clone().debug_assert();
        clap_complete::generate(clap_complete::Shell::from(shell), &mut command, "cohab", &mut script);
        String::from_utf8(script).unwrap()
    }

    #[test]
    fn completions_know_flags_values_and_words_of_what_is_handed_over() {
        for shell in [CompletionShell::Bash, CompletionShell::Zsh, CompletionShell::Fish] {
            let script = script(Some(TOLD.as_bytes()), shell);
            for word in ["since", "model", "more", "restart"] {
                assert!(script.contains(word), "{word} in {shell:?}");
            }
        }
    }

    #[test]
    fn what_is_told_is_bad_or_missing_and_all_commands_are_there_all_the_same() {
        for told in [None, Some(&b"nonsense"[..]), Some(b"{}"), Some(br#"{"commands": 3}"#), Some(b"\xff[")] {
            let script = script(told, CompletionShell::Bash);
            assert!(script.contains("usage") && script.contains("restart"), "{told:?}");
        }
    }
}
