//! `cohab config` shows, checks and edits the settings file.

use std::{
    io::{self, BufRead, Read, Write},
    path::Path,
    process::ExitCode,
};

use clap::Subcommand;
use cohab_config::{
    self, ConfigFile,
    keys::{self, Check, KEYS, Key},
    model_roles::Role,
    profile,
};
use cohab_protocol::Paths;
use cohab_text::sanitize::escaped_json;
use serde_json::json;

use super::Failure;
use crate::telemetry;

/// Longest value that is read from standard input.
const INPUT_MAX_BYTES: u64 = 64 * 1024;
/// The setting that needs a special build.
const TELEMETRY: &str = "telemetry.otlp_endpoint";
/// Replaces a secret.
const MASK: &str = "********";

/// What to do with the settings.
#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub enum ConfigCommand {
    /// Print the path of the settings file
    Path,
    /// Print the value in force
    Get {
        /// Name of the setting, for example `limits.steps_per_turn`
        key: String,
        /// Also print where the value comes from: `default`, or file and line
        #[arg(long)]
        origin: bool,
    },
    /// Change a value in the settings file; keep its comments and order
    Set {
        /// Name of the setting, for example `limits.steps_per_turn`
        key: String,
        /// New value; `-` reads it from standard input, as secrets require
        #[arg(allow_hyphen_values = true)]
        value: String,
    },
    /// Check the settings file, and the table of models if there is one
    Check,
    /// Print the settings with their values and meaning
    List {
        /// Also those that are reserved for future versions
        #[arg(long)]
        all: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// Runs it. Exit status: 0 done, 1 user or settings, 3 the output is closed.
pub fn run(command: &ConfigCommand, paths: &Paths, output: &mut dyn Write, errors: &mut dyn Write) -> ExitCode {
    run_with_input(command, paths, &mut io::stdin().lock(), output, errors)
}

fn run_with_input(
    command: &ConfigCommand,
    paths: &Paths,
    input: &mut dyn BufRead,
    output: &mut dyn Write,
    errors: &mut dyn Write,
) -> ExitCode {
    let path = paths.config_file();
    let result = match command {
        ConfigCommand::Path => writeln!(output, "{}", path.display()).map_err(Failure::from),
        ConfigCommand::Get { key, origin } => get(&path, key, *origin, output),
        ConfigCommand::Set { key, value } => set(&path, key, value, input, output),
        ConfigCommand::Check => check(paths, output),
        ConfigCommand::List { all, json } => list(&path, *all, *json, output),
    };
    super::finish(result, output, errors)
}

fn known(name: &str) -> Result<Key, Failure> {
    keys::find(name).ok_or_else(|| Failure::Other(format!("unknown key `{name}`"), Some(keys::advice(name))))
}

fn sound(path: &Path) -> Result<ConfigFile, Failure> {
    let file = ConfigFile::read(path)?;
    let problems = file.problems();
    if problems.is_empty() { Ok(file) } else { Err(Failure::Config(problems)) }
}

/// The value in force in its shown form, and its source.
fn effective(file: &ConfigFile, key: &Key) -> Option<(String, String)> {
    if let Some((value, position)) = file.value(key) {
        let shown = if key.is_secret() { MASK.into() } else { keys::plain(&value) };
        return Some((shown, format!("{}:{}", file.path().display(), position.line)));
    }
    key.default.map(|default| (default.to_owned(), "default".into()))
}

fn get(path: &Path, name: &str, with_origin: bool, output: &mut dyn Write) -> Result<(), Failure> {
    let key = known(name)?;
    let Some((value, origin)) = effective(&sound(path)?, &key) else {
        return Err(Failure::Other(format!("`{name}` is not set and has no default"), None));
    };
    let origin = if with_origin { format!("\t{origin}") } else { String::new() };
    writeln!(output, "{value}{origin}")?;
    Ok(())
}

/// Changes a value in the settings file.
pub(super) fn set(
    path: &Path,
    name: &str,
    value: &str,
    input: &mut dyn BufRead,
    output: &mut dyn Write,
) -> Result<(), Failure> {
    let key = known(name)?;
    let text = if value == "-" {
        let mut text = String::new();
        let read = input.take(INPUT_MAX_BYTES).read_to_string(&mut text);
        read.map_err(|error| Failure::Other(format!("cannot read the value from standard input: {error}"), None))?;
        text.trim_end_matches(['\n', '\r']).to_owned()
    } else if key.is_secret() {
        // Arguments can be seen by everyone on the machine and stay in the history of the shell.
        let hint = format!("pipe it in: `cohab config set {name} - < FILE`");
        return Err(Failure::Other(format!("the secret `{name}` is not accepted on the command line"), Some(hint)));
    } else {
        value.to_owned()
    };
    let value = key.parse(&text).map_err(|message| Failure::Other(message, None))?;
    ConfigFile::read(path)?.set(&key, value)?;
    let shown = if key.is_secret() { MASK } else { &text };
    writeln!(output, "{name} = {shown}")?;
    note_telemetry(&ConfigFile::read(path)?, output)
}

/// Notes an endpoint that this build cannot use.
fn note_telemetry(file: &ConfigFile, output: &mut dyn Write) -> Result<(), Failure> {
    let value = keys::find(TELEMETRY).and_then(|key| file.value(&key));
    let is_set = value.is_some_and(|(value, _)| !keys::plain(&value).is_empty());
    if let Some(missing) = telemetry::missing().filter(|_| is_set) {
        writeln!(output, "Note: {missing}.")?;
    }
    Ok(())
}

fn check(paths: &Paths, output: &mut dyn Write) -> Result<(), Failure> {
    let file = sound(&paths.config_file())?;
    cohab_config::models(paths)?;
    writeln!(output, "OK")?;
    note_telemetry(&file, output)
}

fn list(path: &Path, with_reserved: bool, as_json: bool, output: &mut dyn Write) -> Result<(), Failure> {
    let file = sound(path)?;
    let keys = KEYS.iter().cloned().chain(of_profiles(&file));
    if as_json {
        let all: Vec<_> = keys
            .map(|key| {
                let (value, origin) = effective(&file, &key).unzip();
                json!({
                    "key": key.name, "value": value, "origin": origin, "default": key.default,
                    "allowed": key.allowed(), "description": key.doc,
                })
            })
            .collect();
        // Escaped only within its lines: between them the line ends stay.
        return Ok(format!("{:#}", json!(all))
            .lines()
            .try_for_each(|line| writeln!(output, "{}", escaped_json(line)))?);
    }
    let does_nothing = |key: &Key| is_reserved(&key.name) && file.value(key).is_none();
    for key in keys.filter(|key| with_reserved || !does_nothing(key)) {
        let (value, origin) = effective(&file, &key).unwrap_or_else(|| ("(not set)".into(), "default".into()));
        let origin = if origin == "default" { "" } else { " *" };
        writeln!(output, "{} = {value}{origin}\n    {}. Must be {}.", key.name, key.doc, key.allowed())?;
    }
    writeln!(output, "\n* set in {}", file.path().display())?;
    Ok(())
}

/// Whether a setting has no effect yet.
fn is_reserved(name: &str) -> bool {
    name.strip_prefix("roles.").is_some_and(|role| Role::ALL.iter().any(|one| one.is_reserved() && one.name() == role))
}

/// The settings of the file's profiles.
fn of_profiles(file: &ConfigFile) -> impl Iterator<Item = Key> {
    let models = || KEYS.iter().filter_map(|key| key.name.strip_prefix("model."));
    let keys = file.profiles().into_iter().flat_map(move |profile| {
        models().filter_map(move |leaf| keys::find(&format!("{}.{leaf}", profile::table(Some(&profile)))))
    });
    keys.filter(|key| file.value(key).is_some())
}

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;
