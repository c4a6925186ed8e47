//! `cohabd definitions` prints the command line as data. `cohab` makes completions and the manual from it, without depending on this
//! crate.

use std::{io::Write, process::ExitCode};

use clap::{Arg, Args, Command, CommandFactory};
use cohab_protocol::Paths;
use serde_json::{Value, json};

use super::Failure;

/// Only for `cohab` itself.
const INTERNAL: [&str; 2] = ["definitions", "who"];

/// Print this command line as JSON, for the completions and the manual of `cohab`
#[derive(Clone, Debug, PartialEq, Eq, Args)]
#[command(hide = true)]
pub struct DefinitionsArgs {}

/// Runs it.
pub fn run(_: &DefinitionsArgs, _: &Paths, output: &mut dyn Write, errors: &mut dyn Write) -> ExitCode {
    let written = writeln!(output, "{}", tree(&super::Cli::command())).map_err(Failure::from);
    super::finish(written, output, errors)
}

/// A command as an object: `name`, `about`, `after_help`, `arguments` and `commands` (the same shape). Hidden arguments are left out,
/// and what is only for `cohab`; what merely has no room in the help is not.
#[must_use]
pub fn tree(command: &Command) -> Value {
    let text = |text: Option<&clap::builder::StyledStr>| text.map(ToString::to_string);
    let arguments: Vec<Value> =
        command.get_arguments().filter(|argument| !argument.is_hide_set()).map(definition).collect();
    let told = command.get_subcommands().filter(|command| !INTERNAL.contains(&command.get_name()));
    let commands: Vec<Value> = told.map(tree).collect();
    json!({
        "name": command.get_name(), "about": text(command.get_about()), "after_help": text(command.get_after_help()),
        "arguments": arguments, "commands": commands,
    })
}

/// An argument: `id`, `long`, `short`, `help`, `takes_value`, `value_names`, `values` (`name`, `help`), `is_positional`,
/// `is_required`, `is_many`.
fn definition(argument: &Arg) -> Value {
    let takes_value = argument.get_action().takes_values();
    // clap keeps words for flags too, which cannot be typed.
    let possible = if takes_value { argument.get_possible_values() } else { Vec::new() };
    let values: Vec<Value> = possible
        .iter()
        .map(|value| json!({"name": value.get_name(), "help": value.get_help().map(ToString::to_string)}))
        .collect();
    let names: Vec<&str> =
        argument.get_value_names().unwrap_or_default().iter().map(clap::builder::Str::as_str).collect();
    json!({
        "id": argument.get_id().as_str(), "long": argument.get_long(), "short": argument.get_short(),
        "help": argument.get_help().map(ToString::to_string), "takes_value": takes_value,
        "value_names": if takes_value { names } else { Vec::new() }, "values": values,
        "is_positional": argument.is_positional(), "is_required": argument.is_required_set(),
        "is_many": matches!(argument.get_action(), clap::ArgAction::Append),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_values_and_words_are_told() {
        let tree = tree(&super::super::Cli::command());
        let of = |tree: &Value, list: &str, name: &str| {
            let all = tree[list].as_array().unwrap().iter();
            let key = if list == "commands" { "name" } else { "id" };
            all.clone().find(|one| one[key] == name).cloned().unwrap_or_else(|| panic!("no {name} in {tree:#}"))
        };
        let usage = of(&tree, "commands", "usage");
        let by = of(&usage, "arguments", "by");
        assert_eq!((&by["long"], &by["takes_value"]), (&json!("by"), &json!(true)));
        assert!(by["values"].as_array().unwrap().iter().any(|value| value["name"] == "model"), "{by:#}");
        assert_eq!(of(&usage, "arguments", "json")["takes_value"], false);
        let get = of(&of(&tree, "commands", "config"), "commands", "get");
        assert_eq!(of(&get, "arguments", "key")["is_positional"], true);
        assert!(!tree.to_string().contains("definitions"), "a hidden command is told");
    }
}
