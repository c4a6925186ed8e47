//! The command line of `cohabd`, and `cohabd config`, which `cohab config` hands over to.

use std::{
    ffi::OsString,
    io::{self, BufRead, Read, Write},
    path::Path,
    process::ExitCode,
};

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use cohab_protocol::Paths;
use serde_json::json;

use crate::config::{
    ConfigError, ConfigFile,
    keys::{self, KEYS, Key},
};

/// Longest value that is read from standard input.
const INPUT_MAX_BYTES: u64 = 64 * 1024;
/// Stands for a secret.
const MASK: &str = "********";

/// The cohab daemon: sessions, the agent, model services and tools. `cohab` starts it when needed.
#[derive(Debug, Parser)]
#[command(name = "cohabd", version)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

/// What `cohabd` is to do.
#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub enum Command {
    /// Serve the clients of this user until told to stop (default)
    Run {
        /// In a session of its own: outlive the terminal that started it
        #[arg(long)]
        detach: bool,
    },
    /// Show, change or check the settings
    #[command(subcommand)]
    Config(ConfigCommand),
}

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
    /// Change a value in the settings file; comments and order stay
    Set {
        /// Name of the setting, for example `limits.steps_per_turn`
        key: String,
        /// New value; `-` reads it from standard input, which secrets must be
        #[arg(allow_hyphen_values = true)]
        value: String,
    },
    /// Check the settings file
    Check,
    /// Print all settings with their values and meaning
    List {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
}

/// Reads the command line. Prints and ends the process for `--help`, `--version` (status 0) and mistakes (status 2).
#[must_use]
pub fn parse() -> Command {
    parse_from(std::env::args_os().collect()).unwrap_or_else(|error| error.exit())
}

fn parse_from(args: Vec<OsString>) -> Result<Command, clap::Error> {
    let command = Cli::command();
    // People reach the settings by `cohab config`, so that is what help and mistakes name.
    let is_config = args.get(1).is_some_and(|arg| arg == "config");
    let command = if is_config { command.bin_name("cohab") } else { command };
    let cli = Cli::from_arg_matches(&command.try_get_matches_from(args)?)?;
    Ok(cli.command.unwrap_or(Command::Run { detach: false }))
}

/// Why a command failed.
enum Failure {
    /// Faults of the file.
    Config(Vec<ConfigError>),
    /// Anything else: a sentence, and what to do.
    Other(String, Option<String>),
    /// The reader of our output is gone, or the disk is full.
    Output(io::Error),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        Self::Config(vec![error])
    }
}

/// Runs `cohabd config`. Exit status: 0 done, 1 user or settings, 3 nobody reads the output.
pub fn run_config(
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
        ConfigCommand::Check => check(&path, output),
        ConfigCommand::List { json } => list(&path, *json, output),
    };
    // Nothing is left to be done if even the errors cannot be written.
    match result.and_then(|()| output.flush().map_err(Failure::from)) {
        Ok(()) => return ExitCode::SUCCESS,
        Err(Failure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => return ExitCode::from(3),
        Err(Failure::Output(error)) => drop(writeln!(errors, "error: cannot write the output: {error}")),
        Err(Failure::Other(message, hint)) => drop(complain(errors, &message, hint.as_deref())),
        Err(Failure::Config(problems)) => {
            for problem in problems {
                drop(complain(errors, &problem.to_string(), problem.hint.as_deref()));
            }
        }
    }
    ExitCode::FAILURE
}

fn complain(errors: &mut dyn Write, message: &str, hint: Option<&str>) -> io::Result<()> {
    writeln!(errors, "error: {message}")?;
    hint.map_or(Ok(()), |hint| writeln!(errors, "Hint: {hint}"))
}

fn known(name: &str) -> Result<Key, Failure> {
    keys::find(name).ok_or_else(|| Failure::Other(format!("unknown key `{name}`"), Some(keys::advice(name))))
}

fn sound(path: &Path) -> Result<ConfigFile, Failure> {
    let file = ConfigFile::read(path)?;
    let problems = file.problems();
    if problems.is_empty() { Ok(file) } else { Err(Failure::Config(problems)) }
}

/// The value in force, as shown, and where it comes from.
fn effective(file: &ConfigFile, key: &Key) -> Option<(String, String)> {
    if let Some((value, position)) = file.value(key) {
        let shown = if key.is_secret { MASK.into() } else { keys::plain(&value) };
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

fn set(path: &Path, name: &str, value: &str, input: &mut dyn BufRead, output: &mut dyn Write) -> Result<(), Failure> {
    let key = known(name)?;
    let text = if value == "-" {
        let mut text = String::new();
        let read = input.take(INPUT_MAX_BYTES).read_to_string(&mut text);
        read.map_err(|error| Failure::Other(format!("cannot read the value from standard input: {error}"), None))?;
        text.trim_end_matches(['\n', '\r']).to_owned()
    } else if key.is_secret {
        // Arguments can be seen by everyone on the machine and stay in the history of the shell.
        let hint = format!("pipe it in: `cohab config set {name} - < FILE`");
        return Err(Failure::Other(format!("`{name}` is a secret and not taken from the command line"), Some(hint)));
    } else {
        value.to_owned()
    };
    let value = key.parse(&text).map_err(|message| Failure::Other(message, None))?;
    ConfigFile::read(path)?.set(&key, value)?;
    let shown = if key.is_secret { MASK } else { &text };
    writeln!(output, "{name} = {shown}")?;
    Ok(())
}

fn check(path: &Path, output: &mut dyn Write) -> Result<(), Failure> {
    sound(path)?;
    writeln!(output, "OK")?;
    Ok(())
}

fn list(path: &Path, as_json: bool, output: &mut dyn Write) -> Result<(), Failure> {
    let file = sound(path)?;
    if as_json {
        let all: Vec<_> = KEYS
            .iter()
            .map(|key| {
                let (value, origin) = effective(&file, key).unzip();
                json!({
                    "key": key.name, "value": value, "origin": origin, "default": key.default,
                    "allowed": key.kind.allowed(), "description": key.doc,
                })
            })
            .collect();
        writeln!(output, "{:#}", json!(all))?;
        return Ok(());
    }
    for key in KEYS {
        let (value, origin) = effective(&file, key).unwrap_or_else(|| ("(not set)".into(), "default".into()));
        let origin = if origin == "default" { "" } else { " *" };
        writeln!(output, "{} = {value}{origin}\n    {}. Must be {}.", key.name, key.doc, key.kind.allowed())?;
    }
    writeln!(output, "\n* set in {}", file.path().display())?;
    Ok(())
}

#[cfg(test)]
#[path = "cli_tests.rs"]
mod tests;
