//! `cohab setup` chooses a service, its key and its model.

use std::{
    io::{self, IsTerminal as _, Read as _, Write},
    process::ExitCode,
};

use clap::Args;
use cohab_config::model_settings::KeyStore;
use cohab_models::key_store::KeyStores;
use cohab_prompt::{Plain, Prompt, Screen, Terminal};
use cohab_protocol::Paths;
use secrecy::SecretString;
use serde_json::json;

use super::{CANCELLED, complain};
use cohab_setup::{Given, GivenKey, Setup, SetupError};

/// Longest key from standard input, in bytes.
const KEY_MAX_BYTES: u64 = 8 * 1024;
/// Exit status for a wrong command line.
const USAGE: u8 = 2;

/// Choose a model service, its key and its model
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
#[command(
    after_help = "At a terminal, setup asks for everything that the flags leave open; nothing is written before the \
        last answer. A key is stored in the system's keyring (through `secret-tool` or `security`), or else in \
        keys.toml next to the settings, readable only by you.\n\
        Exit status: 0 written, 1 failed, 2 wrong usage, 130 cancelled."
)]
pub struct SetupArgs {
    /// Vendor, kind of service, or `offline`
    #[arg(long, value_name = "NAME")]
    pub provider: Option<String>,
    /// Model as the service calls it
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// URL of the service, if it is not the vendor's default
    #[arg(long, value_name = "URL")]
    pub base_url: Option<String>,
    /// Read the key from this environment variable at every use
    #[arg(long, value_name = "VAR", group = "key")]
    pub api_key_env: Option<String>,
    /// Read the key from standard input and store it
    #[arg(long, group = "key")]
    pub key_stdin: bool,
    /// Read the key from the first line that CMD prints, at every use
    #[arg(long, value_name = "CMD", group = "key")]
    pub key_command: Option<String>,
    /// Write this profile instead of the main one
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,
    /// Write without a test request
    #[arg(long)]
    pub no_test: bool,
    /// Ask nothing; fail if a needed flag is missing
    #[arg(long, short)]
    pub yes: bool,
    /// Ask nothing; print the written settings as one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Runs it.
pub fn run(args: &SetupArgs, paths: &Paths, output: &mut dyn Write, errors: &mut dyn Write) -> ExitCode {
    let error = match set_up(args.clone(), paths, output) {
        Ok(()) => return ExitCode::SUCCESS,
        Err(error) => error,
    };
    let status = match &error {
        SetupError::Cancelled => {
            // The answers so far stay above it.
            let _ = writeln!(errors, "Nothing was changed.");
            return ExitCode::from(CANCELLED);
        }
        SetupError::Missing(_) | SetupError::Usage(..) => ExitCode::from(USAGE),
        _ => ExitCode::FAILURE,
    };
    // Nothing more can be done if even the errors cannot be written.
    drop(complain(errors, &error.to_string(), error.hint().as_deref()));
    status
}

fn set_up(args: SetupArgs, paths: &Paths, output: &mut dyn Write) -> Result<(), SetupError> {
    let terminal =
        if args.yes || args.json || args.key_stdin { None } else { Terminal::open().map_err(SetupError::Terminal)? };
    let as_json = args.json;
    let setup = Setup {
        paths: paths.clone(),
        stores: KeyStores::new(&paths.config_dir),
        variables: super::ModelFlags::default().variables(),
        given: given(args)?,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(SetupError::Terminal)?;
    if let Some(terminal) = terminal {
        let mut prompt = prompt_at(terminal);
        return runtime.block_on(cohab_setup::interactive(&setup, prompt.as_mut())).map(drop);
    }
    let done = runtime.block_on(cohab_setup::scripted(&setup))?;
    let written = if as_json { tell_as_json(&done, output) } else { tell(&done, output) };
    written.map_err(SetupError::Terminal)
}

fn given(args: SetupArgs) -> Result<Given, SetupError> {
    let key = match (args.api_key_env, args.key_command, args.key_stdin) {
        (Some(name), ..) => Some(GivenKey::Variable(name)),
        (None, Some(line), _) => Some(GivenKey::Command(line)),
        (None, None, true) => Some(GivenKey::Secret(key_from_stdin()?)),
        (None, None, false) => None,
    };
    let is_name = |name: &String| name == cohab_config::profile::DEFAULT || cohab_config::profile::is_name(name);
    if let Some(name) = args.profile.as_ref().filter(|name| !is_name(name)) {
        let hint = "a profile's name is up to 40 letters, digits, `-` and `_`";
        return Err(SetupError::Usage(format!("{name:?} is not a valid profile name"), hint.into()));
    }
    Ok(Given {
        provider: args.provider,
        base_url: args.base_url,
        model: args.model,
        key,
        profile: args.profile,
        is_untested: args.no_test,
    })
}

fn key_from_stdin() -> Result<SecretString, SetupError> {
    let usage = |what: &str| {
        SetupError::Usage(what.to_owned(), "pipe it in: `cohab setup --provider NAME --key-stdin < FILE`".into())
    };
    if io::stdin().is_terminal() {
        return Err(usage("--key-stdin reads a pipe or a file, not the terminal"));
    }
    let mut text = String::new();
    let read = io::stdin().lock().take(KEY_MAX_BYTES).read_to_string(&mut text);
    read.map_err(|_| usage("the key cannot be read from standard input"))?;
    let key = text.trim();
    if key.is_empty() || key.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Err(usage("standard input has no key; it must be one line without blanks"));
    }
    Ok(key.to_owned().into())
}

/// A live area, or plain lines on a limited terminal or at the user's request.
fn prompt_at(terminal: Terminal) -> Box<dyn Prompt> {
    if cohab_prompt::can_draw() {
        Box::new(Screen::new(terminal, cohab_prompt::is_colored()))
    } else {
        Box::new(Plain::new(terminal))
    }
}

fn tell(done: &cohab_setup::Done, output: &mut dyn Write) -> io::Result<()> {
    if let Some((took_ms, text)) = &done.test {
        writeln!(output, "Test: answered in {took_ms} ms: {text}")?;
    }
    let saved = &done.saved;
    if let Some((_, place)) = &saved.key {
        writeln!(output, "Key: stored in {place}")?;
    }
    if let Some(notice) = &saved.notice {
        writeln!(output, "Note: {notice}")?;
    }
    writeln!(output, "Written to {}:\n[{}]", saved.file.display(), saved.table)?;
    saved.settings.iter().try_for_each(|(name, value)| writeln!(output, "{name} = {value}"))?;
    output.flush()
}

fn tell_as_json(done: &cohab_setup::Done, output: &mut dyn Write) -> io::Result<()> {
    let saved = &done.saved;
    let value = |name: &str| {
        let found = saved.settings.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.trim_matches(['"', '\'']).to_owned())
    };
    let store = saved.key.as_ref().map(|(store, _)| match store {
        KeyStore::Keyring => "keyring",
        KeyStore::File => "file",
    });
    let test = done.test.as_ref().map(|(took_ms, text)| json!({"took_ms": u64::try_from(*took_ms).ok(), "text": text}));
    let object = json!({
        "file": saved.file, "table": saved.table, "provider": value("provider"), "base_url": value("base_url"),
        "model": value("name"), "api_key_env": value("api_key_env"), "key_command": value("key_command"),
        "key_store": store, "notice": saved.notice, "test": test,
    });
    writeln!(output, "{}", cohab_text::sanitize::escaped_json(&object.to_string()))?;
    output.flush()
}
