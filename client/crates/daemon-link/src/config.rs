//! The client's own settings: the `[client]` table of `config.toml`. The daemon owns the file and checks it strictly
//! (`cohab config check`); the client reads its table leniently, since a mistake in the file must never cost the shell.

use std::{collections::BTreeMap, path::Path};

use cohab_types::{client_settings::ClientSettings, confined_programs::ConfinedPrograms};
use serde::Deserialize;

/// Settings files larger than this are not read.
const CONFIG_MAX_BYTES: u64 = 1024 * 1024;

#[derive(Default, Deserialize)]
#[serde(default)]
struct File {
    client: ClientSettings,
    approval: Approval,
    sandbox: Sandbox,
    memory: Memory,
    model: Model,
    profiles: BTreeMap<String, Model>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Memory {
    enabled: Option<bool>,
    shell_history: bool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Model {
    provider: Option<String>,
    base_url: Option<String>,
    name: Option<String>,
    api_key_env: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Sandbox {
    profile: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Approval {
    mode: Option<String>,
    confined: Option<String>,
}

/// What the file says about the model, as far as the client shows it before the daemon has answered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ChosenModel {
    /// Nothing.
    #[default]
    None,
    /// A service without the name of a model, or one of several profiles.
    Unnamed,
    /// `model.name`.
    Named(String),
}

/// What the client takes from the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// The `[client]` table.
    pub client: ClientSettings,
    /// `approval.mode`, as written.
    pub approval_mode: Option<String>,
    /// `approval.confined`; a word that means nothing is the default.
    pub confined: ConfinedPrograms,
    /// `sandbox.profile`, as written.
    pub sandbox_profile: Option<String>,
    /// The model that the file chooses.
    pub model: ChosenModel,
    /// Variables that hold keys by the file.
    pub key_variables: Vec<String>,
    /// Names of the profiles.
    pub profiles: Vec<String>,
    /// Whether the user's commands are kept: `memory.shell_history`, unless memory is off.
    pub keeps_commands: bool,
    /// Why the file was not used, if it was not.
    pub complaint: Option<String>,
}

/// Reads the file. A missing one gives the defaults; a broken one too, with a complaint.
#[must_use]
pub fn load(path: &Path) -> Config {
    let broken = |complaint: String| Config { complaint: Some(complaint), ..Config::default() };
    match std::fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Config::default(),
        Ok(metadata) if metadata.is_file() && metadata.len() <= CONFIG_MAX_BYTES => {}
        Ok(_) => return broken(format!("{} is no readable settings file", path.display())),
        Err(error) => return broken(format!("{}: {error}", path.display())),
    }
    match std::fs::read_to_string(path) {
        Ok(text) => parse(&text).unwrap_or_else(|_| {
            broken(format!("{} has a mistake and was not used; `cohab config check` shows it", path.display()))
        }),
        Err(error) => broken(format!("{}: {error}", path.display())),
    }
}

fn parse(text: &str) -> Result<Config, toml::de::Error> {
    let file: File = toml::from_str(text)?;
    let profiles: Vec<String> = file.profiles.keys().cloned().collect();
    let model = match &file.model {
        Model { name: Some(name), .. } => ChosenModel::Named(name.clone()),
        Model { provider: None, base_url: None, api_key_env: None, .. } if profiles.is_empty() => ChosenModel::None,
        _ => ChosenModel::Unnamed,
    };
    let models = file.profiles.into_values().chain([file.model]);
    Ok(Config {
        client: file.client,
        approval_mode: file.approval.mode,
        confined: file.approval.confined.and_then(|word| word.parse().ok()).unwrap_or_default(),
        sandbox_profile: file.sandbox.profile,
        keeps_commands: file.memory.shell_history && file.memory.enabled.unwrap_or(true),
        model,
        key_variables: models.filter_map(|model| model.api_key_env).collect(),
        profiles,
        complaint: None,
    })
}

#[cfg(test)]
mod tests {
    use cohab_types::client_settings::{FlipKey, Hotkey, Reasoning, Theme, UndoKey};

    use super::*;

    #[test]
    fn other_tables_do_not_matter() {
        let config =
            parse("[model]\nname = \"x\"\n[client]\nhotkey = \"ctrl-space\"\n[approval]\nmode = \"all\"\n").unwrap();
        assert_eq!(config.client.hotkey, Hotkey::CtrlSpace);
        assert_eq!(config.client.question_prefix, "?");
        assert_eq!(config.approval_mode.as_deref(), Some("all"));
    }

    #[test]
    fn each_key_that_the_check_allows_is_read() {
        for (name, words) in [
            ("hotkey", Hotkey::WORDS),
            ("undo_key", UndoKey::WORDS),
            ("flip_key", FlipKey::WORDS),
            ("reasoning", Reasoning::WORDS),
            ("theme", Theme::WORDS),
        ] {
            for word in words {
                assert!(parse(&format!("[client]\n{name} = \"{word}\"\n")).is_ok(), "{name} = {word}");
            }
        }
        assert!(parse("[client]\nhotkey = \"alt-space\"\n").is_err());
    }

    #[test]
    fn variables_with_keys_have_any_name() {
        let config = parse("[model]\napi_key_env = \"MINE\"\n[profiles.work]\napi_key_env = \"WORK\"\n").unwrap();
        assert_eq!(config.key_variables, ["WORK", "MINE"]);
        assert_eq!(config.profiles, ["work"]);
    }

    #[test]
    fn the_key_for_undo_is_only_itself() {
        let key = parse("[client]\nundo_key = \"ctrl-underscore\"\n").unwrap().client.undo_key;
        assert_eq!(key, UndoKey::default());
        assert!(key.is(b"\x1f") && key.is(b"\x1b[95;5u") && !key.is(b"\x1f\x1f") && !key.is(b"a") && !key.is(b""));
        let none = parse("[client]\nundo_key = \"none\"\n").unwrap().client.undo_key;
        assert!(!none.is(b"\x1f"));
    }

    #[test]
    fn a_missing_file_gives_the_defaults_without_a_word() {
        assert_eq!(load(Path::new("/nonexistent/config.toml")), Config::default());
    }

    #[test]
    fn a_broken_file_gives_the_defaults_and_a_complaint() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.toml");
        std::fs::write(&path, "[client\n").unwrap();
        let config = load(&path);
        assert_eq!(config.client, ClientSettings::default());
        assert!(config.complaint.unwrap().contains("cohab config check"));
    }
}
